from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.reflectors.judged import judgement, pairs

from heldout.reflectors.payload import (
    MIN_PAYLOAD_TOKENS,
    estimate_tokens,
    pack,
    truncation_note,
)
from heldout.splits.benchmark import Site
from heldout.students.student import ReportedGap

LONG = "word " * 20_000


def test_the_estimate_is_four_characters_a_token_rounded_up():
    assert [estimate_tokens("x" * n) for n in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_reflection_payload_has_a_budget_and_records_what_it_left_out():
    """dspy#9059: a reflection payload of 568,000 tokens."""
    many = pairs(range(60))
    payload = pack(many, 3000, full_notes=True)
    assert estimate_tokens(payload.cases) + estimate_tokens(payload.notes) <= 3000
    assert len(payload.shown) + len(payload.left_out) == len(many) == 360
    assert payload.left_out
    assert set(payload.shown) | set(payload.left_out) == {p.errored.id for p in many}
    assert f": {len(payload.left_out)}." in truncation_note(len(payload.left_out))


def test_what_is_left_out_is_what_was_handled_well():
    well, badly = pairs(range(30), errored=1.0), pairs(range(30, 33), errored=9.0)
    payload = pack((*well, *badly), 6000, full_notes=False)
    assert {p.errored.id for p in badly} <= set(payload.shown)
    assert set(payload.left_out) < {p.errored.id for p in well}


@pytest.mark.parametrize("per_fact", [False, True])
def test_the_largest_possible_trace_fits_the_smallest_budget(per_fact):
    pair = pairs(said=LONG)[0]
    facts = {f"f{n}": LONG for n in range(50)}
    findings = tuple(ReportedGap(f"{n} {LONG}", LONG) for n in range(9))

    def judged(verdict, found):
        if per_fact:
            return judgement(1.0, LONG, dict.fromkeys(facts, verdict), facts)
        return replace(judgement(1.0, LONG), findings=found)

    huge = replace(
        pair,
        errored=replace(
            pair.errored,
            text=LONG + "x" + LONG,
            transcript=LONG,
            fact=LONG,
            residual=tuple(Site(LONG, LONG, "weak") for _ in range(9)),
        ),
        clean=replace(pair.clean, text=LONG + LONG),
        errored_judgement=judged("present", findings[:5]),
        clean_judgement=judged("absent", findings[5:]),
    )
    payload = pack([huge], MIN_PAYLOAD_TOKENS, full_notes=True)
    assert payload.shown == (pair.errored.id,)
    assert estimate_tokens(payload.cases) > MIN_PAYLOAD_TOKENS // 2
    assert payload.notes == ""


def test_remaining_room_goes_to_whole_clean_twins_each_once():
    payload = pack(pairs((0, 1)), 12_000, full_notes=True)
    for number in (0, 1):
        assert payload.notes.count(f"Cough for {3 + number} days.") == 1
    assert "## Clean twin of case 1, 2, 3, 4, 5, 6\n" in payload.notes
    assert pack(pairs((0, 1)), 12_000, full_notes=False).notes == ""


def test_no_pair_is_no_case():
    payload = pack((), 4000, full_notes=True)
    assert (payload.cases, payload.notes, payload.shown) == ("(no case)", "", ())
    assert truncation_note(0) == "All cases are shown."


def test_a_budget_too_small_for_one_trace_is_refused():
    with pytest.raises(ValueError, match=str(MIN_PAYLOAD_TOKENS)):
        pack(pairs(), MIN_PAYLOAD_TOKENS - 1, full_notes=True)


@settings(max_examples=30)
@given(st.integers(0, 12), st.integers(MIN_PAYLOAD_TOKENS, 9000), st.booleans())
def test_the_budget_holds_for_any_minibatch(consultations, tokens, full_notes):
    payload = pack(pairs(range(consultations)), tokens, full_notes=full_notes)
    assert estimate_tokens(payload.cases + payload.notes) <= tokens
    assert len(payload.shown) == payload.cases.count("## Case ")
