"""Whether a winner can be used as a flag, whatever it does for the ranking."""

from __future__ import annotations

import pytest
from tests.support.score_tables import build, with_scores

from heldout.gepa.gate.decide import GateSettings, decide, pre_gate
from heldout.gepa.gate.decision import Finding
from heldout.gepa.gate.rules import StudentisedRule
from heldout.gepa.gate.usable import FlagTest, Usable
from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.rates.counts import Count

FLAGS = FlagTest(pairs="omission", cap=0.1, alpha=0.025, rule=StudentisedRule(seed=1))


def flagging(caught: int, clean: int, groups: int = 40, omissions: int = 2):
    """A table below 5 on the omissions of `caught` consultations and the clean notes of `clean`."""
    return build(
        *[
            (
                4 if k < clean else 9,
                [*[("omit", 3 if groups - k <= caught else 9)] * omissions, ("add", 9)],
            )
            for k in range(groups)
        ]
    )


def usable(table, words=None, **changes) -> Usable:
    flags = FlagTest(**{**vars(FLAGS), **changes})
    counted = None if words is None else Judged.once(words, threshold=5)
    return flags.usable(Judged.once(table, threshold=5), counted)


def test_a_block_that_flags_omissions_and_few_clean_notes_is_usable() -> None:
    found = usable(flagging(16, 4), flagging(8, 4))
    assert (found.usable, found.reason) == (True, None)
    assert (found.detection, found.flags, found.allowed) == (Count(32, 80), Count(4, 40), 4)
    assert found.above_clean.estimate == pytest.approx(0.4 - 0.1)
    assert found.above_clean.low > 0
    assert found.above_words.estimate == pytest.approx(0.2)
    assert found.sentence.startswith("usable as a flag; at its frozen threshold it flags 32 of 80")
    assert "4 of 40 clean notes [0.0" in found.sentence
    assert ", 4 allowed;" in found.sentence
    assert found.detection_interval.low < 0.4 < found.detection_interval.high
    assert found.flags_interval.low < 0.1 < found.flags_interval.high


@pytest.mark.parametrize(
    ("table", "words", "reason"),
    [
        (flagging(30, 5), None, "over_cap"),
        (flagging(40, 40), None, "over_cap"),
        (flagging(4, 4), None, "not_above_clean"),
        (flagging(0, 0), None, "not_above_clean"),
        (flagging(5, 0), None, "not_above_clean"),
        (flagging(16, 4), flagging(16, 0), "not_above_words"),
        (flagging(16, 4), flagging(20, 4), "not_above_words"),
        (flagging(30, 5), flagging(40, 0), "over_cap"),
    ],
)
def test_the_first_ground_against_it_is_named(table, words, reason) -> None:
    found = usable(table, words)
    assert (found.usable, found.reason) == (False, reason)
    assert found.sentence.startswith("not usable as a flag: ")


def test_the_cap_is_in_whole_notes() -> None:
    # 10% of 39 are 3 notes, of 40 they are 4.
    assert usable(flagging(30, 4, groups=40)).reason is None
    assert usable(flagging(30, 4, groups=39)).reason == "over_cap"
    assert usable(flagging(30, 4, groups=39), cap=0.11).reason is None


def test_without_a_threshold_nothing_can_be_flagged() -> None:
    found = FLAGS.usable(Judged.once(flagging(16, 4)), None)
    assert (found.usable, found.reason, found.detection) == (False, "no_threshold", None)


def test_unanswered_notes_are_not_flagged_and_stay_in_the_count() -> None:
    table = flagging(16, 4)
    silent = with_scores(table, [None if s == 3 else s for s in table.scores])
    assert usable(silent).detection == Count(0, 80)
    assert usable(silent).reason == "not_above_clean"


def test_flags_are_the_majority_of_the_replicates() -> None:
    loud, quiet = flagging(16, 4), flagging(0, 0)
    found = FLAGS.usable(Judged((loud, loud, quiet), threshold=5), None)
    assert found.detection == Count(32, 80)
    assert FLAGS.usable(Judged((loud, quiet, quiet), threshold=5), None).detection == Count(0, 80)


def test_a_design_with_a_rule_of_its_own_is_judged_at_the_frozen_threshold() -> None:
    table = flagging(16, 4)
    own = {label.id: True for label in table.labels}
    found = FLAGS.usable(Judged((table,), (own,), threshold=5), None)
    assert (found.detection, found.flags) == (Count(32, 80), Count(4, 40))


