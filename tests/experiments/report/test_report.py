"""A report says what the journal says: read back and compared, figure by figure."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.support.made_runs import Plan, make_run
from tests.support.pages import Page, markdown_tables

from heldout.experiments.report import write_report
from heldout.experiments.report.caveats import caveats
from heldout.experiments.report.compared import compared
from heldout.experiments.report.decision import worded
from heldout.experiments.report.figures.paired import slice_figure
from heldout.experiments.report.words import interval_text, number, percent, thousands
from heldout.gepa.record.remarks import ResumedEvent
from heldout.gepa.record.run import load_run
from heldout.splits.benchmark import CleanMeans
from heldout.splits.errors import BadInput, JournalBroken

PLANS = {
    "emitted": Plan(iterations=10),
    "refused": Plan(iterations=12, gain=0.08),
    "not_confirmed": Plan(iterations=0),
    "exploratory": Plan(iterations=10, exploratory=True),
    "replicates": Plan(iterations=8, replicates=3, flags=True),
    "stopped": Plan(iterations=8, stop_after=4),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    made = {name: make_run(folder / name, plan) for name, plan in PLANS.items()}
    for run in made.values():
        write_report(run)
    return made


@pytest.fixture(params=PLANS)
def reported(request, runs):
    """View, page and Markdown of one kind of run."""
    run = runs[request.param]
    page = Page((run / "report.html").read_text("utf-8"))
    return load_run(run), page, (run / "report.md").read_text("utf-8")


def _gate(view):
    gate = view.gate
    return gate if gate is not None and gate.heldout else None


def test_the_plans_end_as_their_names_say(runs):
    decisions = {name: load_run(run).decision for name, run in runs.items()}
    assert decisions == {
        "emitted": "emitted",
        "refused": "refused",
        "not_confirmed": "not_confirmed",
        "exploratory": "refused",
        "replicates": "emitted",
        "stopped": None,
    }


def test_the_decision_comes_first_and_is_the_journals(reported):
    view, page, text = reported
    first = {"emitted": "Emitted", "refused": "Refused", "not_confirmed": "Not confirmed"}
    word = first.get(view.decision or "", "No decision")
    assert ("data-decision", view.decision or "") in page.attributes
    assert text.splitlines()[2].startswith(f"**{word}: ")
    assert f"{word}: " in page.text[:200]


def test_intervals_are_the_journals(reported):
    view, page, text = reported
    gate = _gate(view)
    if gate is None:
        return
    assert interval_text(gate.difference, sign=True) in page.text
    for verdict in gate.verdicts:
        row = next(
            r for r in page.tables["What every rule would have said"] if verdict.rule in r[0]
        )
        ships = "ships" if verdict.ships else "does not ship"
        assert row[1:] == [
            ships,
            interval_text(verdict.interval, sign=True),
            number(verdict.p, 4),
        ]
        assert row in markdown_tables(text)["What every rule would have said"]


def test_measures_of_both_blocks_on_both_splits_are_the_journals(reported):
    view, page, text = reported
    winner, gate = view.winner, _gate(view)
    if winner is None:
        return
    rows = {row[0]: row[1:] for row in page.tables["All measures"]}
    shown = [winner.accept.baseline, winner.accept.winner]
    if gate is not None:
        shown += [gate.heldout.baseline, gate.heldout.winner]
    width = len(shown)
    assert rows["paired omissions"][:width] == [number(m.paired_omissions) for m in shown]
    frozen = [percent(m.at_threshold.detection) for m in shown]
    assert rows["detection at the frozen threshold"][:width] == frozen
    assert rows["swept detection"][:width] == [percent(m.swept.detection) for m in shown]
    assert markdown_tables(text)["All measures"] == page.tables["All measures"]


def test_looks_and_spend_are_the_journals(reported):
    view, page, text = reported
    looks = [row[1] for row in page.tables["Looks at this partition"][1:]]
    assert looks == [look.look for look in view.looks]
    spent = view.spent
    if spent is not None:
        row = next(r for r in page.tables["What it cost"] if r[0] == "in all")
        assert row[1:] == [
            thousands(spent.calls),
            thousands(spent.tokens),
            number(spent.usd, 4),
        ]
    assert "Looks at this partition" in markdown_tables(text)


def test_spend_by_purpose_sums_to_the_whole(runs):
    page = Page((runs["emitted"] / "report.html").read_text("utf-8"))
    rows = page.tables["What it cost"][1:]
    calls = [int(row[1].replace("\u202f", "")) for row in rows]
    assert sum(calls[:-1]) == calls[-1]
    assert rows[-2][0] == "reflector"
    assert calls[-2] == 10


def test_caveats_stand_in_both_and_come_from_facts(reported):
    view, page, text = reported
    for caveat in view.partition.caveats:
        assert caveat[1:] in page.text
        assert caveat[1:] in text
    gate = _gate(view)
    unresolved = [s for s in gate.sides if s.state == "not_resolvable"] if gate else []
    for side in unresolved:
        assert f"Not resolvable: {worded(view, side.sentence)}" in page.text
    assert ("Exploratory: " in page.text) is bool(gate and gate.heldout.exploratory)
    assert ("There is no decision" in page.text) is (view.decision is None)
    assert ("so the run-to-run spread is not known" in page.text) is bool(
        gate and len(gate.run_to_run.winner.values) == 1
    )


def test_caps_raised_after_the_start_are_named(runs):
    view = load_run(runs["stopped"])
    for raised in (("budget.calls=900",), (), ("budget.usd=3",)):
        resumed = ResumedEvent(**{**vars(view.opened), "raised": raised})
        view.add(replace(view.events[-1], body=resumed))
    assert "Caps were raised after the start: budget.calls=900, budget.usd=3." in caveats(
        view, None
    )


def test_optimism_is_accept_minus_heldout(runs):
    run = runs["emitted"]
    view, page = load_run(run), Page((run / "report.html").read_text("utf-8"))
    gate, winner = view.gate, view.winner
    seen = winner.accept.winner.paired_omissions
    seen -= gate.heldout.winner.paired_omissions
    rows = {row[0]: row[1] for row in page.tables["Optimism of accept"]}
    assert float(rows["accept minus held-out, winner"].replace("−", "-")) == pytest.approx(
        seen, abs=6e-4
    )


def test_every_figure_has_its_table_and_the_word_count_control(runs):
    page = Page((runs["emitted"] / "report.html").read_text("utf-8"))
    titles = {
        "Accept against held-out",
        "Thresholds on held-out",
        "By trace level, severity and class",
        "Scores of clean and errored notes",
        "Scores against note length",
        "The search on accept",
        "Reward beside separation",
        "What it cost",
    }
    assert titles <= set(page.tables)
    assert page.tags.count("svg") == page.tags.count("figure") == len(titles)
    control = next(r for r in page.tables["Scores against note length"] if r[0] == "counting words")
    assert float(control[3]) == 1.0


def test_reward_and_separation_of_every_entry(runs):
    run = runs["emitted"]
    page, view = Page((run / "report.html").read_text("utf-8")), load_run(run)
    entries = [b for b in view.entered if b.minibatch]
    rows = page.tables["Reward beside separation"][1:]
    assert [row[0] for row in rows] == [b.id for b in entries]
    for row, body in zip(rows, entries, strict=True):
        change = body.minibatch.child_separation - body.minibatch.parent_separation
        assert float(row[2].replace("−", "-")) == pytest.approx(change, abs=6e-4)


def test_flags_on_unedited_notes_are_not_called_false_alarms(tmp_path):
    for means in CleanMeans:
        name = "false alarms" if means is CleanMeans.VERIFIED else "flags on unedited notes"
        run = make_run(tmp_path / means, Plan(iterations=6, clean_means=means, caveats=()))
        write_report(run)
        for file in ("report.html", "report.md"):
            text = (run / file).read_text("utf-8")
            assert name in text
            assert ("false alarms" in text) is (means is CleanMeans.VERIFIED)


def test_simulated_results_are_called_simulated(runs, tmp_path):
    assert "Simulated result" in Page((runs["emitted"] / "report.html").read_text("utf-8")).text
    real = make_run(tmp_path / "real", Plan(iterations=3, model="openai/gpt-5", caveats=()))
    view = load_run(real)
    assert view.simulated, "a simulated reflector makes a result simulated too"


def test_nothing_is_loaded_and_nothing_runs(runs):
    for run in runs.values():
        page = Page((run / "report.html").read_text("utf-8"))
        assert page.scripts == []
        assert not [v for name, v in page.attributes if name in ("src", "href")]
        assert "link" not in page.tags


def test_a_report_is_computed_from_the_journal_alone(runs, tmp_path):
    run = runs["emitted"]
    (tmp_path / "journal.jsonl").write_bytes((run / "journal.jsonl").read_bytes())
    write_report(tmp_path)
    for name in ("report.html", "report.md"):
        assert (tmp_path / name).read_bytes() == (run / name).read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "journal.jsonl",
        "report.html",
        "report.md",
    ]


def test_no_run_and_a_damaged_journal_are_named(tmp_path, runs):
    with pytest.raises(BadInput, match="no run directory"):
        write_report(tmp_path)
    text = (runs["emitted"] / "journal.jsonl").read_text("utf-8")
    (tmp_path / "journal.jsonl").write_text(
        text.replace('"decision":"emitted"', '"decision":"refused"')
    )
    with pytest.raises(JournalBroken):
        write_report(tmp_path)


def test_slices_of_an_omission_page_hold_omissions_and_no_row_has_two_names(runs):
    blocks = compared(load_run(runs["emitted"]))
    assert blocks.primary == "omission"
    labels = blocks.measured[0].on_heldout.tables[0].labels
    omissions = sum(label.note_class.is_omission for label in labels)
    assert omissions < sum(not label.is_clean for label in labels)
    rows = slice_figure(blocks).table.rows
    names = [(row[0], row[1]) for row in rows]
    assert not {"add", "change"} & {value for _, value in names}
    assert ("trace level", "complete") in names
    assert ("class", "omit-complete") not in names
    assert len(set(names)) == len(names)
    for axis in {axis for axis, _ in names}:
        counts = [row[3].split(" / ") for row in rows if row[0] == axis]
        assert sum(int(n) for count in counts for n in count) <= omissions
