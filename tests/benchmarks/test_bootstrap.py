from tests.benchmarks.bootstrap import CONSULTATIONS, PAIRS, made_difference, measure


def test_both_forms_resample_the_same_thing_and_arrays_are_faster() -> None:
    result = measure(runs=3, resamples=2_000)
    assert result.mean_gap < 0.005
    assert result.ratio > 2
    assert result.peak_mb < 200


def test_the_made_data_has_the_wanted_size() -> None:
    data = made_difference(PAIRS, CONSULTATIONS, seed=1)
    assert (data.n, data.consultations) == (495, 112)
