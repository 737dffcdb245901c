import numpy as np
from tests.benchmarks.calibration import simulated_replicates
from tests.benchmarks.realised import Prediction, Sizes, predictions, predictions_text

from heldout.experiments.analysis.power import Estimate
from heldout.gepa.statistics.rates.paired import paired
from heldout.students.simulated import JUDGE_ID, SimulatedJudge


def test_power_predicts_what_simulated_judges_do() -> None:
    sizes = Sizes(population=40, pilot=40, draws=2_000, again=12, budgets=(750, 1_050))
    found = predictions(sizes, (20,), seed=3)
    assert len({p.effect for p in found}) > 1
    for one in found:
        assert abs(one.gap_in_errors) < 4
        assert 0 <= one.realised.value <= 1
    # More budget finds more, so the true difference and its power rise together.
    order = np.argsort([p.effect for p in found])
    realised = np.array([p.realised.value for p in found])[order]
    assert realised[-1] > realised[0]


def test_predictions_print_as_a_table() -> None:
    one = Prediction(900, 0.05, 20, Estimate(0.3, 0.03), Estimate(0.35, 0.04))
    assert round(one.gap_in_errors, 9) == 1
    assert "| +0.050 | 20 | 0.300 ±0.030 | 0.350 ±0.040 | +1.0 |" in predictions_text([one])


def test_replicates_differ_by_their_seeds_alone() -> None:
    first = simulated_replicates(SimulatedJudge(), JUDGE_ID, consultations=6, replicates=2, seed=4)
    again = simulated_replicates(SimulatedJudge(), JUDGE_ID, consultations=6, replicates=2, seed=4)
    assert first == again
    assert first[0].labels == first[1].labels
    assert first[0].scores != first[1].scores
    assert paired(first[0], "errored").n == int((~first[0].clean).sum())
