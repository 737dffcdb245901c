"""How a simulated judge spends its budget: which facts and statements it gets to, what it sees."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from heldout.splits.randomness import uniform
from heldout.students.models.chat import Budget, ChatRequest
from heldout.students.simulated.effects import EFFECTS, Effects, Scale
from heldout.students.simulated.matching import FactComparison, Sight, Support
from heldout.students.simulated.reading import ReadFact
from heldout.students.simulated.skills import Skill, read_block

ATTRIBUTES = (Skill.VALUES, Skill.PARAPHRASE, Skill.PARTIAL, Skill.PLACEMENT, Skill.POLARITY)
"""Skills that make the check of a fact dearer."""


@dataclass(frozen=True)
class Mind:
    """What one call makes of its block: skills, how far they reach, what the budget allows."""

    skills: frozenset[Skill]
    words: int
    budget: Budget
    temperature: float
    seed: int
    scale: Scale
    effects: Effects = EFFECTS

    @classmethod
    def of(cls, request: ChatRequest, block: str) -> Mind:
        """The mind that `block` makes under the request's budget, temperature and parameters."""
        scale = Scale.of(request.pin.parameters)
        return cls(
            skills=read_block(block) if scale.factor else frozenset(),
            words=len(block.split()),
            budget=request.budget,
            temperature=request.pin.temperature,
            seed=request.seed,
            scale=scale,
        )

    @cached_property
    def reach(self) -> dict[Skill, float]:
        """Share of facts that each skill asked for takes hold of, 1 at most."""
        table = self.effects
        lost = max(0.0, (self.words - table.dilution_from) * table.dilution_per_word)
        kept = 1.0 - min(table.most_dilution, lost)
        return {s: min(1.0, table.reach[s] * self.scale.factor) * kept for s in self.skills}

    @property
    def room(self) -> float:
        """Tokens for working, in prices of no effort."""
        factor = self.effects.effort.get(self.budget.reasoning_effort or "none", 1.0)
        return max(0.0, self.budget.max_tokens - self.effects.prices.base) / factor

    def holds(self, skill: Skill, key: str) -> bool:
        """True if `skill` is asked for and takes hold of what `key` names."""
        reach = self.reach.get(skill, 0.0)
        return reach >= 1.0 or (reach > 0.0 and chance(skill, key) < reach)

    def lapses(self, note: str, what: str) -> bool:
        """True if attention slips at one fact or statement; never at temperature 0."""
        rate = self.effects.lapse * self.temperature
        return rate > 0 and uniform("lapse", note, self.seed, what) < rate

    @property
    def check_price(self) -> float:
        """Tokens to look up one listed fact."""
        prices = self.effects.prices
        attributes = sum(1 for skill in ATTRIBUTES if skill in self.skills)
        return (prices.checking + prices.attribute * attributes) * self.scale.price


@lru_cache(maxsize=262144)
def chance(what: str, key: str) -> float:
    """A draw in [0, 1) that a note and its twin share."""
    return uniform("reach", what, key)


@dataclass(frozen=True, slots=True)
class CheckedFact:
    """One fact looked up: credit from 0 (lost or wrong) to 1 (held), and what is wrong with it."""

    fact: ReadFact
    credit: float
    remark: str


@dataclass(frozen=True, slots=True)
class Worked:
    """What a whole-note judge has in hand when it comes to its score.

    `facts`: those it looked up; `listed`: how many it wrote down first; `salient`: what it missed
    without a list; `findings`: statements it objects to. `tokens` is what the working cost.
    """

    facts: tuple[CheckedFact, ...]
    listed: int
    salient: tuple[ReadFact, ...]
    findings: tuple[Support, ...]
    tokens: float


def work(mind: Mind, seen: FactComparison, *, given: bool = False) -> Worked:
    """Work through `seen` as far as the budget goes; `given`: the prompt lists the facts."""
    if not any(mind.holds(Skill.INVENTORY, _key(seen, fact)) for fact in seen.transcript.facts):
        findings, spent = objections(mind, seen, mind.room)
        browsed = _browse(mind, seen) if given else ()
        return Worked(browsed, 0, _salient(mind, seen), findings, spent)
    glance = mind.room * mind.effects.glance_share
    if Skill.UNSUPPORTED in mind.skills:
        whole = len(seen.support) * mind.effects.prices.statement
        glance = min(mind.room, max(glance, whole))
    findings, spent = objections(mind, seen, glance)
    facts, listed, cost = _inventory(mind, seen, mind.room - glance, given=given)
    salient = () if facts else _salient(mind, seen)
    return Worked(facts, listed, salient, findings, spent + cost)


def _key(seen: FactComparison, fact: ReadFact) -> str:
    return f"{seen.transcript.digest}/{fact.key[0]}/{fact.key[1]}"


