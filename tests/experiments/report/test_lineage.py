"""The lineage page and the tree in the terminal, read without a browser."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from rich.console import Console
from tests.support.made_runs import RUN_ID, Plan, make_run
from tests.support.pages import Page

from heldout.experiments.report import write_lineage
from heldout.experiments.report.lineage import lineage_page
from heldout.experiments.report.lineage_tree import draw, lineage_view
from heldout.experiments.report.reflections import reflections_of
from heldout.experiments.report.text import TextPolicy
from heldout.gepa.record.run import load_run
from heldout.gepa.reward import win_value


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run") / "run", Plan(iterations=15))


@pytest.fixture(scope="module")
def view(run):
    return load_run(run)


def _data(text):
    return json.loads(next(body for kind, body in Page(text).scripts if kind == "application/json"))


def test_every_candidate_is_a_node_and_every_parent_an_edge(run, view):
    page = Page(write_lineage(run).read_text("utf-8"))
    ids = [value for name, value in page.attributes if name == "data-id"]
    assert ids == list(view.candidates)
    edges = [value for name, value in page.attributes if name == "data-to"]
    assert edges == [id_ for id_, b in view.candidates.items() for _ in b.parents]


def test_the_data_of_the_page_is_the_journals(run, view):
    data = _data(lineage_page(view, reflections_of(run, RUN_ID), TextPolicy.FULL))
    assert data["winner"] == view.winner.id
    for entry in data["candidates"]:
        body = view.candidates[entry["id"]]
        assert entry["block"] == body.block
        assert entry["parents"] == list(body.parents)
        assert entry["leads"] == view.leads.get(body.id, 0)
        scores = view.accept_scores(body.id)
        if scores is None:
            assert entry["wins"] is None
            continue
        values = [win_value(view.labels[note[0]], scores) for note in data["notes"]]
        assert [int(digit) / 2 for digit in entry["wins"]] == values


def test_under_hashes_no_prompt_stands_in_the_page(run, view):
    reflections = reflections_of(run, RUN_ID)
    assert "cough began" in lineage_page(view, reflections, TextPolicy.FULL)
    assert "cough began" not in lineage_page(view, reflections, TextPolicy.HASHES)


def test_the_page_is_one_file_that_loads_nothing(run, view):
    page = Page(lineage_page(view, reflections_of(run, RUN_ID), TextPolicy.FULL))
    assert not [v for name, v in page.attributes if name in ("src", "href")]
    assert [kind for kind, _ in page.scripts] == ["application/json", None]


def test_five_hundred_candidates_are_drawn_in_a_page_of_bounded_size(long_run):
    view = load_run(long_run)
    text = lineage_page(view, reflections_of(long_run, RUN_ID), TextPolicy.FULL)
    assert len(text) < 16_000_000
    assert len(_data(text)["candidates"]) == 500
    assert "left out for size" in text


def _printed(renderable) -> str:
    console = Console(file=io.StringIO(), width=120, force_terminal=False)
    console.print(renderable)
    return console.file.getvalue()


def test_the_tree_names_every_candidate_once_and_the_winner(run, view):
    text = _printed(lineage_view(run))
    for id_ in view.candidates:
        assert sum(line.lstrip(" │├└─").startswith(f"{id_} ") for line in text.splitlines()) == 1
    winner = next(line for line in text.splitlines() if line.endswith("winner"))
    assert f"{view.winner.id} " in winner
    assert "Emitted: " in text
    assert "simulated" in text


def test_rejected_candidates_can_be_left_out(run):
    assert "rejected: " in _printed(lineage_view(run))
    short = _printed(lineage_view(run, rejected=False))
    assert "rejected: " not in short
    assert " winner" in short


def test_the_terminal_gets_no_markup_and_no_control_marks(tmp_path):
    run = make_run(tmp_path / "run", Plan(iterations=3, name="plain"))
    view = load_run(run)
    view.candidates["c00"] = replace(view.candidates["c00"], name="[red]\x1b[2J\u202e")
    text = _printed(draw(view))
    assert "[red]⟦U+001B⟧[2J⟦U+202E⟧" in text


def test_a_run_without_a_decision_has_a_lineage_too(tmp_path):
    run = make_run(tmp_path / "run", Plan(iterations=4, stop_after=2))
    assert "No decision: stopped (stop_requested) after 2 iterations" in _printed(lineage_view(run))
    assert write_lineage(run).is_file()
