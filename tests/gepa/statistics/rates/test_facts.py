import pytest

from heldout.gepa.statistics.rates.facts import (
    NAMING_LEVELS,
    FactGrades,
    containment,
    coverage,
    facts_captured,
    facts_missed,
    names_the_fact,
    per_fact_flag,
    weighted_capture,
)
from heldout.splits.benchmark import Severity

SEVERITIES = {"a": Severity.CRITICAL, "b": Severity.SUPPORTING, "c": Severity.PERIPHERAL}


def test_capture_weighs_by_severity():
    verdicts = {"a": "full", "b": "partial", "c": "absent"}
    assert coverage(verdicts) == pytest.approx(2 / 3)
    assert weighted_capture(verdicts) == pytest.approx(0.5)
    assert weighted_capture(verdicts, SEVERITIES) == pytest.approx(5 / 7)
    assert weighted_capture({}) is None
    assert coverage({}) is None
    with pytest.raises(ValueError, match="none of full"):
        coverage({"a": "yes"})
    with pytest.raises(KeyError):
        weighted_capture({"z": "full"}, SEVERITIES)


@pytest.mark.parametrize("absent", ["a", "b", "c"])
def test_the_per_fact_rule_looks_at_the_grades_it_is_given(absent):
    verdicts = {name: "absent" if name == absent else "full" for name in "abc"}
    assert per_fact_flag(verdicts, SEVERITIES) == (absent == "a")
    wider = frozenset({Severity.CRITICAL, Severity.SUPPORTING})
    assert per_fact_flag(verdicts, SEVERITIES, grades=wider) == (absent in "ab")


def test_a_partial_critical_fact_is_not_absent():
    assert not per_fact_flag({"a": "partial"}, SEVERITIES)


def test_facts_captured_and_missed_are_averaged_over_runs_and_then_rounded():
    runs = [FactGrades(7, 2, 1), FactGrades(6, 2, 2)]
    assert facts_captured(runs[:1]) == 80
    assert facts_captured(runs) == 75
    assert facts_missed(runs) == 15
    # Each run would round to 67 and 33; their average, 50, is what is rounded.
    assert facts_captured([FactGrades(2, 0, 1), FactGrades(1, 0, 2)]) == 50
    assert facts_captured([FactGrades(1, 0, 7)]) == 13
    assert facts_captured([FactGrades(0, 0, 0)]) is None
    assert facts_missed([]) is None


def test_containment_is_of_the_shorter_text():
    assert containment("Penicillin allergy", "allergy to penicillin, rash in 2019") == 1
    assert containment("no fever today", "fever and cough for three days") == pytest.approx(1 / 3)
    assert containment("", "fever") == 0


def test_a_flag_names_the_fact_at_a_stated_level():
    fact = "takes ramipril five milligrams daily"
    reports = ["nothing about smoking", "dose of ramipril five missing"]
    assert containment(reports[1], fact) == pytest.approx(2 / 5)
    assert [names_the_fact(reports, fact, level) for level in NAMING_LEVELS] == [True, True, False]
    assert not names_the_fact([], fact, 0.3)
