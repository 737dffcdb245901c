"""The journal has one reader: no line of it is taken apart outside `gepa/record`.

The first tests read the sources, the last one watches who opens the file while a run is read.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.made_runs import Plan, make_run

from heldout.experiments.report import write_lineage, write_report
from heldout.experiments.report.lineage_tree import lineage_view
from heldout.experiments.report.pages import run_files
from heldout.experiments.report.text import TextPolicy
from heldout.gepa.record.run import load_run

ROOT = Path(__file__).parents[3]
FOLDERS = ("gepa", "students", "reflectors", "splits", "experiments", "src/heldout")
RECORD = ROOT / "gepa" / "record"
READS = {"read_text", "read_bytes", "open", "load", "loads", "safe_load"}


def offences(source: str) -> list[str]:
    """What in a module's source takes journal lines apart, with line numbers."""
    return [f"line {line}: {what}" for line, what in _offences(ast.parse(source))]


def _offences(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(value=ast.Attribute(attr="body")):
                yield node.lineno, "an event's body is subscripted"
            case ast.Call(func=ast.Attribute(attr="get", value=ast.Attribute(attr="body"))):
                yield node.lineno, "an event's body is read by key"
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)) if name in READS:
                if "journal" in ast.unparse(node).lower():
                    yield node.lineno, "the journal is read"
            case ast.Compare() if any(_is_kind(end) for end in (node.left, *node.comparators)):
                if any(_is_raw(end) for end in (node.left, *node.comparators)):
                    yield node.lineno, "the kind of a raw line is compared"


def _is_kind(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and ast.unparse(node.value).endswith("EventKind")


def _is_raw(node: ast.expr) -> bool:
    """True for `x[…]` and `x.get(…)`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Attribute) and node.func.attr == "get"
    return isinstance(node, ast.Subscript)


def test_no_module_outside_the_record_takes_a_line_apart() -> None:
    paths = [
        path
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        if not path.resolve().is_relative_to(RECORD)
    ]
    assert len(paths) > 200
    found = {path.relative_to(ROOT).as_posix(): offences(path.read_text("utf-8")) for path in paths}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        'scores = event.body["scores"]',
        'event.body.get("scores")',
        "lines = (run_dir / 'journal.jsonl').read_text().splitlines()",
        "first = json.loads(journal[0])",
        "with open(run.journal) as file: ...",
        'gates = [line for line in lines if line["kind"] == EventKind.GATE]',
        'gates = [line for line in lines if EventKind.GATE is line.get("kind")]',
    ],
)
def test_what_takes_a_line_apart_is_found(source: str) -> None:
    assert len(offences(source)) == 1


@pytest.mark.parametrize(
    "source",
    [
        "estimate = run.gate.difference.estimate",
        "gates = [e for e in events if e.kind is EventKind.GATE]",
        "journal = RunJournal(run_dir / 'journal.jsonl')",
    ],
)
def test_what_reads_a_run_is_not(source: str) -> None:
    assert offences(source) == []


READERS = {"heldout.gepa.record.journal", "heldout.splits.chain"}
COPIER = "heldout.experiments.report.pages"
"""Sends the file along whole, as it is."""


def test_only_the_journal_opens_the_file(tmp_path: Path) -> None:
    run_dir = make_run(tmp_path / "run", Plan(iterations=2))
    openers: set[str] = set()
    watching = True

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if watching and event == "open" and str(arguments[0]) == str(run_dir / "journal.jsonl"):
            openers.add(_caller())

    sys.addaudithook(hook)
    try:
        write_report(run_dir)
        write_lineage(run_dir)
        lineage_view(run_dir)
        run_files(run_dir, load_run(run_dir), TextPolicy.FULL)
    finally:
        watching = False
    assert openers & READERS
    assert openers <= {*READERS, COPIER}


def _caller() -> str:
    """The nearest module of Heldout on the stack."""
    frame = sys._getframe()
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name.startswith("heldout."):
            return name
        frame = frame.f_back
    return ""
