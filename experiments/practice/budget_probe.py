"""The budget probe: after a search, its blocks once more at larger budgets, on accept.

A search ranks blocks at the one budget it is run under. A block that asks for a procedure may need
room that this budget does not give and look useless; so the top blocks, and those whose text asks
for a procedure, are judged again. Nothing is decided here: accept chose the winner, and only the
gate speaks of held-out notes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.experiments.practice.ladder import Rung, Sat
from heldout.experiments.practice.loaded_prompt import family_of, from_run
from heldout.experiments.practice.rerun import checked_run
from heldout.experiments.practice.rung_judging import Repeats, RungJudge, Unrecorded
from heldout.experiments.practice.session import Asking, desk, pinned_for
from heldout.experiments.report.view import Body, RunView, read_view
from heldout.gepa.candidates import Kind
from heldout.gepa.statistics.rates.paired import paired
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.vault import open_splits
from heldout.students.calls.caller import never
from heldout.students.models.chat import Budget

FILE = "budget_probe.json"

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
class ProbeRequest:
    """One probe of a finished search.

    `rungs` are judged beside the budget of the search; `top` blocks by accept, and up to
    `procedures` more whose text asks for a procedure, rejected ones too where their text is kept.
    """

    run: Path
    rungs: tuple[Rung, ...]
    asking: Asking
    top: int = 3
    procedures: int = 4


@dataclass(frozen=True)
class Probed:
    """One block: why it was judged again, and its primary figure at each rung, search first."""

    candidate: str
    why: str
    sats: tuple[Sat, ...]

    def figure(self, rung: int, family: PairKind) -> float | None:
        """Paired discrimination at a rung, in [0, 1]."""
        return paired(self.sats[rung].tables[0], family).value


@dataclass(frozen=True)
class ProbeReport:
    """What larger budgets do to the order of blocks; `rungs[0]` is the budget of the search."""

    rungs: tuple[Rung, ...]
    probed: tuple[Probed, ...]
    family: PairKind
    winner: str | None
    simulated: bool

    def order(self, rung: int) -> tuple[str, ...]:
        """Candidates at a rung, best first; ties by age, blocks without a figure left out."""
        figures = [(p.figure(rung, self.family), p.candidate) for p in self.probed]
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
            lines.append("simulated models: no figure here is about a real one")
        return tuple(lines)

    def _best(self, rung: int) -> str:
        order = self.order(rung)
        if not order:
            return "no block"
        figure = next(p for p in self.probed if p.candidate == order[0]).figure(rung, self.family)
        return f"{order[0]} ({figure:.3f})"

    def to_json(self) -> dict[str, Any]:
        """Stable keys; figures are paired discrimination on accept, by rung."""
        return {
            "primary": f"paired_{self.family}s",
            "rungs": [
                {
                    "name": rung.name,
                    "reasoning_effort": rung.budget.reasoning_effort,
                    "max_tokens": rung.budget.max_tokens,
                    "samples": rung.samples,
                    "order": list(self.order(place)),
                }
                for place, rung in enumerate(self.rungs)
            ],
            "blocks": [
                {
                    "candidate": p.candidate,
                    "why": p.why,
                    "figures": [p.figure(r, self.family) for r in range(len(self.rungs))],
                }
                for p in self.probed
            ],
            "winner": self.winner,
            "changes_at": [self.rungs[r].name for r in self.changes],
            "simulated": self.simulated,
            "sentences": list(self.sentences),
        }


def budget_probe(
    request: ProbeRequest,
    *,
    progress: Callable[[str], None] | None = None,
    stop: Callable[[], str | None] = never,
) -> ProbeReport:
    """Judge the chosen blocks at every rung on accept, and write `budget_probe.json` to the run.

    Raises BadInput before the first call; Stopped, CircuitOpen or InfrastructureFailure in between,
    after which the same request goes on.
    """
    view = read_view(request.run)
    chosen = chosen_blocks(view, request.top, request.procedures)
    taken = from_run(request.run, next(iter(chosen)))
    rungs = (Rung(taken.budget, taken.samples), *request.rungs)
    rungs = tuple(dict.fromkeys(rungs))
    model = pinned_for(taken, request.asking, [rung.budget for rung in rungs])
    checked = checked_run(taken)
    splits = open_splits(
        checked.load,
        checked.manifest,
        journal=Unrecorded(),
        buyer=Buyer("budget-probe"),
        exclude=checked.exclude,
    )
    notes = tuple(note for c in splits.accept for note in c.notes)
    url = f"sqlite:///{request.run.resolve() / 'budget_probe.sqlite'}"
    with desk(url, "budget-probe", taken, model, request.asking, stop=stop) as opened:
        judge = RungJudge(opened, taken, model, Repeats(1, request.asking.seed))
        probed = []
        for candidate, why in chosen.items():
            if progress is not None:
                progress(f"{candidate} ({why})")
            block = str(view.candidates[candidate]["block"])
            sats = tuple(judge.on_notes(block, rung, notes) for rung in rungs)
            probed.append(Probed(candidate, why, sats))
    winner = None if view.winner is None else str(view.winner["id"])
    report = ProbeReport(
        rungs, tuple(probed), family_of(view), winner, model.pin.id.startswith("sim/")
    )
    path = request.run / FILE
    path.write_text(json.dumps(report.to_json(), indent=2) + "\n", encoding="utf-8")
    return report


def chosen_blocks(view: RunView, top: int, procedures: int) -> dict[str, str]:
    """Candidate id to why it is judged again, in this order: leaders, procedures, baseline.

    A pure function of a run. Leaders are entered candidates by accept; of the others those whose
    text asks for a procedure come entered ones first, then by how they did on their minibatch.
    """
    ranked = sorted(view.entered, key=lambda body: (-_on_accept(view, body), body["id"]))
    chosen = {str(body["id"]): "leads on accept" for body in ranked[:top]}
    others = [*ranked[top:], *sorted(_rejected(view), key=_by_minibatch)]
    asking = [b for b in others if b["block"] and asks_for_procedure(b["block"])]
    for body in asking[:procedures]:
        chosen[str(body["id"])] = "asks for a procedure"
    if view.baseline is not None:
        chosen.setdefault(str(view.baseline["id"]), "baseline")
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


def read_probe(run: Path) -> dict[str, Any] | None:
    """What `budget_probe` found for a run, None where it was not asked."""
    path = run / FILE
    found: dict[str, Any] | None = json.loads(path.read_text("utf-8")) if path.is_file() else None
    return found


def _on_accept(view: RunView, body: Body) -> float:
    table = view.accept_table(body["id"])
    value = None if table is None else paired(table, family_of(view)).value
    return -1.0 if value is None else value


def _rejected(view: RunView) -> list[Body]:
    """Candidates that did not enter for their figures, text kept."""
    return [
        body
        for body in view.candidates.values()
        if body["reason"] == "minibatch" and body["kind"] != Kind.SEED
    ]


def _by_minibatch(body: Body) -> tuple[float, str]:
    """Those that lost least against their parent first."""
    batch = body["minibatch"] or {}
    child, parent = batch.get("child_reward"), batch.get("parent_reward")
    lost = parent - child if child is not None and parent is not None else float("inf")
    return (lost, body["id"])