def test_a_flag_for_commissions_is_counted_on_commissions() -> None:
    table = build(*[(9, [("omit", 9), ("add", 3 if k < 20 else 9)]) for k in range(40)])
    assert usable(table).detection == Count(0, 40)
    found = usable(table, pairs="commission")
    assert (found.usable, found.detection) == (True, Count(20, 40))
    assert "of 40 commissions" in found.sentence


def test_one_large_consultation_does_not_make_a_flag() -> None:
    table = build(*[(9, [("omit", 3 if k == 0 else 9)] * (60 if k == 0 else 1)) for k in range(40)])
    assert usable(table).detection == Count(60, 99)
    assert usable(table).reason == "not_above_clean"


# -- in the decision -------------------------------------------------------------------------------


def decided(ours, theirs, settings: GateSettings, primary="paired_omissions"):
    sides = [Judged.once(table, threshold=5) for table in (ours, theirs)]
    return decide(*sides, settings, primary=primary, seed=1)


def test_a_better_ranking_that_cannot_flag_is_emitted_unless_use_is_required() -> None:
    ranks = build(*[(9, [("omit", 8), ("omit", 8), ("add", 9)])] * 40)
    ties = with_scores(ranks, [9] * len(ranks.scores))
    found = decided(ranks, ties, GateSettings())
    assert (found.decision, found.finding) == ("emitted", Finding.BETTER)
    assert (found.usable.usable, found.usable.reason) == (False, "not_above_clean")
    required = decided(ranks, ties, GateSettings(require_usable=True))
    assert (required.decision, required.reason) == ("refused", "gate:usable")
    assert required.sentence == "refused: the winner is not shown to be usable as a flag"
    assert required.usable == found.usable
    assert plain(required)["usable"]["reason"] == "not_above_clean"


def test_what_is_not_better_is_refused_for_that_first() -> None:
    same = flagging(0, 0)
    found = decided(same, same, GateSettings(require_usable=True, min_effective=0))
    assert found.reason == "gate"


def test_detection_at_the_cap_decides_where_it_is_primary() -> None:
    settings = GateSettings(side_margins=GateSettings().side_margins)
    found = decided(flagging(16, 4), flagging(4, 4), settings, primary="detection_at_cap")
    assert found.decision == "emitted"
    assert found.difference.estimate == pytest.approx(0.3)
    assert found.winner_minus_baseline == pytest.approx(0.3)
    assert [side.measure for side in found.sides] == [
        "commissions",
        "false_alarms",
        "violations",
        "omissions",
    ]
    # The same pairs do not move the paired figure that much: what is primary decides.
    assert decided(flagging(4, 4), flagging(4, 4), settings, primary="detection_at_cap").reason


def test_the_pre_gate_goes_by_detection_where_that_is_primary() -> None:
    ours, theirs = (Judged.once(flagging(k, 4), threshold=5) for k in (10, 6))
    bought = pre_gate(ours, theirs, GateSettings(), primary="detection_at_cap")
    assert (bought.buys, bought.primary) == (True, pytest.approx(0.1))
    assert not pre_gate(theirs, ours, GateSettings(), primary="detection_at_cap").buys


def test_detection_without_a_threshold_is_no_figure() -> None:
    with pytest.raises(ValueError, match="threshold"):
        pre_gate(
            Judged.once(flagging(1, 0)),
            Judged.once(flagging(1, 0)),
            GateSettings(),
            primary="detection_at_cap",
        )


# -- caveats of the first rank ---------------------------------------------------------------------


def test_a_winner_above_the_baseline_and_no_better_than_chance_says_so() -> None:
    # The baseline is wrong throughout, the winner right in half.
    ours = build(*[(9, [("omit", 8 if k % 2 else 10)] * 2) for k in range(40)])
    theirs = with_scores(ours, [10 if s != 9 else 9 for s in ours.scores])
    found = decided(ours, theirs, GateSettings())
    assert (found.decision, found.finding) == ("emitted", Finding.BETTER)
    assert any("not distinguishable from chance" in line for line in found.sentences)
    sure = decided(build(*[(9, [("omit", 8)] * 2)] * 40), theirs, GateSettings())
    assert not any("chance" in line for line in sure.sentences)
