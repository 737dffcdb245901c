"""The lineage in the terminal: a tree of candidates under the seeds they came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from heldout.experiments.report.candidates import title
from heldout.experiments.report.decision import headline
from heldout.experiments.report.text import visible
from heldout.experiments.report.view import Body, RunView, read_view
from heldout.experiments.report.words import signed
from heldout.gepa.candidates import Kind, Status

STYLES = {Kind.SEED.value: "yellow", Kind.MUTATION.value: "cyan", Kind.MERGE.value: "magenta"}
BAR = 20
"""Characters of a bar from 0 to 1."""


def lineage_view(run_dir: Path, *, rejected: bool = True) -> RenderableType:
    """The lineage of the run in `run_dir`, to be printed with rich.

    `rejected` False leaves out proposals that did not enter. Raises BadInput where there is no
    journal, JournalBroken where its chain does not hold.
    """
    return draw(read_view(run_dir), rejected=rejected)


def draw(view: RunView, *, rejected: bool = True) -> RenderableType:
    """A tree a seed; a merge hangs under its first parent and names both."""
    primary = view.settings.get("search", {}).get("primary", "paired_omissions")
    children = _children(view, rejected)
    trees = []
    for id_, body in view.candidates.items():
        if body["kind"] == Kind.SEED:
            tree = Tree(_line(view, body, primary), guide_style="dim")
            _grow(tree, view, children, (id_, primary))
            trees.append(tree)
    simulated = "simulated models" if view.simulated else ""
    head = Text.assemble((view.name, "bold"), ("  " + simulated, "dim"))
    return Group(head, Text(visible(headline(view))), Text(), *trees, Text(_counts(view)))


def _children(view: RunView, rejected: bool) -> Mapping[str, Sequence[Body]]:
    found: dict[str, list[Body]] = {}
    for body in view.candidates.values():
        if body["parents"] and (rejected or body["status"] == Status.ENTERED):
            found.setdefault(body["parents"][0], []).append(body)
    return found


def _grow(
    root: Tree, view: RunView, children: Mapping[str, Sequence[Body]], start: tuple[str, str]
) -> None:
    """Hang all descendants under `root`; a lineage may be deeper than a call stack."""
    id_, primary = start
    waiting = [(root, id_)]
    while waiting:
        tree, parent = waiting.pop()
        for body in children.get(parent, ()):
            waiting.append((tree.add(_line(view, body, primary)), body["id"]))


def _line(view: RunView, body: Body, primary: str) -> Text:
    """One candidate: its title, a bar of its accept figure, leads, and the change over a parent."""
    entered = body["status"] == Status.ENTERED
    won = view.winner is not None and view.winner["id"] == body["id"]
    style = STYLES[body["kind"]] if entered else "dim"
    line = Text(visible(title(body)), style=f"bold {style}" if won else style)
    value = body["accept"][primary] if entered else None
    if value is not None:
        line.append("  " + "█" * round(BAR * value), style=style)
        line.append("·" * (BAR - round(BAR * value)), style="dim")
        line.append(_gain(view, body, primary), style="default")
    if leads := view.leads.get(body["id"]):
        line.append(f"  leads {leads}", style="green")
    if won:
        line.append("  winner", style="bold green")
    return line


def _gain(view: RunView, body: Body, primary: str) -> str:
    parents = [view.candidates[id_]["accept"] for id_ in body["parents"]]
    known = [p[primary] for p in parents if p is not None and p[primary] is not None]
    return f"  {signed(body['accept'][primary] - max(known))}" if known else ""


def _counts(view: RunView) -> str:
    proposed = [b for b in view.candidates.values() if b["kind"] != Kind.SEED]
    entered = sum(b["status"] == Status.ENTERED for b in proposed)
    merges = sum(b["kind"] == Kind.MERGE for b in proposed)
    return (
        f"{len(proposed)} proposals, {entered} entered, {len(proposed) - entered} rejected, "
        f"{merges} merges"
    )
