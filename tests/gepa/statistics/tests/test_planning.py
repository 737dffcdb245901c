import numpy as np
from tests.support.score_tables import build, with_scores

from heldout.gepa.statistics.difference import difference
from heldout.gepa.statistics.tests.planning import (
    consultations_needed,
    t_power,
)

RNG = np.random.default_rng(8)
OURS = build(*[(9, [("omit", s) for s in RNG.choice([8, 9, 10], 3, p=[0.4, 0.35, 0.25])])
               for _ in range(30)])  # fmt: skip
DATA = difference(OURS, with_scores(OURS, [9] * len(OURS.scores)))


def test_the_answer_has_the_power_it_promises():
    needed = consultations_needed(DATA, 0.1)
    spread = float(DATA.sums.standard_error) * 30**0.5
    for consultations, enough in ((needed, True), (needed - 1, False)):
        shift = 0.1 / spread * consultations**0.5
        assert (t_power(shift, consultations - 1, 0.025) >= 0.8) == enough


def test_no_number_of_consultations_shows_what_is_not_there():
    assert consultations_needed(DATA, 0.0) is None
    assert consultations_needed(DATA, 0.05, margin=0.05) is None
    assert consultations_needed(DATA, 1e-5) is None
    assert consultations_needed(difference(OURS, OURS), 0.1) is None
    one = difference(build((9, [("omit", 8)])), build((9, [("omit", 9)])))
    assert consultations_needed(one, 0.1) is None


def test_more_wanted_needs_more():
    assert consultations_needed(DATA, 0.1) < consultations_needed(DATA, 0.05)
    assert consultations_needed(DATA, 0.1) < consultations_needed(DATA, 0.1, power=0.9)
    assert consultations_needed(DATA, 0.1) < consultations_needed(DATA, 0.1, alpha=0.0125)
    assert consultations_needed(DATA, 0.1) < consultations_needed(DATA, 0.1, margin=0.03)
