"""The per-fact checker: is each fact of the transcript recorded in the note?

An absence is only believed if nobody can quote the note against it: that is the second look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heldout.splits.benchmark import Note
from heldout.students.calls.call import Stage
from heldout.students.calls.completion import CompletionClient, ReadReply, RequestBuilder, ask_keyed
from heldout.students.designs.capture import PRESENT_OR_ABSENT, CaptureScale, PerFactRule, findings
from heldout.students.designs.facts import Fact, FactSheet, FactSource, lines, squeezed
from heldout.students.fact_contracts import KeyedContract
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Judgement, Outcome

QUOTES = KeyedContract("quotes", None)
SHORTEST_QUOTE = 8
"""Characters, after normalising case and space; less could be found in any note."""


@dataclass(frozen=True, slots=True)
class Overturned:
    """What a second look found: absences that fell, and quotes that are not the note's words."""

    ids: tuple[str, ...] = ()
    refused: int = 0


@dataclass(frozen=True)
class SecondLook:
    """Asks for the note's own words on each absent fact; sees the note and these facts only."""

    frame: Frame
    requests: RequestBuilder

    async def at(
        self, note: Note, absent: Sequence[Fact], budget: Budget, sample: int
    ) -> ReadReply[Overturned]:
        """Which of `absent` the note states after all; no call without absences."""
        if not absent:
            return ReadReply(Overturned(), Outcome.OK, ())
        prompt = self.frame.render({"facts": lines(absent), "note": note.text})
        spec = self.requests.spec(Stage.SECOND_LOOK, note, prompt, budget, sample)
        asked = tuple(fact.id for fact in absent)
        read = await ask_keyed(self.requests.caller, spec, QUOTES, asked, self.requests.run_seed)
        value = None if read.value is None else verified(read.value, note.text)
        return ReadReply(value, read.outcome, read.calls, read.detail)


def verified(quotes: Mapping[str, str], note: str) -> Overturned:
    """The ids whose quote stands in `note`; a quote that does not is counted and ignored."""
    text = squeezed(note)
    given = {key: squeezed(quote) for key, quote in quotes.items() if quote}
    found = tuple(k for k, quote in given.items() if len(quote) >= SHORTEST_QUOTE and quote in text)
    return Overturned(found, len(given) - len(found))


@dataclass(frozen=True)
class PerFactChecker:
    """Facts once a consultation, one keyed check a note (the study's two and three stages).

    Only the check paragraph evolves; `source` makes the facts and does not move with it. The score
    is the share captured on `scale`, in [0, 1]. `second_look` asks once more about absences, `rule`
    flags (None: the design has no rule of its own). `occasion` buys the note's calls afresh.
    """

    frame: Frame
    pin: ModelPin
    caller: CompletionClient
    run_seed: int
    source: FactSource
    scale: CaptureScale = PRESENT_OR_ABSENT
    second_look: SecondLook | None = None
    rule: PerFactRule | None = None
    occasion: str = ""
    design: str = "per_fact_checker"

    @property
    def score_range(self) -> tuple[float, float]:
        """A share."""
        return (0.0, 1.0)

    @property
    def calls_per_judgement(self) -> int:
        """The facts, the check and the second look, each question with one retry."""
        return self.source.calls_per_consultation + (2 if self.second_look is None else 4)

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note`; raises NoteLeaked if a transcript-only stage would have seen a note."""
        sheet = await self.source.sheet(note)
        if sheet.value is None:
            return sheet.failed(self.frame)
        checked = await self._check(block, note, sheet.value, budget, sample)
        calls = sheet.calls + checked.calls
        if checked.value is None:
            return replace(checked, calls=calls).failed(self.frame, sheet.value.digest)
        look = await self._look_again(note, sheet.value, checked.value, budget, sample)
        calls += look.calls
        if look.value is None:
            return replace(look, calls=calls).failed(self.frame, sheet.value.digest)
        return self._judgement(sheet.value, checked.value, look.value, calls)

    async def _check(
        self, block: str, note: Note, sheet: FactSheet, budget: Budget, sample: int
    ) -> ReadReply[Mapping[str, str]]:
        """A verdict on every fact."""
        prompt = self.frame.render({"facts": sheet.lines, "note": note.text, "block": block})
        requests = RequestBuilder(self.pin, self.caller, self.run_seed, self.occasion)
        spec = requests.spec(Stage.CHECK, note, prompt, budget, sample)
        contract = KeyedContract("verdicts", self.scale.words)
        read = await ask_keyed(self.caller, spec, contract, sheet.ids, self.run_seed)
        if read.value is None:
            return read
        meant = {key: self.scale.meaning[word] for key, word in read.value.items()}
        return ReadReply(meant, read.outcome, read.calls)

    async def _look_again(
        self,
        note: Note,
        sheet: FactSheet,
        verdicts: Mapping[str, str],
        budget: Budget,
        sample: int,
    ) -> ReadReply[Overturned]:
        """What the second look finds, nothing where the design has none."""
        if self.second_look is None:
            return ReadReply(Overturned(), Outcome.OK, ())
        absent = self.scale.absent(sheet, verdicts)
        return await self.second_look.at(note, absent, budget, sample)

    def _judgement(
        self,
        sheet: FactSheet,
        checked: Mapping[str, str],
        look: Overturned,
        calls: tuple[str, ...],
    ) -> Judgement:
        # Words that a first look missed and a second found are no more than a partial record.
        verdicts = {**checked, **dict.fromkeys(look.ids, "partial")}
        absent = self.scale.absent(sheet, verdicts)
        counts = Counter(verdicts.values())
        return Judgement(
            score=self.scale.share(sheet, verdicts, weighted=True),
            outcome=Outcome.OK,
            calls=calls,
            assessment=_in_words(counts, len(sheet.facts)),
            flag=None if self.rule is None else self.rule.flags(absent),
            verdicts=verdicts,
            facts=sheet.texts,
            facts_digest=sheet.digest,
            findings=findings(absent),
            frame_sha256=self.frame.sha256,
            figures={
                "unweighted": self.scale.share(sheet, verdicts, weighted=False),
                "absent": len(absent),
                "absent_critical": sum(fact.severity == "critical" for fact in absent),
                "partial": counts["partial"],
                "overturned": len(look.ids),
                "quotes_refused": look.refused,
            },
        )


def _in_words(counts: Counter[str], facts: int) -> str:
    """Counts of verdicts: `2 of 30 facts absent, 1 partial`."""
    others = [f"{counts[word]} {word}" for word in ("partial", "misplaced") if counts[word]]
    return ", ".join([f"{counts['absent']} of {facts} facts absent", *others])
