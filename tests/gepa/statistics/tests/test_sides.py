import pytest
from tests.support.score_tables import build

from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.tests.sides import SideState, side_differences, side_verdict

MEASURES = {"commissions", "false_alarms", "violations", "detection"}


def groups(count, clean, omission, addition):
    return build(*[(clean, [("omit", omission), ("add", addition)])] * count)


def verdicts(candidate, baseline, margin=0.05):
    found = side_differences(candidate, baseline, paired_side="commissions")
    return {n: side_verdict(n, d, margin=margin, level=0.95) for n, d in found.items()}


def test_harm_is_shown_on_each_measure_in_its_own_direction():
    good = groups(60, 9, 4, 4)
    cases = {
        "commissions": groups(60, 9, 4, 9.5),
        "false_alarms": groups(60, 4.5, 4, 4),
        "violations": groups(60, None, 4, 4),
        "detection": groups(60, 9, 8, 4),
    }
    for measure, bad in cases.items():
        worse = verdicts(Judged.once(bad, threshold=5), Judged.once(good, threshold=5))
        better = verdicts(Judged.once(good, threshold=5), Judged.once(bad, threshold=5))
        assert worse[measure].state is SideState.HARM, measure
        assert "is shown" in worse[measure].sentence
        assert better[measure].state is not SideState.HARM, measure
        assert set(worse) == MEASURES


def test_equal_judges_are_cleared_with_many_consultations_and_unresolved_with_few():
    for count, state in ((12, SideState.NOT_RESOLVABLE), (90, SideState.CLEARED)):
        same = Judged.once(groups(count, 9, 4, 4), threshold=5)
        for verdict in verdicts(same, same).values():
            assert verdict.state is state
            assert verdict.n >= count
    assert (
        "not resolvable with n = 12"
        in verdicts(*[Judged.once(groups(12, 9, 4, 4), threshold=5)] * 2)["detection"].sentence
    )


def test_the_reach_is_the_largest_harm_that_fits():
    few = Judged.once(groups(12, 9, 4, 4), threshold=5)
    assert verdicts(few, few)["violations"].reach == pytest.approx(1 - 0.025 ** (1 / 12))


def test_without_a_fixed_rule_flags_are_not_compared():
    judge = Judged.once(groups(90, 9, 4, 4))
    found = verdicts(judge, judge)
    assert found["detection"].interval is None
    assert found["detection"].state is SideState.NOT_RESOLVABLE
    assert "nothing to compare" in found["detection"].sentence
    assert found["commissions"].state is SideState.CLEARED


def test_a_rule_of_the_design_goes_before_a_threshold():
    table = groups(30, 9, 4, 4)
    flags = {label.id: label.is_clean for label in table.labels}
    found = verdicts(Judged.once(table, flags, threshold=5), Judged.once(table, threshold=5))
    assert found["false_alarms"].interval.estimate == 1
    assert found["detection"].interval.estimate == -1


def test_replicates_flag_by_strict_majority():
    low, high = groups(30, 9, 4, 4), groups(30, 9, 8, 4)
    baseline = Judged.once(high, threshold=5)
    two_of_three = verdicts(Judged((low, low, high), threshold=5), baseline)
    one_of_two = verdicts(Judged((low, high), threshold=5), baseline)
    assert two_of_three["detection"].interval.estimate == 1
    assert one_of_two["detection"].interval.estimate == 0


def test_json_holds_every_field():
    judge = Judged.once(groups(12, 9, 4, 4), threshold=5)
    body = plain(verdicts(judge, judge)["detection"])
    assert set(body) == {
        "measure", "state", "margin", "n", "consultations", "interval", "reach", "sentence"
    }  # fmt: skip
    assert body["state"] == "not_resolvable"


def test_flags_and_replicates_must_fit():
    table = groups(3, 9, 4, 4)
    with pytest.raises(ValueError, match="at least one score table"):
        Judged(())
    with pytest.raises(ValueError, match="1 sets of flags beside 2 tables"):
        Judged((table, table), ({},))
    with pytest.raises(ValueError, match="same notes"):
        Judged((table, groups(4, 9, 4, 4)))
