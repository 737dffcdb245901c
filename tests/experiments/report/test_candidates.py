"""A candidate's page: what it holds, that it is final when written, that hostile text is inert."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from itertools import takewhile

import pytest
from tests.support.calls import reply, spec
from tests.support.made_runs import RUN_ID, Plan, make_run
from tests.support.pages import Page

from heldout.experiments.report.candidate_files import candidate_files
from heldout.experiments.report.candidates import accept_lines, candidate_page, title
from heldout.experiments.report.pages import COPIED, run_files
from heldout.experiments.report.reflections import NoReflections, StoredReflections, reflections_of
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.tracking.campaign_run import campaign_content
from heldout.experiments.tracking.candidate_run import candidate_content
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run, load_run
from heldout.splits.errors import BadInput
from heldout.students.calls.call import Stage
from heldout.students.calls.store import CallStore

HOSTILE = (
    "<script>window.bad=1</script>\"'><img src=x onerror=window.bad=1> "
    "\u202egnp.exe 🩺 שלום {{note}} ``` | **x**"
)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return make_run(tmp_path_factory.mktemp("run") / "run", Plan(iterations=10))


@pytest.fixture(scope="module")
def view(run):
    return load_run(run)


def _page(view, run, id_, policy=TextPolicy.FULL):
    return candidate_page(view, id_, reflections_of(run, RUN_ID), policy)


def test_titles_read_as_a_lineage(view):
    assert title(view.candidates["c00"]) == "c00 seed plain · accept 0.542"
    merge = next(b for b in view.candidates.values() if b.kind == "merge")
    assert f" merge {'+'.join(merge.parents)} · " in title(merge)


def test_the_minibatch_is_the_journals_before_and_after(view, run):
    body = next(b for b in view.candidates.values() if b.minibatch)
    page = _page(view, run, body.id)
    parent = view.evaluation(Purpose.PARENT, body.parents[0], body.iteration).scores
    child = view.evaluation(Purpose.CHILD, body.id, body.iteration).scores
    errored = {id_ for id_ in parent if not view.labels[id_].is_clean}
    assert {line.label.id for line in page.minibatch} == errored
    for line in page.minibatch:
        assert line.parents[0].errored == parent[line.label.id]
        assert line.child.errored == child[line.label.id]
        assert line.child.clean == child[line.label.twin]


def test_notes_won_and_lost_explain_the_difference_of_the_figures(view):
    """Wins less losses, in half points, is the change of the paired figure where all answered."""
    child = next(b for b in view.entered if b.parents)
    won, lost = accept_lines(view, child.parents[0], child.id)
    value = {"win": 2, "tie": 1, "loss": 0, "no score": 0}
    moved = sum(value[x.child.outcome] - value[x.parents[0].outcome] for x in (*won, *lost))
    before = view.accept_scores(child.parents[0])
    after = view.accept_scores(child.id)

    def points(scores):
        pairs = [(scores[i], scores[view.labels[i].twin]) for i in scores]
        known = [(e, c) for e, c in pairs if e is not None and c is not None]
        return sum(2 * (e < c) + (e == c) for e, c in known)

    clean = sum(view.labels[i].is_clean and after[i] is not None for i in after)
    clean -= sum(view.labels[i].is_clean and before[i] is not None for i in before)
    assert moved == points(after) - points(before) - clean


def test_the_exchange_is_the_call_stores(view, run):
    body = next(b for b in view.candidates.values() if b.kind == "merge")
    (exchange,) = _page(view, run, body.id).exchanges
    (call,) = reflections_of(run, RUN_ID).of(body.iteration)
    assert exchange.stage == "merge"
    assert exchange.prompt.text == call.conversation[0].content
    assert exchange.reply.text == call.reply.text


def test_a_page_written_early_is_final(view, run):
    """What is written while a run is live must not have to be written again."""
    whole = {id_: candidate_files(_page(view, run, id_)) for id_ in view.candidates}
    for id_ in list(view.candidates)[::4]:
        early = Run.of(takewhile(lambda e, id_=id_: e.index <= _index(view, id_), view.events))
        assert candidate_files(_page(early, run, id_)) == whole[id_]


def _index(view, id_):
    return next(e.index for e in view.events if e.kind == "candidate" and e.body.id == id_)


def test_tables_are_in_the_form_that_mlflow_shows(view, run):
    body = next(b for b in view.entered if b.parents)
    table = json.loads(candidate_files(_page(view, run, body.id))["tables/notes.json"])
    assert all(len(row) == len(table["columns"]) for row in table["data"])
    assert {row[0] for row in table["data"]} == {"reflect", "accept"}


def test_a_run_without_its_call_store_still_has_pages(view, tmp_path):
    assert isinstance(reflections_of(tmp_path, RUN_ID), NoReflections)
    page = candidate_page(view, "c03", NoReflections(), TextPolicy.FULL)
    assert page.exchanges == ()
    assert Page(candidate_files(page)["candidate.html"]).tags.count("h1") == 1


def test_a_call_store_that_is_none_is_a_fault_that_names_it(tmp_path):
    (tmp_path / "calls.sqlite").write_text("not a database, but long enough to be read as one")
    with pytest.raises(BadInput, match=r"calls\.sqlite"):
        reflections_of(tmp_path, RUN_ID).of(1)
    with pytest.raises(BadInput, match=r"store\.url"):
        StoredReflections("no address", RUN_ID)


def test_reading_the_call_store_writes_nothing(run):
    before = {path.name: path.read_bytes() for path in run.glob("calls.sqlite*")}
    assert reflections_of(run, RUN_ID).of(3)
    assert {path.name: path.read_bytes() for path in run.glob("calls.sqlite*")} == before


def test_the_call_store_is_read_while_it_is_written(run, tmp_path):
    shutil.copy(run / "calls.sqlite", tmp_path)
    store = CallStore(f"sqlite:///{tmp_path / 'calls.sqlite'}", RUN_ID)
    try:
        store.put(spec("i099", stage=Stage.REFLECT), reply("a late answer"))
        reflections = reflections_of(tmp_path, RUN_ID)
        (late,) = reflections.of(99)
        assert late.reply.text == "a late answer"
        first = spec("i100", stage=Stage.REFLECT)
        store.put(first, reply("no block"))
        assert len(reflections.of(3)) == 1
        store.put(replace(first, attempt=1), reply("a block"))
        assert [call.reply.text for call in reflections.of(100)] == ["no block", "a block"]
    finally:
        store.close()


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    plan = Plan(iterations=6, hostile=HOSTILE, clinical=f"Transcript: {HOSTILE}", name="a.b-c_d")
    return make_run(tmp_path_factory.mktemp("hostile") / "run", plan)


def _pages(run):
    """Every page made of a run, by name."""
    view = load_run(run)
    files = dict(run_files(run, view, TextPolicy.FULL))
    for id_ in view.candidates:
        files |= {f"{id_}/{k}": v for k, v in candidate_files(_page(view, run, id_)).items()}
    return files


def test_hostile_text_is_text_in_every_page(hostile):
    pages = {name: text for name, text in _pages(hostile).items() if name.endswith(".html")}
    assert len(pages) > 8
    shown = 0
    for name, text in pages.items():
        read = Page(text)
        runnable = [body for kind, body in read.scripts if kind != "application/json"]
        assert len(runnable) == (name == "lineage.html"), name
        assert not any("window.bad" in body for body in runnable)
        assert "img" not in read.tags
        assert not [key for key, _ in read.attributes if key.startswith("on")]
        assert "\u202e" not in text
        shown += "window.bad=1" in read.text
    assert shown > 4


def test_nothing_made_of_a_run_acts_on_a_terminal(tmp_path):
    acting = "\x1b[2J\x9b1m\u202e\u2066\x07\x00\x7f\rrm -rf"
    plan = Plan(iterations=4, hostile=acting, clinical=acting, name="made\x1b")
    run = make_run(tmp_path / "run", plan)
    files = {name: text for name, text in _pages(run).items() if name not in COPIED}
    view = load_run(run)
    for id_ in view.candidates:
        content = candidate_content(view, id_, reflections_of(run, "made-0001"), TextPolicy.FULL)
        files |= {f"{id_}: {key}": text for key, text in content.tags.items()}
        files[f"{id_}: note"] = content.note
    parent = campaign_content(view, (), {}, TextPolicy.FULL)
    files |= {**parent.tags, **parent.params, "note": parent.note, "name": parent.name}
    assert len(files) > 80
    for name, text in files.items():
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", text), name
    assert any("⟦U+001B⟧[2J" in text for text in files.values())


def test_hostile_text_is_text_in_markdown(hostile):
    for name, text in _pages(hostile).items():
        if not name.endswith(".md"):
            continue
        outside, fence = [], ""
        for line in text.splitlines():
            if not fence and line.startswith("```"):
                fence = line[: len(line) - len(line.lstrip("`"))]
            elif fence and line == fence:
                fence = ""
            elif not fence:
                outside.append(line)
        assert fence == "", name
        assert "<script" not in "\n".join(outside)


def test_a_page_allows_no_script_but_its_own(hostile):
    for name, text in _pages(hostile).items():
        if name.endswith(".html"):
            policy = next(
                v for k, v in Page(text).attributes if k == "content" and "script-src" in v
            )
            assert "default-src 'none'" in policy
            own = "script-src 'sha256-" if name == "lineage.html" else "script-src 'none'"
            assert own in policy
