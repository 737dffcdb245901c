import dataclasses
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.reflectors.judged import CHECK, SALT, SEED, TERMS, WHOLE, guard
from tests.support.notes import consultation

from heldout.reflectors.guard import Guard, fingerprint, normalised
from heldout.reflectors.prompts import LengthCap, contract
from heldout.reflectors.reflector import RejectReason
from heldout.splits.hashing import sha256_text
from heldout.splits.overlap import shingle_hash, words
from heldout.splits.protected import ProtectedTexts

GUARD = guard()
BARE = Guard(WHOLE, TERMS.cap, ProtectedTexts())
BLOCKS = sorted((Path(__file__).parents[2] / "configs" / "blocks").glob("*.txt"))
GOOD = "List what was said. Then look for each item in the note."


def reason(block, earlier=None, parents=(SEED,), using=GUARD):
    rejection = using.check(block, earlier or {}, parents)
    return None if rejection is None else rejection.reason


def test_a_sound_block_passes():
    assert reason(GOOD) is None
    assert reason("The score goes from 0 to 10; braces { } and <b> do no harm.") is None


def test_no_block_and_an_empty_one_have_their_own_reasons():
    assert reason(None) is RejectReason.NO_BLOCK
    assert reason("") is RejectReason.EMPTY
    assert reason(" \n\t\u2003 ") is RejectReason.EMPTY


def test_prompts_cannot_grow_without_bound():
    """dspy#8690: prompts grow without bound."""
    assert reason("Look closer. " * 200) is None
    rejection = GUARD.check("Look closer. " * 201, {}, ())
    assert rejection.reason is RejectReason.TOO_LONG
    assert rejection.detail == "402 words, at most 400 allowed"
    assert reason("x" * 3001) is RejectReason.TOO_LONG
    block = SEED
    for _ in range(100):  # a reflector that only ever adds
        block += " Look once more at everything."
        if reason(block) is not None:
            break
    assert reason(block) is RejectReason.TOO_LONG


@pytest.mark.parametrize(
    "token",
    [
        "{{note}}", "{{ transcript }}", "{{anything}}", "}}", "{note}", "{ block }",
        "${transcript}", "<note>", "</note>", "</instructions>", "< / Transcript >",
        '<answer_format id="1">', "<<<BLOCK", "BLOCK>>>",
    ],
)  # fmt: skip
def test_slot_tokens_and_frame_markers_are_rejected(token):
    assert reason(f"Read with care. {token} Then score.") is RejectReason.SLOT_TOKEN


def test_dropping_a_slot_is_impossible_because_blocks_have_none():
    """opik#7656: `{question}` was dropped by the optimiser and the broken candidate won."""
    assert "{{note}}" not in GOOD
    assert "{{note}}" in WHOLE.with_block(GOOD)
    assert sha256_text(WHOLE.template) == WHOLE.sha256


@pytest.mark.parametrize(
    ("frame", "block"),
    [
        (WHOLE, 'Answer with {"score": 7}.'),
        (WHOLE, "Put it under “assessment”: two lines."),
        (WHOLE, "So 10 means that you found nothing wrong with the note."),
        (CHECK, 'Reply with "verdicts": one each.'),
        (CHECK, "You give every fact id exactly one verdict, present or absent."),
    ],
)
def test_a_restated_contract_is_rejected(frame, block):
    using = Guard(frame, TERMS.cap, BARE.protected)
    assert reason(block, using=using) is RejectReason.RESTATED_CONTRACT


def test_seven_words_of_the_contract_are_no_restatement():
    run = words(contract(WHOLE))[:7]
    assert reason(" ".join(run), using=BARE) is None
    assert reason(" ".join(words(contract(WHOLE))[:8]), using=BARE) is (
        RejectReason.RESTATED_CONTRACT
    )


def test_an_evolved_text_identical_to_the_baseline_is_rejected():
    """hermes: an «evolved» file identical to the baseline."""
    assert reason(SEED) is RejectReason.UNCHANGED
    assert reason("\n " + SEED.replace(" ", "  ") + "\n") is RejectReason.UNCHANGED
    assert reason(SEED, parents=("Other.", SEED)) is RejectReason.UNCHANGED


