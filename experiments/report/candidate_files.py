"""The files that stand for one candidate: a page, the same as Markdown, and tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.experiments.report.candidates import CandidatePage, NoteLine, NoteStanding, note_name
from heldout.experiments.report.render import page as html_page
from heldout.experiments.report.render import render
from heldout.experiments.report.text import marked
from heldout.splits.visible import json_text, visible

NOTE_COLUMNS = ["split", "against", "note", "consultation", "edit", "before", "after", "change"]


def candidate_files(page: CandidatePage) -> dict[str, str]:
    """File name to content; the block and its differences only where they may be shown."""
    files = {
        "candidate.html": html_page("candidate.html.j2", page=page),
        "candidate.md": render("candidate.md.j2", page=page, marked=marked),
    }
    if page.block is not None and page.block.text is not None:
        files["block.txt"] = visible(page.block.text)
    for parent in page.against:
        if parent.diff is not None:
            files[f"diff_{parent.id}.txt"] = visible(marked(parent.diff))
    rows = note_rows(page)
    if rows:
        files["tables/notes.json"] = table_json(NOTE_COLUMNS, rows)
    return files


def note_rows(page: CandidatePage) -> list[list[Any]]:
    """One row an errored note and parent: the minibatch, then accept notes that changed hands."""
    rows = []
    for index, parent in enumerate(page.against):
        rows += [_row("reflect", parent.id, line, index) for line in page.minibatch]
        rows += [_row("accept", parent.id, line, 0) for line in (*parent.won, *parent.lost)]
    return rows


def table_json(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table in the form that MLflow shows as one."""
    return json_text({"columns": list(columns), "data": rows})


def _row(split: str, parent: str, line: NoteLine, index: int) -> list[Any]:
    before, after = line.parents[index], line.child
    change = ""
    if before is not None and after is not None:
        change = (
            "same" if before.outcome == after.outcome else f"{before.outcome} → {after.outcome}"
        )
    label = line.label
    return [
        split,
        parent,
        label.id,
        label.consultation,
        note_name(label),
        _text(before),
        _text(after),
        change,
    ]


def _text(standing: NoteStanding | None) -> str:
    if standing is None:
        return ""
    scores = ("–" if s is None else f"{s:g}" for s in (standing.errored, standing.clean))
    return f"{standing.outcome} ({' / '.join(scores)})"
