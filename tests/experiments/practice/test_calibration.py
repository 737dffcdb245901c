"""The promises of a calibration, over many simulated deployments with clustered clean notes."""

import math

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from heldout.experiments.practice.calibration import NoteScore, calibrate, one_a_consultation
from heldout.experiments.practice.drift import check_drift
from heldout.experiments.practice.promises import (
    Promise,
    advice,
    allowed_flags,
    needed,
    smallest_rate,
)
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.splits.errors import BadInput

DEPLOYMENTS = 500
BETWEEN, WITHIN = 1.2, 0.3
"""Spread of consultations, and of notes inside one: notes of a consultation are much alike."""
STEP = 0.1
MOST_NOTES = 5


def clean_notes(rng, consultations):
    """Clean notes of a deployment, one to five a consultation, scored in tenths."""
    owner = np.repeat(np.arange(consultations), rng.integers(1, MOST_NOTES + 1, consultations))
    centre = 8 + BETWEEN * rng.standard_normal(consultations)
    scores = np.round((centre[owner] + WITHIN * rng.standard_normal(owner.size)) / STEP) * STEP
    return [
        NoteScore(f"n{row}", f"c{number:04d}", float(score))
        for row, (number, score) in enumerate(zip(owner, scores, strict=True))
    ]


def true_rate(threshold):
    """The exact share of clean notes of that deployment that score below `threshold`."""
    edge = threshold - STEP / 2
    return float(scipy.special.ndtr((edge - 8) / math.hypot(BETWEEN, WITHIN)))


def realised(promise, consultations, independent=False):
    """True false-alarm rates over deployments; `independent` treats every note as one."""
    rates = []
    for number in range(DEPLOYMENTS):
        rng = generator(7, "deployment", consultations, number)
        notes = clean_notes(rng, consultations)
        if independent:
            notes = [NoteScore(n.note, f"{n.consultation}/{n.note}", n.score) for n in notes]
        threshold = calibrate(notes, promise).threshold
        assert threshold is not None
        rates.append(true_rate(threshold))
    return rates


def two_errors(share):
    return 2 * math.sqrt(share * (1 - share) / DEPLOYMENTS)


@pytest.mark.parametrize("consultations", [60, 100])
def test_with_the_binomial_bound_the_target_is_rarely_exceeded(consultations):
    promise = Promise(0.05, 0.95)
    rates = realised(promise, consultations)
    over = sum(rate > promise.false_alarms for rate in rates) / DEPLOYMENTS
    assert over <= 0.05 + two_errors(0.05)


def test_with_conformal_the_mean_is_at_most_the_target():
    promise = Promise(0.1, method="conformal")
    rates = realised(promise, 60)
    mean = sum(rates) / DEPLOYMENTS
    spread = math.sqrt(sum((rate - mean) ** 2 for rate in rates)) / DEPLOYMENTS
    assert mean <= 0.1 + 2 * spread
    assert sum(rate > 0.1 for rate in rates) > 0.1 * DEPLOYMENTS  # the weaker promise shows


def test_notes_of_a_consultation_taken_for_independent_break_the_promise():
    """The control: without the consultation as unit the same bound fails on the same notes."""
    promise = Promise(0.1, 0.95)
    over = [rate > 0.1 for rate in realised(promise, 60, independent=True)]
    assert sum(over) / DEPLOYMENTS > 0.05 + 2 * two_errors(0.05)


def test_fifty_nine_consultations_are_the_fewest_for_five_per_cent():
    promise = Promise(0.05, 0.95)
    assert needed(promise) == 59
    assert allowed_flags(58, promise) is None
    assert allowed_flags(59, promise) == 0
    assert needed(Promise(0.05, method="conformal")) == 19


@given(
    st.floats(0.005, 0.4),
    st.floats(0.5, 0.99),
    st.integers(0, 25),
    st.sampled_from(["binomial", "conformal"]),
)
def test_needed_is_the_least_number_that_allows_the_flags(rate, confidence, flagged, method):
    promise = Promise(rate, confidence, method)
    least = needed(promise, flagged)
    assert (allowed_flags(least, promise) or 0) >= flagged
    fewer = allowed_flags(least - 1, promise)
    assert fewer is None or fewer < flagged


def test_advice_grows_more_sensitive_with_more_consultations():
    found = advice(Promise(0.05))
    assert [need.consultations for need in found] == sorted({n.consultations for n in found})
    assert all(need.expected < 0.05 for need in found)
    assert found[-1].expected > found[0].expected


def test_too_few_notes_are_said_to_be_too_few():
    notes = [NoteScore("n", f"c{n}", 5.0 + n) for n in range(30)]
    found = calibrate(notes, Promise(0.05))
    assert found.threshold is None
    assert found.flagged_all_notes.k == 0
    assert "30 consultations with clean notes: too few" in found.sentences[0]
    assert "at least 59" in found.sentences[0]
    assert f"{100 * smallest_rate(30, 0.95):.1f}%" in found.sentences[1]


