"""The lineage in the terminal: a tree of candidates under the seeds they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from heldout.experiments.report.candidates import title
from heldout.experiments.report.decision import headline
from heldout.experiments.report.words import signed
from heldout.gepa.candidates import Origin, Status
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run, load_run
from heldout.splits.counted import counted
from heldout.splits.visible import visible

STYLES = {Origin.SEED.value: "yellow", Origin.MUTATION.value: "cyan", Origin.MERGE.value: "magenta"}
BAR = 20
"""Characters of a bar from 0 to 1."""


def lineage_view(run_dir: Path, *, rejected: bool = True) -> RenderableType:
    """The lineage of the run in `run_dir`, to be printed with rich.

    `rejected` False leaves out proposals that did not enter. Raises BadInput where there is no
    journal, JournalBroken where its chain does not hold.
    """
    return draw(load_run(run_dir), rejected=rejected)


def draw(run: Run, *, rejected: bool = True) -> RenderableType:
    """A tree a seed; a merge hangs under its first parent and names both."""
    children = _children(run, rejected)
    trees = []
    for id_, body in run.candidates.items():
        if body.kind == Origin.SEED:
            tree = Tree(_line(run, body), guide_style="dim")
            _grow(tree, run, children, id_)
            trees.append(tree)
    head = Text.assemble((run.opened.name, "bold"), ("  " + run.simulated_tag, "dim"))
    return Group(head, Text(visible(headline(run))), Text(), *trees, Text(_counts(run)))


def _children(run: Run, rejected: bool) -> Mapping[str, Sequence[CandidateEvent]]:
    found: dict[str, list[CandidateEvent]] = {}
    for body in run.candidates.values():
        if body.parents and (rejected or body.status == Status.ENTERED):
            found.setdefault(body.parents[0], []).append(body)
    return found


def _grow(root: Tree, run: Run, children: Mapping[str, Sequence[CandidateEvent]], id_: str) -> None:
    """Hang all descendants under `root`; a lineage may be deeper than a call stack."""
    waiting = [(root, id_)]
    while waiting:
        tree, parent = waiting.pop()
        for body in children.get(parent, ()):
            waiting.append((tree.add(_line(run, body)), body.id))


def _line(run: Run, body: CandidateEvent) -> Text:
    """One candidate: its title, a bar of its accept figure, leads, and the change over a parent."""
    entered = body.status == Status.ENTERED
    won = run.winner is not None and run.winner.id == body.id
    style = STYLES[body.kind] if entered else "dim"
    line = Text(visible(title(body)), style=f"bold {style}" if won else style)
    if (value := body.on_accept(run.primary)) is not None:
        line.append("  " + "█" * round(BAR * value), style=style)
        line.append("·" * (BAR - round(BAR * value)), style="dim")
        line.append(_gain(run, body, value), style="default")
    if leads := run.leads.get(body.id):
        line.append(f"  leads {leads}", style="green")
    if won:
        line.append("  winner", style="bold green")
    return line


def _gain(run: Run, body: CandidateEvent, value: float) -> str:
    parents = (run.candidates[id_].on_accept(run.primary) for id_ in body.parents)
    known = [figure for figure in parents if figure is not None]
    return f"  {signed(value - max(known))}" if known else ""


def _counts(run: Run) -> str:
    found = run.candidates
    return (
        f"{counted(found.proposed, 'proposal')}, {found.entered} entered, "
        f"{found.rejected} rejected, "
        f"{counted(found.merges, 'merge')}"
    )
