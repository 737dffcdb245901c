import pytest

from heldout.gepa.statistics.rates.facts import (
    NAMING_LEVELS,
    containment,
    names_the_fact,
    weighted_capture,
)
from heldout.splits.benchmark import Severity

SEVERITIES = {"a": Severity.CRITICAL, "b": Severity.SUPPORTING, "c": Severity.PERIPHERAL}


def test_capture_weighs_by_severity():
    verdicts = {"a": "full", "b": "partial", "c": "absent"}
    assert weighted_capture(verdicts) == pytest.approx(0.5)
    assert weighted_capture(verdicts, SEVERITIES) == pytest.approx(5 / 7)
    assert weighted_capture({}) is None
    with pytest.raises(ValueError, match="none of full"):
        weighted_capture({"a": "yes"})
    with pytest.raises(KeyError):
        weighted_capture({"z": "full"}, SEVERITIES)


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
