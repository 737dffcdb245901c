"""One page for campaigns that were decided together: every target, its p as it is and adjusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.report.contents import family_table
from heldout.experiments.report.decision import headline
from heldout.experiments.report.render import page, render
from heldout.experiments.report.words import Table
from heldout.experiments.runs.run_directory import read_family
from heldout.gepa.record.files import replace_file
from heldout.gepa.record.run import Run, load_run

FAMILY_PAGES = ("family.html", "family.md")


@dataclass(frozen=True, slots=True)
class Member:
    """One campaign of the family: its folder beside the page, what was decided, of what use."""

    name: str
    decision: str | None
    headline: str
    flag: str


@dataclass(frozen=True, slots=True)
class FamilyReport:
    """The family as it stands; `table` is None until it is decided."""

    name: str
    simulated: str
    members: Sequence[Member]
    table: Table | None


def write_family(folder: Path) -> Path:
    """Write `family.html` and `family.md` into the folder of a family; returns the first.

    From the journals of its members alone. Raises BadInput where one of them has none.
    """
    members = read_family(folder).members
    report = family_report(folder.resolve().name, [load_run(folder / name) for name in members])
    replace_file(folder / FAMILY_PAGES[0], page("family.html.j2", report=report))
    replace_file(folder / FAMILY_PAGES[1], render("family.md.j2", report=report))
    return folder / FAMILY_PAGES[0]


def family_report(name: str, runs: Sequence[Run]) -> FamilyReport:
    """What the page says of `runs`."""
    decided = next((run.family for run in runs if run.family), ())
    return FamilyReport(
        name=name,
        simulated=next((run.simulated_tag for run in runs if run.simulated_tag), ""),
        members=[
            Member(
                run.opened.name,
                run.decision,
                headline(run),
                "" if run.usable is None else run.usable.sentence,
            )
            for run in runs
        ],
        table=family_table(decided) if decided else None,
    )
