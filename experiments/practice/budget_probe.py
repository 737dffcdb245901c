"""The budget probe: after a search, its blocks once more at larger budgets, on accept.

A search ranks blocks at the one budget it is run under. A block that asks for a procedure may need
room that this budget does not give and look useless; so the top blocks, and those whose text asks
for a procedure, are judged again. Nothing is decided here: accept chose the winner, and only the
gate speaks of held-out notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.experiments.practice.loaded_prompt import LoadedPrompt, from_run
from heldout.experiments.practice.rung_judging import NullJournal, RungJudge
from heldout.experiments.practice.rungs import Rung, RungResult
from heldout.experiments.practice.session import (
    JudgeOptions,
    make_ready,
    tell_nobody,
    unanswered_lines,
)
from heldout.experiments.runs.run_data import splits_of_run
from heldout.experiments.runs.run_directory import working_in
from heldout.gepa.candidates import Origin
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run, load_run
from heldout.gepa.record.summary import SIMULATED_JUDGE
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.errors import BadInput
from heldout.splits.heldout.looks_file import Buyer
from heldout.students.calls.caller import never
from heldout.students.models.chat import Budget

FILE, STORE = "budget_probe.json", "budget_probe.sqlite"

_STEP = re.compile(
    r"\b(?:list(?:ing)?|enumerat(?:e|ing)|inventory|itemi[sz](?:e|ing)|tabulat(?:e|ing)|"
    r"catalogu(?:e|ing)|compil(?:e|ing)|(?:writ(?:e|ing)|not(?:e|ing)) down|"
    r"(?:go|going|work|working|walk|walking) through|"
    r"(step|one|entry|item|line|fact|sentence) by \1|one at a time|first\b.{1,120}\bthen)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(r"\b(do not|don't|never|no need to|avoid|without|instead of)\b", re.I)
_SENTENCE = re.compile(r"(?<=[.!?;:])\s+|\n+")


@dataclass(frozen=True)
class ProbedBlock:
    """One block: why it was judged again, and its primary figure at each rung, search first."""

    candidate: str
    why: str
    results: tuple[RungResult, ...]

    def figure(self, rung: int, pairs: PairKind) -> float | None:
        """Paired discrimination at a rung, in [0, 1]."""
        return paired(self.results[rung].tables[0], pairs).value


@dataclass(frozen=True)
class ProbeReport:
    """What larger budgets do to the order of blocks; `rungs[0]` is the budget of the search."""

    rungs: tuple[Rung, ...]
    probed: tuple[ProbedBlock, ...]
    pairs: PairKind
    winner: str | None
    simulated: bool
    unanswered: Mapping[str, str]

    def order(self, rung: int) -> tuple[str, ...]:
        """Candidates at a rung, best first; ties by age, blocks without a figure left out."""
        figures = [(p.figure(rung, self.pairs), p.candidate) for p in self.probed]
        known = [(-f, name) for f, name in figures if f is not None]
        return tuple(name for _, name in sorted(known))

    @property
    def changes(self) -> tuple[int, ...]:
        """The rungs at which another block leads than at the budget of the search."""
        first = self.order(0)[:1]
        return tuple(r for r in range(1, len(self.rungs)) if self.order(r)[:1] != first)

    @property
    def sentences(self) -> tuple[str, ...]:
        """For the report, a line each."""
        lines = [f"at {self.rungs[0].name} (the search) {self._best(0)} leads on accept"]
        for rung in range(1, len(self.rungs)):
            again = "still" if rung not in self.changes else "now"
            lines.append(f"at {self.rungs[rung].name} {self._best(rung)} {again} leads")
        if self.changes:
            lines.append(
                "a larger budget changes the order: re-run the block that leads there "
                "(heldout rerun RUN:candidate), or search at that budget"
            )
        lines.append(
            "the blocks were chosen on these notes; held-out alone can confirm one at a budget"
        )
        if self.simulated:
            lines.append(SIMULATED_JUDGE)
        return tuple(lines)

    @property
    def text(self) -> str:
        """For a person."""
        return "\n".join([*self.sentences, *unanswered_lines(self.unanswered)])

    def _best(self, rung: int) -> str:
        order = self.order(rung)
        if not order:
            return "no block"
        figure = next(p for p in self.probed if p.candidate == order[0]).figure(rung, self.pairs)
        return f"{order[0]} ({figure:.3f})"

    def to_json(self) -> dict[str, Any]:
        """Stable keys; figures are paired discrimination on accept, by rung."""
        return {
            "primary": f"paired_{self.pairs}s",
            "rungs": [
                {"name": rung.name, **rung.to_json(), "order": list(self.order(place))}
                for place, rung in enumerate(self.rungs)
            ],
            "blocks": [
                {
                    "candidate": p.candidate,
                    "why": p.why,
                    "figures": [p.figure(r, self.pairs) for r in range(len(self.rungs))],
                }
                for p in self.probed
            ],
            "winner": self.winner,
            "changes_at": [self.rungs[r].name for r in self.changes],
            "simulated": self.simulated,
            "unanswered": dict(self.unanswered),
            "sentences": list(self.sentences),
        }


def budget_probe(
    prompt: LoadedPrompt,
    rungs: Sequence[Rung],
    options: JudgeOptions,
    *,
    top: int = 3,
    procedures: int = 4,
    progress: Callable[[str], None] = tell_nobody,
    stop: Callable[[], str | None] = never,
) -> ProbeReport:
    """Judge blocks of the search that `prompt` comes from once more, on accept, at every rung.

    `rungs` are judged beside the budget of the search; without any, twice and four times that.
    `top` blocks by accept are judged, and up to `procedures` more whose text asks for a procedure,
    rejected ones too where their text is kept. Writes `budget_probe.json` to the run.

    Raises BadInput before the first call; Stopped, CircuitOpen or InfrastructureFailure in between,
    after which the same call goes on.
    """
    if prompt.run is None:
        raise BadInput.one("--probe", "needs a run directory")
    path = prompt.run
    run = load_run(path)
    chosen = chosen_blocks(run, top, procedures)
    first = from_run(path, next(iter(chosen)))
    own = Rung(first.budget, first.samples)
    rungs = tuple(dict.fromkeys((own, *(rungs or larger(first.budget)))))
    ready = make_ready(first, options, [rung.budget for rung in rungs])
    splits = splits_of_run(path, journal=NullJournal(), buyer=Buyer("budget-probe"))
    notes = tuple(note for c in splits.accept for note in c.notes)
    with working_in(path.resolve()):
        with ready.opened(path.resolve() / STORE, "budget-probe", stop=stop) as session:
            judge = RungJudge(ready, session)
            probed = []
            for candidate, why in chosen.items():
                progress(f"judging {candidate} ({why})")
                block = run.candidates[candidate].block or ""
                results = tuple(judge.on_notes(block, rung, notes) for rung in rungs)
                probed.append(ProbedBlock(candidate, why, results))
        report = ProbeReport(
            rungs,
            tuple(probed),
            primary_pairs(run.primary),
            None if run.winner is None else run.winner.id,
            ready.simulated,
            judge.unanswered,
        )
        text = json.dumps(report.to_json(), indent=2) + "\n"
        (path / FILE).write_text(text, encoding="utf-8")
    return report


def chosen_blocks(run: Run, top: int, procedures: int) -> dict[str, str]:
    """Candidate id to why it is judged again, in this order: leaders, procedures, baseline.

    A pure function of a run. Leaders are entered candidates by accept; of the others those whose
    text asks for a procedure come entered ones first, then by how they did on their minibatch.
    """
    ranked = sorted(run.entered, key=lambda c: (-_on_accept(run, c.id), c.id))
    chosen = {candidate.id: "leads on accept" for candidate in ranked[:top]}
    others = [*ranked[top:], *sorted(_rejected(run), key=_by_minibatch)]
    asking = [c for c in others if c.block and asks_for_procedure(c.block)]
    for candidate in asking[:procedures]:
        chosen[candidate.id] = "asks for a procedure"
    if run.baseline is not None:
        chosen.setdefault(run.baseline.id, "baseline")
    return chosen


def asks_for_procedure(block: str) -> bool:
    """True if a sentence of `block` asks for work in steps, such as listing before checking."""
    return any(
        _STEP.search(sentence) and not _NEGATED.search(sentence)
        for sentence in _SENTENCE.split(block)
    )


def larger(budget: Budget, factors: Sequence[int] = (2, 4)) -> tuple[Rung, ...]:
    """Rungs at multiples of a token cap, effort as it is."""
    return tuple(Rung(Budget(budget.max_tokens * f, budget.reasoning_effort)) for f in factors)


def _on_accept(run: Run, candidate: str) -> float:
    table = run.accept_table(candidate)
    value = None if table is None else paired(table, primary_pairs(run.primary)).value
    return -1.0 if value is None else value


def _rejected(run: Run) -> list[CandidateEvent]:
    """Candidates that did not enter for their figures, text kept."""
    return [
        c for c in run.candidates.values() if c.reason == "minibatch" and c.kind is not Origin.SEED
    ]


def _by_minibatch(candidate: CandidateEvent) -> tuple[float, str]:
    """Those that lost least against their parent first."""
    batch = candidate.minibatch
    lost = float("inf") if batch is None else batch.parent_reward - batch.child_reward
    return (lost, candidate.id)