def test_a_duplicate_names_the_earlier_candidate_white_space_aside():
    earlier = {fingerprint(GOOD): "c03"}
    for block in (GOOD, GOOD.replace(" ", "\n"), f"  {GOOD}"):
        rejection = GUARD.check(block, earlier, (SEED,))
        assert (rejection.reason, rejection.detail) == (RejectReason.DUPLICATE, "c03")
    assert reason(GOOD.upper(), earlier) is None
    assert reason(GOOD, {sha256_text(GOOD): "c04"}) is RejectReason.DUPLICATE


def copied(number, start=0, length=8):
    """`length` words of a made note, retyped: other case, other punctuation, broken lines."""
    tokens = consultation(number).clean[0].text.split()[start : start + length]
    return "Mind this:\n" + " —\n".join(token.upper().strip(".") for token in tokens)


@pytest.mark.parametrize("number", [0, 1])
def test_copied_phrases_are_rejected(number):
    """gepa#261: the reflector copies names and phrases of examples into the prompt."""
    rejection = GUARD.check(copied(number), {}, ())
    assert rejection.reason is RejectReason.OVERLAP
    assert rejection.withholds_text
    assert reason(copied(number, length=7)) is None


def test_transcripts_count_as_much_as_notes():
    turn = consultation(1).transcript.splitlines()[2].replace("[patient] ", "")
    assert len(words(turn)) >= 8
    assert reason(f"As in: {turn}") is RejectReason.OVERLAP


def test_an_overlap_is_stored_as_hash_and_length_never_as_text():
    block = copied(1, length=11)
    rejection = GUARD.check(block, {}, ())
    run = " ".join(words(block)[2:10])
    assert rejection.detail == f"run of 11 words, hash {shingle_hash(run, SALT):016x}"
    taken = set(words(block)[2:]) - {"of"}
    assert not taken & set(words(rejection.detail)) - {"11"}


def test_overlap_goes_before_every_reason_that_would_let_the_text_be_stored():
    """A copy of the whole input is too long, too: it must not be kept as «too long»."""
    note = consultation(0).clean[0].text
    for block in (
        note * 200,
        f"{{{{note}}}} {note}",
        f"{note}\n{contract(WHOLE)}",
        f"<note>{note}",
    ):
        assert reason(block) is RejectReason.OVERLAP
    assert reason(note, {fingerprint(note): "c01"}, (note,)) is RejectReason.OVERLAP


def test_runs_of_seed_and_frame_are_exempt():
    note = consultation(0).clean[0].text
    assert reason(note, using=guard(seeds=(SEED, note))) is None
    assert reason(" ".join(words(WHOLE.template)[:9]), parents=()) is None


def test_a_rejection_that_keeps_its_text_says_so():
    for block in (None, "", "x" * 4000, "{{a}}", '"score": 1', SEED):
        rejection = GUARD.check(block, {}, (SEED,))
        assert not rejection.withholds_text


def test_the_guard_is_configuration_only():
    fields = {field.name for field in dataclasses.fields(Guard)}
    assert fields == {"frame", "cap", "protected"}
    with pytest.raises(dataclasses.FrozenInstanceError):
        GUARD.cap = LengthCap(1, 1)


anything = st.one_of(
    st.none(),
    st.text(st.characters(), max_size=300),
    st.lists(
        st.sampled_from(
            ["{{", "}}", "<note>", "\ud83e", "\x00", "\u202e", '"score":', "BLOCK>>>", "mg", "🩺",
             "ﬁ", "İ", *consultation(0).clean[0].text.split()]
        ),
        max_size=60,
    ).map(" ".join),
)  # fmt: skip


@given(anything, st.lists(st.text(max_size=20), max_size=3))
@example("\ud800" * 9, ["\udfff"])
@example("\ud800 " * 9, ["\udfff"])
def test_no_text_makes_the_guard_raise(block, parents):
    rejection = GUARD.check(block, {}, parents)
    if rejection is not None:
        assert isinstance(rejection.reason, RejectReason)
        assert rejection.detail


@given(st.text(max_size=60))
def test_the_fingerprint_ignores_white_space_only(text):
    assert fingerprint(text) == fingerprint(f"\n{text}  ")
    assert normalised(normalised(text)) == normalised(text)
    assert fingerprint(text) != fingerprint(f"{text}x")


@pytest.mark.parametrize("path", BLOCKS, ids=lambda path: path.stem)
def test_the_shipped_seeds_pass(path):
    frame = CHECK if path.stem.startswith("check") else WHOLE
    assert Guard(frame, TERMS.cap, GUARD.protected).check(path.read_text(), {}, ()) is None
