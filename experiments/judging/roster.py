"""Judging a set of notes with any design: what `heldout judge` measures.

A figure is always about one named set of notes; results on different sets never share a table.
Held-out notes do not come here: they are judged as looks through the vault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from statistics import fmean
from typing import Any, Protocol

from heldout.experiments.judging.costs import CallCosts, NoteCosts, note_costs
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures, measures
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.facts import NAMING_LEVELS, names_the_fact
from heldout.gepa.statistics.selection import Selection
from heldout.gepa.statistics.slices import Axis, Slice, slices
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import CleanMeans, Note, NoteLabel
from heldout.splits.errors import BadInput, Unanswered
from heldout.splits.hashing import sha256_json, sha256_text
from heldout.students.calls.completion import CompletionClient
from heldout.students.calls.session import all_answers
from heldout.students.designs.context import FACTS_BUDGET, DesignContext, Roles
from heldout.students.designs.roster import Design
from heldout.students.models.chat import Budget
from heldout.students.student import Judgement, Outcome, unanswered


class Ledgered(CompletionClient, Protocol):
    """A caller whose calls can be priced afterwards."""

    @property
    def store(self) -> CallCosts:
        """Where the calls are."""


@dataclass(frozen=True, slots=True)
class NoteSetSizes:
    """Notes of a set by kind, and the consultations they are of."""

    omissions: int
    commissions: int
    clean: int
    consultations: int


@dataclass(frozen=True)
class NoteSet:
    """A named set of notes; `clean_means` decides how flags on clean notes are worded.

    `notices` say how a file was read that is not plain, and what was left out.
    """

    name: str
    notes: tuple[Note, ...]
    clean_means: CleanMeans
    notices: tuple[str, ...] = ()
    consultations: frozenset[str] = frozenset()
    """Their digests, as a registry of looks knows them."""

    @cached_property
    def labels(self) -> tuple[NoteLabel, ...]:
        """Labels in the order of notes."""
        return tuple(note.label for note in self.notes)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the ids of the notes."""
        return sha256_json(sorted(note.id for note in self.notes))

    @property
    def sizes(self) -> NoteSetSizes:
        """How many there are of each kind."""
        classes = [label.note_class for label in self.labels]
        return NoteSetSizes(
            omissions=sum(c.is_omission for c in classes),
            commissions=sum(c.is_commission for c in classes),
            clean=sum(label.is_clean for label in self.labels),
            consultations=len({label.consultation for label in self.labels}),
        )


