"""What a run will probably cost, phase by phase, from the real lengths of transcripts and notes.

A few consultations are judged in rehearsal: the design's own code writes its prompts, the simulated
judge answers them, and what would have been sent is measured. Not a bound: the caps and the held
confirmation are bounds. The assumptions are told beside the figures.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heldout.experiments.campaigns.examination import Checked
from heldout.experiments.campaigns.parts import build_student, minibatch_of
from heldout.gepa.settings import ConfirmSettings, freezes_again
from heldout.gepa.statistics.intervals.run_to_run import FEWEST_RUNS
from heldout.splits.benchmark import Benchmark, Consultation
from heldout.students.calls.call import CallSpec
from heldout.students.models.chat import Budget, ChatReply, ChatRequest, ModelPin, cost_usd
from heldout.students.simulated import JUDGE_ID, SimulatedJudge

CHARACTERS_A_TOKEN = 4
REHEARSED = 3
"""Consultations of each split that are judged in rehearsal."""
ENTERED = 0.4
"""Share of proposals that are scored on accept; simulated searches let in 30 to 45%."""
REWRITE = 600
"""Tokens of a rewritten block."""


@dataclass(frozen=True, slots=True)
class Size:
    """Calls and tokens; sizes add up and can be scaled."""

    calls: float = 0.0
    prompt: float = 0.0
    completion: float = 0.0

    def __add__(self, other: Size) -> Size:
        return Size(
            self.calls + other.calls,
            self.prompt + other.prompt,
            self.completion + other.completion,
        )

    def __mul__(self, factor: float) -> Size:
        return Size(self.calls * factor, self.prompt * factor, self.completion * factor)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a phase asks of one model."""

    pin: ModelPin
    size: Size

    @property
    def usd(self) -> float | None:
        """Its price, None where that is unknown."""
        return cost_usd(self.pin, round(self.size.prompt), round(self.size.completion))


@dataclass(frozen=True, slots=True)
class Answered:
    """A call of the rehearsal."""

    key: str
    reply: ChatReply


@dataclass
class Rehearsal:
    """Answers a student's calls from the simulated judge and keeps what would be sent."""

    specs: dict[str, CallSpec] = field(default_factory=dict)
    replies: dict[str, ChatReply] = field(default_factory=dict)

    async def call(self, spec: CallSpec) -> Answered:
        """The simulated reply; a call is kept once, as it would be bought once."""
        if spec.key not in self.replies:
            pin, budget = ModelPin(JUDGE_ID, 0.0), Budget(spec.budget.max_tokens)
            request = ChatRequest(pin, spec.messages, budget, spec.seed)
            self.specs[spec.key] = spec
            self.replies[spec.key] = SimulatedJudge().answer(request)
        return Answered(spec.key, self.replies[spec.key])

    def size(self, keys: Iterable[str]) -> Size:
        """What these calls come to."""
        total = Size()
        for key in keys:
            spec = self.specs[key]
            prompt = sum(len(m.content) for m in spec.messages) / CHARACTERS_A_TOKEN
            total += Size(1, prompt, _written(spec.budget, self.replies[key]))
        return total


@dataclass(frozen=True, slots=True)
class Judging:
    """What one judging of a note costs, and what is asked once a consultation beside it."""

    note: Size
    consultation: Size


def rehearse(checked: Checked, consultations: Sequence[Consultation]) -> Judging:
    """Judge a few consultations under the baseline block, without any model."""
    rehearsal = Rehearsal()
    student = build_student(checked.config, checked.student.pin, rehearsal)
    block = next(s.text for s in checked.config.seeds if s.name == checked.config.baseline_name)
    budget = checked.config.student.budget
    notes = [note for c in consultations[:REHEARSED] for note in c.notes]

    async def judge_all() -> None:
        for note in notes:
            asked = Budget(budget.max_tokens, budget.reasoning_effort)
            await student.judge(block, note, asked, 0)

    asyncio.run(judge_all())
    ids = {note.id for note in notes}
    own = [key for key, spec in rehearsal.specs.items() if spec.item in ids]
    shared = [key for key in rehearsal.specs if key not in set(own)]
    used = len(consultations[:REHEARSED])
    return Judging(rehearsal.size(own) * (1 / len(notes)), rehearsal.size(shared) * (1 / used))


