import pytest
from tests.support.published import needs_data, published

from heldout.gepa.statistics.agreement.ledgers import NOT_IDENTIFIABLE, Ledgers


@needs_data
def test_the_published_audit():
    row = published("oracles.json")["four_ledger"]
    audit = Ledgers(
        confirmed=row["confirmed_imports"],
        rejected=row["rejected_imports"],
        added=row["added"],
        planted=row["planted"],
        targets_reviewed=row["targets_reviewed"],
        targets=row["targets"],
    )
    assert round(100 * audit.proposal_yield.rate, 1) == row["proposal_confirmation_yield_percent"]
    assert round(audit.proposal_yield.rate, 3) == 0.710
    assert round(audit.ledger_share.rate, 3) == row["confirmed_share_of_final_ledger"] == 0.218
    bounds = [round(100 * bound, 1) for bound in audit.yield_bounds]
    assert bounds == row["missing_review_bounds_percent"]
    assert round(audit.additions_per_target, 2) == row["additions_per_target"]
    interval = audit.yield_interval()
    assert (round(100 * interval.low, 1), round(100 * interval.high, 1)) == (53.4, 83.9)
    assert audit.precision == audit.recall == NOT_IDENTIFIABLE


def test_an_empty_audit_has_no_figures():
    empty = Ledgers(0, 0, 0, 0, 0, 5)
    assert empty.proposal_yield.rate is None
    assert empty.yield_interval() is None
    assert empty.yield_bounds is None
    assert empty.additions_per_target is None
    with pytest.raises(ValueError, match="more was reviewed"):
        Ledgers(5, 5, 0, 9, 1, 1)
