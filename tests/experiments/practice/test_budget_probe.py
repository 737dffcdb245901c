import json

import pytest
from tests.support.campaigns import run_small
from tests.support.made_runs import Plan, make_run
from tests.support.practice import asking

from heldout.experiments.practice.budget_probe import (
    FILE,
    asks_for_procedure,
    budget_probe,
    chosen_blocks,
    larger,
)
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.rungs import Rung
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.rates.paired import paired
from heldout.students.models.chat import Budget

SEEDS = [
    {"name": "plain", "text": "Read the transcript, then the note, and score the note."},
    {
        "name": "inventory",
        "text": "First list every fact of the transcript; then look each one up in the note. "
        "Give the score with one decimal.",
    },
]
STARVED = {
    "student": {"budget": {"max_tokens": 420}},
    "seeds": SEEDS,
    "search": {"iterations": 2},
}


@pytest.mark.parametrize(
    ("block", "asks"),
    [
        ("List every fact first, then look each one up.", True),
        ("Begin by enumerating the findings.", True),
        ("Go through the note line by line.", True),
        ("Compile an inventory of the facts.", True),
        ("Check the findings one at a time.", True),
        ("Lower the score for each one that you find.", False),
        ("Do not list the facts. Score the note.", False),
        ("Never go through it step by step.", False),
        ("Judge how well the note serves the next clinician.", False),
    ],
)
def test_what_asks_for_a_procedure(block, asks):
    assert asks_for_procedure(block) is asks


def test_leaders_procedures_and_the_baseline_are_probed(tmp_path):
    searched = Run.at(make_run(tmp_path / "run", Plan(iterations=12)))
    chosen = chosen_blocks(searched, top=2, procedures=3)
    assert list(chosen.values())[:2] == ["leads on accept"] * 2
    figures = {c.id: paired(searched.accept_table(c.id)).value for c in searched.entered}
    leaders = sorted(figures, key=lambda name: (-figures[name], name))[:2]
    assert list(chosen)[:2] == leaders
    asking_for = [name for name, why in chosen.items() if why == "asks for a procedure"]
    assert len(asking_for) <= 3
    assert all(asks_for_procedure(searched.candidates[name].block) for name in asking_for)
    assert searched.baseline.id in chosen


def test_a_larger_budget_changes_the_order_after_a_starved_search(tmp_path):
    run = run_small(tmp_path, STARVED).files.path
    rungs = (Rung(Budget(1500)), Rung(Budget(4000)))
    report = budget_probe(load_prompt(str(run)), rungs, asking(seed=5))
    assert report.rungs[0].budget.max_tokens == 420
    order = report.order(2)
    assert order[0] == "c01"
    assert report.order(0)[0] == "c00"
    assert 2 in report.changes
    found = json.loads((run / FILE).read_text("utf-8"))
    assert found == json.loads(json.dumps(report.to_json()))
    assert found["blocks"][0]["figures"][0] is not None
    searched = Run.at(run)
    for probed in report.probed:
        table = searched.accept_table(probed.candidate)
        if table is not None:
            assert probed.figure(0, "omission") == paired(table).value
    assert any("simulated" in line for line in report.sentences)


def test_larger_budgets_keep_the_effort():
    assert [r.budget for r in larger(Budget(500, "low"))] == [
        Budget(1000, "low"),
        Budget(2000, "low"),
    ]
