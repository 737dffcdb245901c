"""The read model: what a run is, computed from its journal. Every page and command reads this.

`Run` grows by one event at a time, so that a live run can be followed; what it says of a candidate
depends on events up to that candidate alone, so that a page written early is final.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.gepa.candidates import Origin, Status
from heldout.gepa.frontier import Frontier, Valuation, valuation
from heldout.gepa.gate.decision import FamilyMember
from heldout.gepa.gate.usable import Usable
from heldout.gepa.record.codec import plain
from heldout.gepa.record.events import (
    CandidateEvent,
    DriftEvent,
    EmissionEvent,
    EvaluationEvent,
    FinishedEvent,
    GateEvent,
    MeasuresPair,
    PartitionEvent,
    PreGateEvent,
    SearchEndEvent,
    WinnerEvent,
)
from heldout.gepa.record.kinds import FinishReason, Purpose
from heldout.gepa.record.remarks import CallsEvent, OpenedEvent, StoppedEvent
from heldout.gepa.record.run_events import RunEvents
from heldout.gepa.record.summary import (
    card,
    decision_sentence,
    figures_in_words,
    simulated_tag,
    simulated_words,
)
from heldout.gepa.record.totals import RunCost, calls_of, cost_of
from heldout.gepa.reward import RankReward
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.judged import Judged
from heldout.splits.benchmark import NoteLabel
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json

RESUMABLE = (3, 4)
"""Exit statuses after which `resume` continues a run."""

CHOSEN = ("id", "kind", "iteration", "sha256")
"""What is printed of the winner; its figures stand under `accept`."""


@dataclass(frozen=True, kw_only=True)
class HeldoutFigures(MeasuresPair):
    """What held-out showed: both blocks, the primary difference, and looks used."""

    difference: Interval | None
    looks: int


class Run(RunEvents):
    """A run as its journal tells it, finished or not; what has not happened yet is None or empty.

    Every key of `--json` is an attribute. A notebook shows it as a card; `candidates_table`,
    `evaluations_table` and `looks_table` are pandas tables.
    """

    def __init__(self, directory: Path | None = None) -> None:
        super().__init__(directory)
        self._leads: tuple[int, Mapping[str, int]] = (0, {})

    def __repr__(self) -> str:
        return f"<Run {self.run_id}: {self.sentence}>"

    def _repr_html_(self) -> str:
        """The run as a notebook shows it: the decision first."""
        report = None if self.directory is None else self.directory / "report.html"
        found = report is not None and report.is_file()
        return card(
            f"Decision: {self.sentence}",
            self._facts(),
            ("report of the run", report) if report is not None and found else None,
        )

    def _facts(self) -> list[tuple[str, str]]:
        cost, counts = self.budget, self.candidates
        usd = "price unknown" if cost.usd is None else f"USD {cost.usd:.2f}"
        spent = f"{counted(cost.calls, 'call')}, {counted(cost.tokens, 'token')}, {usd}"
        return [
            ("run", f"{self.run_id} ({self.status})"),
            *([("models", self.simulated_words)] if self.simulated_words else []),
            *self.figures_in_words,
            *([("as a flag", self.usable.sentence)] if self.usable else []),
            ("candidates", f"{counts.proposed} proposed, {counts.entered} entered"),
            ("spent", spent),
            ("where", str(self.directory)),
        ]

    # -- what was fixed before the search ----------------------------------------------------------

    @property
    def run_id(self) -> str | None:
        """Identity of the run."""
        return None if self._opened is None else self._opened.run_id

    @property
    def name(self) -> str | None:
        """Name of the campaign."""
        return None if self._opened is None else self._opened.name

    @property
    def run_dir(self) -> Path | None:
        """Where the run lies, an absolute path."""
        return self.directory

    @property
    def simulated(self) -> bool | None:
        """True where a model of the run was a simulated one, also where only its name says so."""
        if self._opened is None:
            return None
        return self._opened.simulated or bool(self.simulated_words)

    @property
    def models(self) -> Mapping[str, str]:
        """Model ids by role, judge and reflector; empty before the first event."""
        opened = self._opened
        if opened is None:
            return {}
        return {"judge": opened.student.model, "reflector": opened.reflector.model}

    @property
    def simulated_words(self) -> str | None:
        """What of the models is simulated, model by model; None where nothing is."""
        return simulated_words(self.models)

    @property
    def simulated_tag(self) -> str:
        """The same in two words, an empty text where nothing is."""
        return simulated_tag(self.models)

    @property
    def partition(self) -> PartitionEvent | None:
        """The verified partition."""
        return self.newest(PartitionEvent)

    @property
    def rule(self) -> str | None:
        """The gate rule chosen before the run."""
        return None if self.settings is None else self.settings.gate.rule

    # -- how far it has come -----------------------------------------------------------------------

    @property
    def status(self) -> str:
        """`empty` (no event yet), `running`, `finished`, `stopped` (resumable) or `failed`."""
        return self._ending[0]

    @property
    def finish_reason(self) -> FinishReason | None:
        """Why the search or the run ended, None while it runs."""
        return self._ending[1]

    @property
    def _ending(self) -> tuple[str, FinishReason | None]:
        if self.finished is not None:
            return "finished", self.finished.finish_reason
        for event in reversed(self.events):
            match event.body:
                case StoppedEvent(finish_reason=reason, exit_status=status):
                    return "stopped" if status in RESUMABLE else "failed", reason
                case OpenedEvent():
                    break
        return ("running", None) if self.has_begun else ("empty", None)

    @property
    def finished(self) -> FinishedEvent | None:
        """The last deterministic event of a finished run."""
        return self.newest(FinishedEvent)

    @property
    def search_end(self) -> SearchEndEvent | None:
        """Why the search ended."""
        return self.newest(SearchEndEvent)

    @property
    def spent(self) -> Spent | None:
        """What had been spent by the newest settled event, None before the first iteration."""
        if self.finished is not None:
            return self.finished.spent
        return self.iterations[-1].spent if self.iterations else None

    @property
    def budget(self) -> RunCost:
        """What the run has spent so far, evaluations after the newest settled event included."""
        return cost_of(self.events)

    @property
    def calls(self) -> CallsEvent:
        """What was asked of models, over the sessions that came to an orderly end."""
        return calls_of(self.events)

    # -- candidates --------------------------------------------------------------------------------

    @property
    def unusable_words(self) -> str | None:
        """How many proposals were unusable and why; None where most could be tried."""
        unusable = self.candidates.unusable
        if 2 * unusable.total() <= self.candidates.proposed:
            return None
        why = ", ".join(f"{reason} {count}" for reason, count in unusable.most_common())
        return f"{unusable.total()} of {self.candidates.proposed} proposals were unusable: {why}"

    @property
    def entered(self) -> list[CandidateEvent]:
        """Candidates that were scored on accept, seeds included, in commit order."""
        return [c for c in self.candidates.values() if c.status is Status.ENTERED]

    @property
    def baseline(self) -> CandidateEvent | None:
        """The seed that the winner is compared with, once it is scored."""
        name = None if self.settings is None else self.settings.baseline
        seeds = (c for c in self.candidates.values() if c.kind is Origin.SEED)
        return next((c for c in seeds if c.name == name), None)

    @property
    def winner(self) -> WinnerEvent | None:
        """The candidate chosen on accept."""
        return self.newest(WinnerEvent)

    @property
    def accept(self) -> MeasuresPair | None:
        """Accept figures of baseline and winner."""
        return None if self.winner is None else self.winner.accept

    @property
    def leads(self) -> Mapping[str, int]:
        """Examples led by each frontier candidate, as the search sees them now."""
        known = len(self.candidates)
        if self._leads[0] != known:
            self._leads = (known, self._frontier())
        return self._leads[1]

    def _frontier(self) -> Mapping[str, int]:
        """The frontier, built again from accept scores: the journal keeps its size only."""
        frontier: Frontier | None = None
        for candidate in self.entered:
            scores = self.accept_scores(candidate.id)
            if scores is None:
                continue
            if frontier is None:
                frontier = Frontier(self._valuation([self.labels[id_] for id_ in scores]))
            frontier.add(candidate.id, scores)
        return {} if frontier is None else frontier.members

    def _valuation(self, labels: list[NoteLabel]) -> Valuation:
        assert self.settings is not None  # candidates come after the settings
        fields = {key: self.settings.reward[key] for key in RankReward.__dataclass_fields__}
        return valuation(self.settings.search.frontier, labels, RankReward(**fields))

    # -- held-out and the decision -----------------------------------------------------------------

    @property
    def heldout(self) -> HeldoutFigures | None:
        """Held-out figures of baseline and winner, None without a look for the winner."""
        if self.gate is None or self.gate.heldout is None:
            return None
        found = self.gate.heldout
        return HeldoutFigures(
            baseline=found.baseline,
            winner=found.winner,
            difference=self.gate.difference,
            looks=found.looks,
        )

    def on_heldout(self, purpose: Purpose) -> list[EvaluationEvent]:
        """Held-out evaluations of the baseline or of the winner, one a replicate."""
        return [e for e in self.evaluations if e.purpose is purpose and e.split == "heldout"]

    def judged_on_heldout(self, purpose: Purpose, threshold: float | None = None) -> Judged | None:
        """Baseline or winner on held-out, all replicates, at a threshold frozen on accept."""
        tables = tuple(self.table(found.scores) for found in self.on_heldout(purpose))
        return Judged(tables, threshold=threshold) if tables else None

    @property
    def compared_baseline(self) -> Purpose:
        """The judging of the baseline that is compared: beside the winner, or before the search."""
        concurrent = self.settings is not None and self.settings.confirm.baseline == "concurrent"
        return Purpose.DRIFT if concurrent and self.on_heldout(Purpose.DRIFT) else Purpose.BASELINE

    @property
    def pre_gate(self) -> PreGateEvent | None:
        """What accept said of buying the look."""
        return self.newest(PreGateEvent)

    @property
    def drift(self) -> DriftEvent | None:
        """How far the baseline moved when it was judged afresh."""
        return self.newest(DriftEvent)

    @property
    def gate(self) -> GateEvent | None:
        """The decision with every figure behind it."""
        return self.newest(GateEvent)

    @property
    def decision(self) -> str | None:
        """`emitted`, `refused`, `not_confirmed`, or None while there is none."""
        return None if self.gate is None else self.gate.decision

    @property
    def reason(self) -> str | None:
        """Why it was not emitted."""
        return None if self.gate is None else self.gate.reason

    @property
    def sentence(self) -> str:
        """The decision with its reason, in one sentence."""
        if self.gate is None:
            return f"no decision yet ({self.status})"
        return self.gate.sentence or decision_sentence(self.gate.decision, self.gate.reason)

    @property
    def usable(self) -> Usable | None:
        """Whether the winner can be used as a flag; None without a decision or a record of it."""
        return None if self.gate is None else self.gate.usable

    @property
    def family(self) -> tuple[FamilyMember, ...]:
        """The declared family that it was decided in; empty for a campaign alone."""
        return () if self.gate is None else self.gate.family

    @property
    def figures_in_words(self) -> list[tuple[str, str]]:
        """Accept and held-out figures of the primary measure, each beside its name."""
        difference = self.heldout.difference if self.heldout else None
        return figures_in_words(self.accept, self.heldout, difference, self.primary)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What the held-out figures do not show."""
        return self.gate.caveats if self.gate else ()

    @property
    def emission(self) -> EmissionEvent | None:
        """The emitted files, None where nothing was emitted."""
        return self.newest(EmissionEvent)

    @property
    def prompt_file(self) -> Path | None:
        """The emitted prompt, an absolute path."""
        if self.emission is None or self.directory is None:
            return None
        return self.directory / self.emission.prompt_file

    @property
    def lineage_sha256(self) -> str:
        """Hash of ids, texts, parents, statuses, scores (9 decimals) and the decision.

        Times, costs, intervals and whatever happened to the process are not part of it: two runs
        with equal lineage found the same things.
        """
        candidates = [
            [
                c.id,
                c.kind,
                c.sha256,
                c.parents,
                c.iteration,
                c.status,
                c.reason,
                None if c.minibatch is None else plain(c.minibatch),
                self.accept_scores(c.id),
            ]
            for c in self.candidates.values()
        ]
        purposes = dict.fromkeys((Purpose.BASELINE, self.compared_baseline, Purpose.CONFIRM))
        heldout = [[found.scores for found in self.on_heldout(p)] for p in purposes]
        return sha256_json([candidates, heldout, self.decision])

    def to_json(self) -> dict[str, Any]:
        """The object that `run`, `status` and `resume` print with `--json`; keys are attributes."""
        winner = self.winner
        return {
            "run_id": self.run_id,
            "name": self.name,
            "run_dir": None if self.run_dir is None else str(self.run_dir),
            "simulated": self.simulated,
            "status": self.status,
            "finish_reason": self.finish_reason,
            "decision": self.decision,
            "reason": self.reason,
            "sentence": self.sentence,
            "usable": self.usable and plain(self.usable),
            "family": plain(self.family),
            "rule": self.rule,
            "primary": self.primary,
            "winner": winner and {name: getattr(winner, name) for name in CHOSEN},
            "accept": self.accept and plain(self.accept),
            "heldout": self.heldout and plain(self.heldout),
            "caveats": list(self.caveats),
            "prompt_file": None if self.prompt_file is None else str(self.prompt_file),
            "candidates": self.candidates.counts(),
            "budget": plain(self.budget),
            "calls": plain(self.calls),
            "lineage_sha256": self.lineage_sha256,
        }


def load_run(run_dir: Path | str) -> Run:
    """The run in `run_dir`.

    Raises BadInput where there is no journal or one without an event, JournalBroken where its
    chain does not hold.
    """
    path = needed_path(run_dir, "run_dir")
    if not (path / "journal.jsonl").is_file():
        raise BadInput.one(str(path), "is no run directory (it has no journal.jsonl)")
    run = Run.at(path)
    if not run.has_begun:
        raise BadInput.one(str(path / "journal.jsonl"), "has no event yet")
    return run


def needed_path(path: object, name: str) -> Path:
    """The argument `name` as a path. Raises BadInput where it is none."""
    if not isinstance(path, str | os.PathLike):
        raise BadInput.one(name, f"must be a path, not {path!r:.60}")
    return Path(path)
