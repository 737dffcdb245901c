"""The files that stand for a whole run."""

from __future__ import annotations

from contextlib import closing
from importlib import metadata
from pathlib import Path

from heldout.experiments.report.contents import report_of
from heldout.experiments.report.lineage import lineage_page
from heldout.experiments.report.reflections import reflections_of
from heldout.experiments.report.render import page, render
from heldout.experiments.report.text import TextPolicy
from heldout.gepa.record.files import replace_file
from heldout.gepa.record.journal import RunJournal
from heldout.gepa.record.remarks import RenderedEvent
from heldout.gepa.record.run import Run, load_run
from heldout.splits.hashing import sha256_file

PAGES = ("report.html", "report.md", "lineage.html")

COPIED = ("journal.jsonl", "gate.json", "config.yaml")
"""Files of the run directory that go along; they hold blocks, but no note and no transcript."""


def write_report(run_dir: Path) -> Path:
    """Write `report.html` and `report.md` into the run directory; returns the first.

    From the journal alone. Raises BadInput where there is no journal, JournalBroken where its
    chain does not hold.
    """
    for name, text in report_files(load_run(run_dir), TextPolicy.FULL).items():
        replace_file(run_dir / name, text)
    return run_dir / "report.html"


def write_lineage(run_dir: Path) -> Path:
    """Write `lineage.html` into the run directory, with all texts; returns it.

    Raises what `write_report` raises, and BadInput where the call store cannot be read.
    """
    run = load_run(run_dir)
    text = lineage_page(run, reflections_of(run_dir, run.opened.run_id), TextPolicy.FULL)
    replace_file(run_dir / "lineage.html", text)
    return run_dir / "lineage.html"


def rendered(run_dir: Path) -> RenderedEvent:
    """What the journal of a run is to note of its pages, as they lie there."""
    paths = [run_dir / name for name in PAGES]
    pages = {path.name: sha256_file(path) for path in paths if path.is_file()}
    return RenderedEvent(pages=pages, version=metadata.version("heldout"))


def note_pages(run_dir: Path) -> None:
    """Put the pages on record, unless the newest note says the same; for whoever holds the run.

    Raises BadInput or StoreUnavailable where the journal cannot be written.
    """
    event = rendered(run_dir)
    if Run.at(run_dir).rendered[-1:] != [event]:
        with closing(RunJournal(run_dir / "journal.jsonl")) as journal:
            journal.remark(event)


def report_files(run: Run, policy: TextPolicy) -> dict[str, str]:
    """The report as a page and as Markdown."""
    report = report_of(run, policy)
    return {
        "report.html": page("report.html.j2", report=report),
        "report.md": render("report.md.j2", report=report),
    }


def run_files(run_dir: Path, run: Run, policy: TextPolicy) -> dict[str, str]:
    """Artifact path to content for the parent run, under `policy`."""
    files = report_files(run, policy)
    reflections = reflections_of(run_dir, run.opened.run_id)
    files["lineage.html"] = lineage_page(run, reflections, policy)
    if policy is not TextPolicy.NONE:
        for name in COPIED:
            path = run_dir / name
            if path.is_file():
                files[name] = path.read_text("utf-8", "surrogatepass")
    return files
