from tests.support.score_tables import build

from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import measures, measures_of_table

TABLE = build((9, [("omit", 8), ("add", 10)]), (9, [("omit", 9), ("add", None)]))


def flags(table, *flagged):
    return {label.id: place in flagged for place, label in enumerate(table.labels)}


def test_the_measures_object_is_the_contracts():
    body = plain(measures_of_table(TABLE, flags(TABLE, 1, 3)))
    assert body["paired_omissions"] == 0.75
    assert body["paired_commissions"] == 0.0
    assert body["at_rule"] == {"detection": {"k": 1, "n": 2}, "false_alarms": {"k": 1, "n": 2}}
    assert body["swept"]["detection"] == {"k": 1, "n": 2}
    assert body["swept"]["false_alarms"] == {"k": 0, "n": 2}
    assert body["swept"]["threshold"] == 9
    assert body["violations"] == {"k": 1, "n": 6}


def test_at_rule_is_null_without_a_rule():
    assert measures_of_table(TABLE).at_rule is None
    assert measures_of_table(TABLE).at_threshold is None


def test_a_threshold_frozen_elsewhere_is_not_called_a_rule():
    body = plain(measures(Judged.once(TABLE, threshold=8.5)))
    assert body["at_rule"] is None
    assert body["at_threshold"] == {
        "threshold": 8.5,
        "detection": {"k": 1, "n": 2},
        "false_alarms": {"k": 0, "n": 2},
    }


def test_replicates_average_paired_figures_and_flag_by_majority():
    silent = build((9, [("omit", None), ("add", 8)]), (9, [("omit", 8), ("add", 8)]))
    judge = Judged((TABLE, TABLE, silent), (flags(TABLE, 1), flags(TABLE), flags(TABLE, 1)))
    body = plain(measures(judge))
    assert body["paired_omissions"] == (0.75 + 0.75 + 1.0) / 3
    assert body["at_rule"]["detection"] == {"k": 1, "n": 2}
    assert body["violations"] == {"k": 3, "n": 18}


def test_no_pair_is_null():
    assert measures_of_table(build((9, [("add", 8)]))).paired_omissions is None