@dataclass(frozen=True, slots=True)
class JudgeSettings:
    """How designs are judged.

    Replicate r has run seed `seed` x (r + 1): seed 11 gives 11, 22, 33, as the study had.
    """

    roles: Roles
    budget: Budget
    seed: int
    replicates: int = 1
    facts_budget: Budget = FACTS_BUDGET

    @property
    def run_seeds(self) -> tuple[int, ...]:
        """One run seed a replicate."""
        return tuple(self.seed * (r + 1) for r in range(self.replicates))


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceOverRuns(Slice):
    """One slice over replicates: support of one run, the mean figure and each run's own."""

    runs: tuple[float | None, ...]

    @classmethod
    def of(cls, parts: Sequence[Slice]) -> SliceOverRuns:
        """The slice that `parts`, one a replicate, are of; `paired` is None where one has none."""
        first = {name.name: getattr(parts[0], name.name) for name in fields(parts[0])}
        runs = tuple(part.paired for part in parts)
        values = [value for value in runs if value is not None]
        mean = fmean(values) if len(values) == len(runs) else None
        return cls(**{**first, "paired": mean}, runs=runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class DesignFigures(Measures):
    """What `heldout judge --json` prints of one design; each field is a key.

    The slices stand by their value, `cost` is in USD, tokens and calls a note. `figures` are the
    design's own other numbers, `names_the_fact` the flagged omissions that name what was removed,
    by level of containment.
    """

    design: str
    family: str
    set: str
    clean_means: CleanMeans
    replicates: int
    n: NoteSetSizes
    by_class: Mapping[str, SliceOverRuns]
    by_trace: Mapping[str, SliceOverRuns]
    by_severity: Mapping[str, SliceOverRuns]
    cost: NoteCosts
    calls_per_note: float
    frame_sha256: str
    block_sha256: str
    facts_sha256: str | None
    figures: Mapping[str, float]
    names_the_fact: Mapping[str, Count] | None


@dataclass(frozen=True)
class DesignResult:
    """One design on one set: `judgements[r][i]` is replicate r on note i of the set.

    `unanswered` are notes that no reply came for, by id, with why; another attempt asks them again.
    """

    design: Design
    frame_sha256: str
    block_sha256: str
    notes: NoteSet
    judgements: tuple[tuple[Judgement, ...], ...]
    costs: NoteCosts
    unanswered: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def tables(self) -> tuple[ScoreTable, ...]:
        """One score table a replicate."""
        return tuple(
            ScoreTable(self.notes.labels, tuple(answer.score for answer in run))
            for run in self.judgements
        )

    @cached_property
    def flags(self) -> tuple[dict[str, bool | None], ...] | None:
        """The design's own flags a replicate, None for a design without a rule."""
        answered = [a for run in self.judgements for a in run if a.outcome is Outcome.OK]
        if all(answer.flag is None for answer in answered):
            return None
        ids = [label.id for label in self.notes.labels]
        return tuple(
            {key: answer.flag for key, answer in zip(ids, run, strict=True)}
            for run in self.judgements
        )

    @cached_property
    def facts(self) -> dict[str, str]:
        """Facts digest by consultation; empty for designs without facts.

        Raises BadInput where replicates of one consultation rest on different facts.
        """
        found: dict[str, set[str]] = {}
        for run in self.judgements:
            for label, answer in zip(self.notes.labels, run, strict=True):
                if answer.facts_digest is not None:
                    found.setdefault(label.consultation, set()).add(answer.facts_digest)
        mixed = [name for name, digests in found.items() if len(digests) > 1]
        if mixed:
            raise BadInput.one(
                self.design.name, f"replicates rest on different facts of {', '.join(mixed)}"
            )
        return {name: digests.pop() for name, digests in found.items()}

    @cached_property
    def figures(self) -> DesignFigures:
        """Everything that is printed of it. Raises BadInput as `facts` does."""
        found = measures(Judged(self.tables, self.flags))
        return DesignFigures(
            design=self.design.name,
            family=self.design.group,
            set=self.notes.name,
            clean_means=self.notes.clean_means,
            replicates=len(self.judgements),
            n=self.notes.sizes,
            **{name.name: getattr(found, name.name) for name in fields(found)},
            by_class=self._slices("class", "errored"),
            by_trace=self._slices("trace", "omission"),
            by_severity=self._slices("severity", "omission"),
            cost=self.costs,
            calls_per_note=fmean(len(a.calls) for run in self.judgements for a in run),
            frame_sha256=self.frame_sha256,
            block_sha256=self.block_sha256,
            facts_sha256=sha256_json(self.facts) if self.facts else None,
            figures=self._other_figures(),
            names_the_fact=self._naming(),
        )

    def to_json(self) -> dict[str, Any]:
        """The object `heldout judge --json` prints, with what else is known."""
        found: dict[str, Any] = plain(self.figures)
        return {**found, "unanswered": dict(self.unanswered)}

    def _slices(self, axis: Axis, select: Selection) -> dict[str, SliceOverRuns]:
        """Paired figures by value of `axis`, averaged over replicates."""
        runs = [slices(table, axis, select) for table in self.tables]
        return {key: SliceOverRuns.of([run[key] for run in runs]) for key in runs[0]}

    def _naming(self) -> dict[str, Count] | None:
        """Flagged omissions that name what was removed, by containment; None where none could.

        Over all replicates; `n` counts the judgings that flag an omission.
        """
        if self.flags is None or not any(a.findings for run in self.judgements for a in run):
            return None
        flagged = [
            (note, answer)
            for run in self.judgements
            for note, answer in zip(self.notes.notes, run, strict=True)
            if answer.flag and note.label.note_class.is_omission and note.fact is not None
        ]
        return {
            f"{level:g}": Count(
                sum(
                    names_the_fact([f.text for f in answer.findings], note.fact or "", level)
                    for note, answer in flagged
                ),
                len(flagged),
            )
            for level in NAMING_LEVELS
        }

    def _other_figures(self) -> dict[str, float]:
        """Means of the design's other numbers over all judgings that have them."""
        totals: dict[str, list[float]] = {}
        for run in self.judgements:
            for answer in run:
                for name, value in (answer.figures or {}).items():
                    totals.setdefault(name, []).append(value)
        return {name: sum(values) / len(values) for name, values in totals.items()}


async def judge_design(
    design: Design,
    notes: NoteSet,
    settings: JudgeSettings,
    caller: Ledgered,
    block: str | None = None,
) -> DesignResult:
    """Judge every note of `notes` in every replicate, under `block` or the design's own.

    A note that is never answered while others are is set aside. Raises InfrastructureFailure,
    Stopped or CircuitOpen once the calls in flight are back; what was bought is stored and a second
    attempt goes on from there.
    """
    students = [
        design.build(
            DesignContext(settings.roles, caller, run_seed, facts_budget=settings.facts_budget)
        )
        for run_seed in settings.run_seeds
    ]
    text = design.block if block is None else block
    asked = [
        student.judge(text, note, settings.budget, 0)
        for student in students
        for note in notes.notes
    ]
    answers = await all_answers(asked)
    nothing = [answer for answer in answers if isinstance(answer, Unanswered)]
    if nothing and len(nothing) == len(answers):
        raise nothing[0]
    size, frame = len(notes.notes), students[0].frame
    missing = {
        notes.notes[place % size].id: str(answer)
        for place, answer in enumerate(answers)
        if isinstance(answer, Unanswered)
    }
    judged = [unanswered(frame) if isinstance(a, Unanswered) else a for a in answers]
    runs = tuple(tuple(judged[i : i + size]) for i in range(0, len(judged), size))
    costs = note_costs(notes.labels, runs, caller.store)
    return DesignResult(design, frame.sha256, sha256_text(text), notes, runs, costs, missing)


def judge_roster(
    designs: Sequence[Design],
    notes: NoteSet,
    settings: JudgeSettings,
    caller: Ledgered,
    runner: asyncio.Runner,
    blocks: Mapping[str, str] | None = None,
) -> list[DesignResult]:
    """Every design on the same notes, one after the other; stages they share are bought once.

    `blocks` holds the blocks of designs that are not judged under their own.
    """
    given = blocks or {}
    return [
        runner.run(judge_design(design, notes, settings, caller, given.get(design.name)))
        for design in designs
    ]


def note_rows(result: DesignResult, replicate: int) -> Iterator[dict[str, Any]]:
    """One row a note: score, flag, outcome, and what the judge names, with severity and evidence.

    Rows hold words of transcripts; they stay where the caller puts them.
    """
    judgements = result.judgements[replicate]
    for label, answer in zip(result.notes.labels, judgements, strict=True):
        yield {
            "id": label.id,
            "consultation": label.consultation,
            "class": label.note_class,
            "score": answer.score,
            "flag": answer.flag,
            "outcome": answer.outcome,
            "figures": dict(answer.figures or {}),
            "findings": [asdict(finding) for finding in answer.findings],
            "assessment": answer.assessment,
        }


def scores_json(result: DesignResult, replicate: int) -> Mapping[str, float | None]:
    """Scores by note id, as `heldout compare` reads them."""
    table = result.tables[replicate]
    return {label.id: score for label, score in zip(table.labels, table.scores, strict=True)}