def test_many_notes_of_few_consultations_do_not_count_as_many():
    notes = [NoteScore(f"n{k}", f"c{k % 20}", float(k)) for k in range(400)]
    assert calibrate(notes, Promise(0.05)).threshold is None


def test_which_note_stands_for_a_consultation_does_not_depend_on_scores_or_order():
    notes = [NoteScore(f"n{k}", f"c{k % 7}", float(k)) for k in range(50)]
    other = [NoteScore(n.note, n.consultation, -n.score) for n in reversed(notes)]
    first = [n.note for n in one_a_consultation(notes)]
    assert first == [n.note for n in one_a_consultation(other)]


def test_the_rule_below_ten_of_the_study_is_set_right_by_own_notes():
    """96 of 100 benchmark notes at 10, 56 of 100 of the deployment: «below 10» flags 44 there."""
    benchmark = [NoteScore("n", f"b{k:03d}", 10.0 if k < 96 else 9.0) for k in range(100)]
    own = [
        NoteScore("n", f"o{k:03d}", 10.0 if k < 56 else 9.5 - 0.1 * (k - 56)) for k in range(100)
    ]
    assert sum(note.below(10) for note in benchmark) == 4
    assert sum(note.below(10) for note in own) == 44
    found = calibrate(own, Promise(0.05))
    assert found.flagged.k <= (found.allowed or 0) <= 4
    assert found.threshold is not None
    assert found.threshold < 10


def test_missing_scores_are_never_flagged_and_counted():
    notes = [NoteScore("n", f"c{k:03d}", None if k % 2 else 5.0 + k / 100) for k in range(120)]
    found = calibrate(notes, Promise(0.05))
    assert found.unscored == 60
    assert found.threshold is not None
    assert found.flagged.k <= 1
    assert any("not flagged: 60 clean notes" in line for line in found.sentences)
    nothing = calibrate([NoteScore("n", f"c{k}", None) for k in range(80)], Promise(0.05))
    assert nothing.threshold is None
    assert "no clean note has a score" in nothing.sentences[0]


def test_detection_is_given_by_kind_with_an_interval():
    clean = [NoteScore("n", f"c{k:03d}", 8.0 + k / 1000) for k in range(100)]
    errored = [NoteScore("o", f"c{k:03d}", 7.0, "omission") for k in range(40)]
    errored += [NoteScore("a", f"c{k:03d}", 9.0, "addition") for k in range(40)]
    found = {d.kind: d for d in calibrate(clean, Promise(0.05), errored).detections}
    assert found["omission"].found.rate == 1
    assert found["addition"].found.rate == 0
    assert found["all"].found.n == 80
    assert found["all"].interval is not None
    assert found["all"].interval.low <= 0.5 <= found["all"].interval.high


@pytest.mark.parametrize("rate", [0.0, 1.0, -0.1, float("nan")])
def test_a_promise_outside_its_range_is_refused(rate):
    with pytest.raises(BadInput, match="--false-alarms"):
        Promise(rate)


def drift_of(later, clean=True):
    notes = [NoteScore("n", f"c{k:03d}", 8.0 + (k % 50) / 50) for k in range(200)]
    return check_drift(calibrate(notes, Promise(0.05)), later, clean=clean)


def test_drift_of_a_batch_like_the_first_is_not_seen():
    found = drift_of([NoteScore("n", f"d{k:03d}", 8.0 + (k % 50) / 50) for k in range(100)])
    assert not found.exceeds
    assert not found.moved
    assert found.would_show is not None
    assert 0.05 < found.would_show < 0.25


def test_drift_is_seen_where_scores_fall():
    found = drift_of([NoteScore("n", f"d{k:03d}", 7.6 + (k % 50) / 50) for k in range(100)])
    assert found.exceeds
    assert found.moved
    assert "calibrate again" in found.sentences[0]


def test_unchecked_notes_show_a_shift_but_no_false_alarms():
    found = drift_of([NoteScore("n", f"d{k:03d}", 7.0) for k in range(60)], clean=False)
    assert found.over_target_p is None
    assert not found.exceeds
    assert found.moved


def test_false_drift_alarms_keep_their_level():
    rng = generator(3, "drift")
    notes = [NoteScore("n", f"c{k:04d}", float(rng.normal(8, 1))) for k in range(300)]
    calibrated = calibrate(notes, Promise(0.05))
    rate = float(scipy.special.ndtr(calibrated.threshold - 8))
    assert rate <= 0.05
    alarms = 0
    for _ in range(400):
        later = [NoteScore("n", f"d{k}", float(rng.normal(8, 1))) for k in range(80)]
        alarms += check_drift(calibrated, later, clean=True).exceeds
    assert alarms / 400 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)
