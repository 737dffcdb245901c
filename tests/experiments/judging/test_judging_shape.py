"""The study's shape on made notes, by the simulated judge, for the mechanical reasons it has.

Holistic judges see what contradicts the transcript and nothing that is missing; judges that
enumerate see what is missing; a fragment hides a gap and a restatement hides it better; and a list
that the budget cannot pay for buys no check.
"""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from tests.benchmarks.judges import (
    FINE,
    INVENTORY,
    judged,
    made_notes,
    real_notes,
    replaced,
)

from heldout.experiments.judging.table import to_markdown
from heldout.students.designs.roster import DESIGNS, ROSTER

HOLISTIC = ("whole_note", "f_score", "fc_score", "f_yes_no", "faithfulness")
ENUMERATING = ("checklist", "coverage", "per_fact_checker", "three_stage", "section_coverage")
RULES = ("three_stage_widened", "union")


@pytest.fixture(scope="module")
def notes():
    return made_notes(24, seed=5)


@pytest.fixture(scope="module")
def roster(notes):
    names = (*HOLISTIC, *ENUMERATING, *RULES, "engineered", "word_count")
    results = judged(notes, 1500, [DESIGNS[name] for name in names])
    return {result.design.name: result.to_json() for result in results}


@pytest.mark.parametrize("name", HOLISTIC)
def test_commissions_stand_above_omissions_for_holistic_judges(roster, name):
    assert roster[name]["paired_commissions"] > roster[name]["paired_omissions"] + 0.1
    assert 0.4 < roster[name]["paired_omissions"] < 0.6


@pytest.mark.parametrize("name", ENUMERATING)
def test_enumerating_judges_stand_above_holistic_ones_on_omissions(roster, name):
    best = max(roster[other]["paired_omissions"] for other in HOLISTIC)
    assert roster[name]["paired_omissions"] > best + 0.05


def test_complete_above_partial_weak_above_partial_strong(roster):
    traces = roster["three_stage"]["by_trace"]
    wins = {key: part["wins"] + part["ties"] / 2 for key, part in traces.items()}
    share = {key: wins[key] / part["n"] for key, part in traces.items()}
    assert share["complete"] > share["partial-weak"] > share["partial-strong"]


def test_uncovered_statements_flag_nearly_every_note_and_the_critical_rule_few(roster):
    natural = roster["coverage"]["at_rule"]["false_alarms"]
    rule = roster["three_stage"]["at_rule"]
    widened = roster["three_stage_widened"]["at_rule"]
    assert natural["k"] >= 0.9 * natural["n"]
    assert rule["false_alarms"]["k"] <= 0.1 * rule["false_alarms"]["n"]
    assert widened["detection"]["k"] > rule["detection"]["k"] > 0
    assert widened["false_alarms"]["k"] >= rule["false_alarms"]["k"]


def test_enumeration_at_a_starved_budget_is_no_better_than_none(notes):
    def omissions(block, tokens):
        blocks = {"whole_note": block}
        [result] = judged(notes, tokens, [DESIGNS["whole_note"]], blocks=blocks)
        return result.to_json()["paired_omissions"]

    assert omissions(INVENTORY, 400) <= omissions(FINE, 400) + 0.03
    assert omissions(INVENTORY, 2500) > omissions(FINE, 2500) + 0.1


def test_nothing_is_broken_and_words_alone_order_complete_omissions(roster):
    assert all(row["violations"]["k"] == 0 for row in roster.values())
    complete = roster["word_count"]["by_trace"]["complete"]
    assert complete["wins"] == complete["n"]


@pytest.mark.skipif("HELDOUT_DATA" not in os.environ, reason="HELDOUT_DATA names no real notes")
def test_the_whole_roster_runs_on_real_notes():
    whole = real_notes(Path(os.environ["HELDOUT_DATA"]))
    groups = sorted({label.consultation for label in whole.labels})[::6]
    some = tuple(note for note in whole.notes if note.consultation in groups)
    results = judged(replace(whole, notes=some), 4000)
    assert [result.design.name for result in results] == [design.name for design in ROSTER]
    assert all(result.to_json()["violations"]["k"] == 0 for result in results)
    assert "flags on unedited notes" in to_markdown(results, simulated=True)


def test_a_table_replaces_what_stands_between_its_markers():
    text = "before\n<!-- made -->\nold\n<!-- end -->\nafter <!-- end -->"
    assert replaced(text, "made", "new") == (
        "before\n<!-- made -->\n\nnew\n<!-- end -->\nafter <!-- end -->"
    )
    with pytest.raises(ValueError, match="no markers"):
        replaced(text, "real", "new")