def estimate(checked: Checked, benchmark: Benchmark) -> dict[str, Any]:
    """Calls, tokens and USD of every phase, their sum, and what was assumed.

    `more_for_replicates` is what `FEWEST_RUNS` replicates would cost beyond those of the
    configuration, None where it has as many.
    """
    splits = {
        name: [benchmark.by_id[id_] for id_ in ids]
        for name, ids in checked.partition.splits.items()
    }
    cost = {name: rehearse(checked, consultations) for name, consultations in splits.items()}
    confirm = checked.config.confirm
    phases = _phases(checked, splits, cost, confirm)
    more = None
    if confirm.replicates < FEWEST_RUNS:
        repeated = _phases(checked, splits, cost, replace(confirm, replicates=FEWEST_RUNS))
        more = _difference(_whole(repeated), _whole(phases))
    return {
        "phases": {name: _told(asked) for name, asked in phases.items()},
        "total": _whole(phases),
        "more_for_replicates": more,
        "assumes": _assumptions(checked),
    }


def estimate_text(found: Mapping[str, Any]) -> list[str]:
    """The estimate for a person."""
    lines = ["probable cost by phase:"]
    for name, values in [*found["phases"].items(), ("total", found["total"])]:
        usd = "price unknown" if values["usd"] is None else f"USD {values['usd']:.2f}"
        lines.append(f"  {name:<9}{values['calls']:>8} calls{values['tokens']:>12} tokens  {usd}")
    return [*lines, f"  ({found['assumes']})"]


def _whole(phases: Mapping[str, Sequence[Asked]]) -> dict[str, Any]:
    return _told([question for asked in phases.values() for question in asked])


def _difference(more: Mapping[str, Any], less: Mapping[str, Any]) -> dict[str, Any]:
    return {k: None if v is None else round(v - less[k], 4) for k, v in more.items()}


def _phases(
    checked: Checked,
    splits: Mapping[str, Sequence[Consultation]],
    cost: Mapping[str, Judging],
    confirm: ConfirmSettings,
) -> dict[str, list[Asked]]:
    config, search = checked.config, checked.config.search
    count = {name: sum(len(c.notes) for c in found) for name, found in splits.items()}
    batch = minibatch_of(config).largest
    looks = count["heldout"] * confirm.samples * confirm.replicates
    again = 2 * count["accept"] * confirm.samples * confirm.replicates
    freezing = cost["accept"].note * (again if freezes_again(search, confirm) else 0)
    once = {name: cost[name].consultation * len(found) for name, found in splits.items()}
    rounds = search.iterations * search.samples
    searched = (
        cost["reflect"].note * (rounds * 2 * batch)
        + cost["accept"].note * (rounds * ENTERED * count["accept"])
        + once["reflect"]
    )
    seeds = cost["accept"].note * (len(config.seeds) * count["accept"] * search.samples)
    pin = checked.student.pin
    return {
        "baseline": [Asked(pin, cost["heldout"].note * looks + once["heldout"])],
        "seeds": [Asked(pin, seeds + once["accept"])],
        "search": [Asked(pin, _limited(searched, checked)), _reflections(checked)],
        "confirm": [Asked(pin, cost["heldout"].note * (2 * looks) + freezing)],
    }


def _limited(size: Size, checked: Checked) -> Size:
    """`size` cut at `search.max_judgements`, which ends the search earlier."""
    limit = checked.config.search.max_judgements
    return size if limit is None or size.calls <= limit else size * (limit / size.calls)


def _reflections(checked: Checked) -> Asked:
    section = checked.config.reflector
    budget = Budget(section.budget.max_tokens, section.budget.reasoning_effort)
    written = budget.max_tokens / 4 if _reasons(budget) else min(REWRITE, budget.max_tokens)
    one = Size(1, section.payload_tokens / 2 + 1000, written)
    return Asked(checked.reflector.pin, one * checked.config.search.iterations)


def _written(budget: Budget, reply: ChatReply) -> float:
    if _reasons(budget):
        return budget.max_tokens / 2
    return min(budget.max_tokens, len(reply.text) / CHARACTERS_A_TOKEN)


def _reasons(budget: Budget) -> bool:
    return budget.reasoning_effort not in (None, "none")


def _told(asked: Sequence[Asked]) -> dict[str, Any]:
    total = sum((question.size for question in asked), Size())
    prices = [question.usd for question in asked]
    known = [price for price in prices if price is not None]
    return {
        "calls": round(total.calls),
        "tokens": round(total.prompt + total.completion),
        "usd": round(sum(known), 4) if len(known) == len(prices) else None,
    }


def _assumptions(checked: Checked) -> str:
    budget = checked.config.student.budget
    reasons = _reasons(Budget(budget.max_tokens, budget.reasoning_effort))
    reply = "replies of half the cap" if reasons else "replies as long as the simulated judge's"
    return (
        f"assumes {CHARACTERS_A_TOKEN} characters a token, {reply}, {ENTERED:.0%} of the "
        "proposals entering, no retries, no discount for cached prompts"
    )
