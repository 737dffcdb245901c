import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.splits.heldout.looks import (
    Family,
    Look,
    LookKind,
    LookRequest,
    LookResult,
    NoteResult,
    slots,
    standing,
    target_id,
)

SHA = "a" * 64


def look(run, target="t1", block="b1", kind=LookKind.WINNER, family=None) -> Look:
    return Look(f"{target}{block}", run, kind, target, block, {}, family, False, "")


def test_every_part_of_a_look_makes_another_look():
    base = LookRequest(LookKind.WINNER, SHA, "b" * 64, {"samples": 1})
    others = [
        LookRequest(LookKind.WINNER, "c" * 64, "b" * 64, {"samples": 1}),
        LookRequest(LookKind.WINNER, SHA, "c" * 64, {"samples": 1}),
        LookRequest(LookKind.WINNER, SHA, "b" * 64, {"samples": 8}),
    ]
    ids = {base.look_id("h"), base.look_id("g"), *(other.look_id("h") for other in others)}
    assert len(ids) == 5
    as_baseline = LookRequest(LookKind.BASELINE, SHA, "b" * 64, {"samples": 1})
    assert as_baseline.look_id("h") == base.look_id("h")


def test_a_target_is_design_frame_model_and_settings():
    base = target_id("whole_note", SHA, {"model": "m"}, {"max_tokens": 1500})
    assert base == target_id("whole_note", SHA, {"model": "m"}, {"max_tokens": 1500})
    assert base != target_id("whole_note", SHA, {"model": "m"}, {"max_tokens": 4000})
    assert base != target_id("check", SHA, {"model": "m"}, {"max_tokens": 1500})


def test_each_look_takes_a_slot_and_baselines_take_none():
    looks = [look("r1", kind=LookKind.BASELINE), look("r1"), look("r2"), look("r2", block="b2")]
    assert slots(looks) == 3
    assert slots([look("r1", kind=LookKind.OTHER)]) == 1
    # The same look twice by one run cannot be on record; several targets are several looks.
    assert slots([look("r1"), look("r1", target="t2")]) == 2


def test_a_declared_family_shares_its_slots_over_targets():
    looks = [look("r1", "t1", family="f"), look("r2", "t2", family="f")]
    assert slots(looks) == 1
    assert slots([*looks, look("r1", "t1", "b2", family="f")]) == 2
    assert slots([*looks, look("r3", "t1", family="g")]) == 2


def test_others_are_runs_outside_the_run_and_its_family():
    looks = [look("r1", "t1", family="f"), look("r2", "t2", family="f"), look("r3")]
    family = Family("f", ("t1", "t2"))
    for run in ("r1", "r2", "r9"):
        now = standing(looks, 2, run, family)
        assert (now.used, now.by_others, now.others, now.spent) == (2, 1, ("r3",), False)
    assert standing(looks, 1, "r1", family).spent
    stranger = standing(looks, 2, "r4", None)
    assert (stranger.by_others, stranger.others) == (2, ("r1", "r2", "r3"))
    assert stranger.spent


@given(st.lists(st.tuples(st.sampled_from("rs"), st.sampled_from("tu"), st.sampled_from("bc"))))
def test_more_looks_never_use_fewer_slots(made):
    looks = [look(*parts) for parts in made]
    used = [slots(looks[:k]) for k in range(len(looks) + 1)]
    assert used == sorted(used)
    assert used[-1] <= len(set(made))


@pytest.mark.parametrize(
    "make",
    [
        lambda: NoteResult(float("nan")),
        lambda: NoteResult(float("inf")),
        lambda: NoteResult(1.0, outcome="The note leaves out the allergy."),
        lambda: LookResult({"some text of a note": ()}, SHA),
        lambda: LookResult({}, "no digest"),
        lambda: LookResult({}, SHA, {"a sentence about a patient": 1}),
        lambda: LookResult({}, SHA, decision="because the note says so"),
        lambda: LookRequest(LookKind.WINNER, "t", SHA, {}),
        lambda: LookRequest(LookKind.WINNER, SHA, "A" * 64, {}),
        lambda: LookRequest(LookKind.WINNER, SHA, SHA, {"x": float("nan")}),
    ],
)
def test_no_text_and_no_false_number_gets_into_a_look(make):
    with pytest.raises(ValueError, match=r"must be|JSON"):
        make()