def _browse(mind: Mind, seen: FactComparison) -> tuple[CheckedFact, ...]:
    """The few facts of a given list that are looked up by a judge not asked to go through it."""
    return tuple(
        check_fact(mind, fact, sights, _key(seen, fact), seen.note.digest)
        for fact, sights in list(zip(seen.transcript.facts, seen.sights, strict=True))[
            : mind.effects.browsed_facts
        ]
    )


def _inventory(
    mind: Mind, seen: FactComparison, room: float, *, given: bool
) -> tuple[tuple[CheckedFact, ...], int, float]:
    """List first, check afterwards; a list that fills the room leaves nothing checked."""
    listing = 0.0 if given else mind.effects.prices.listing * mind.scale.price
    wanted = [
        (fact, sights)
        for fact, sights in zip(seen.transcript.facts, seen.sights, strict=True)
        if mind.holds(Skill.INVENTORY, _key(seen, fact))
    ]
    listed = min(len(wanted), int(room / listing)) if listing else len(wanted)
    left = room - listed * listing
    affordable = int(left / mind.check_price) if listed == len(wanted) else 0
    checked = tuple(
        check_fact(mind, fact, sights, _key(seen, fact), seen.note.digest)
        for fact, sights in wanted[:affordable]
    )
    return checked, listed, listed * listing + len(checked) * mind.check_price


def check_fact(
    mind: Mind, fact: ReadFact, sights: tuple[Sight, ...], key: str, note: str
) -> CheckedFact:
    """The credit that `fact` gets for what the note holds of it."""
    credit, remark = _credit(mind, sights, key)
    if mind.lapses(note, key):
        credit, remark = (0.0, "not found") if credit > 0.5 else (1.0, "recorded")
    return CheckedFact(fact, credit, remark)


def _credit(mind: Mind, sights: tuple[Sight, ...], key: str) -> tuple[float, str]:
    tolerant = mind.holds(Skill.PARAPHRASE, key) or (
        chance("unasked tolerance", key) < mind.effects.unasked_tolerance
    )
    usable = [sight for sight in sights if sight.literal or tolerant]
    if not usable:
        return 0.0, "not found"
    if any(s.altered for s in usable) and mind.holds(Skill.VALUES, key):
        return 0.0, "recorded with another value"
    if any(s.reversed for s in usable) and mind.holds(Skill.POLARITY, key):
        return 0.0, "recorded the other way round"
    strict, placing = mind.holds(Skill.PARTIAL, key), mind.holds(Skill.PLACEMENT, key)
    table = mind.effects
    best = 0.0
    for sight in usable:
        credit = 1.0
        if strict and sight.missing:
            credit -= (1 - table.fragment_credit) * (1 + sight.missing) / 2
        if placing and not sight.placed:
            credit *= table.elsewhere_credit
        best = max(best, credit)
    if best == 1.0:
        return best, "recorded"
    return best, "recorded in part or in another place"


def objections(mind: Mind, seen: FactComparison, room: float) -> tuple[tuple[Support, ...], float]:
    """Statements of the note that the judge objects to, as far as `room` goes."""
    price = mind.effects.prices.statement
    reached = min(len(seen.support), int(room / price))
    found = []
    for place, support in enumerate(seen.support[:reached]):
        objects = _objects(mind, support, f"{seen.transcript.digest}/{support.text}")
        if objects != mind.lapses(seen.note.digest, f"statement {place}"):
            found.append(support)
    return tuple(found), reached * price


def _objects(mind: Mind, support: Support, key: str) -> bool:
    if support.doubtful and mind.holds(Skill.UNSUPPORTED, key):
        return True
    if support.alien and chance("unasked notice", key) < mind.effects.notice:
        return True
    if support.contrary and (
        support.times >= mind.effects.mentions_to_contradict or mind.holds(Skill.POLARITY, key)
    ):
        return True
    return support.altered and mind.holds(Skill.VALUES, key)


def _salient(mind: Mind, seen: FactComparison) -> tuple[ReadFact, ...]:
    """What nobody could overlook: the facts spoken of most that the note lacks."""
    often = sorted(
        (
            (-fact.mentions, place)
            for place, fact in enumerate(seen.transcript.facts)
            if fact.mentions >= mind.effects.salient_mentions
        )
    )[: mind.effects.salient_facts]
    facts = seen.transcript.facts
    return tuple(facts[place] for _, place in often if not seen.sights[place])


def points(mind: Mind, worked: Worked, key: str) -> float:
    """The score from 0 to 10, in the steps that the block asks for; `key` names the transcript."""
    table = mind.effects
    lost = sum(1.0 - checked.credit for checked in worked.facts)
    asked = Skill.UNSUPPORTED in mind.skills
    most = table.most_findings_asked if asked else table.most_findings
    value = 10.0 - table.finding_points * min(len(worked.findings), most)
    value -= table.salient_points * len(worked.salient)
    if worked.facts:
        value -= table.coverage_points * lost / len(worked.facts)
    step = table.fine_step if mind.holds(Skill.FINE_SCORE, key) else table.step
    return round(max(0.0, round(value / step) * step), 1)
