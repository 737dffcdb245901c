import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.malformed import AWKWARD, JUNK, PROSE, cut, dump, wrapped

from heldout.students.contracts import (
    Answer,
    ScoreContract,
    Violation,
    ViolationKind,
)
from heldout.students.replies import plain

SCORES = st.floats(0, 10) | st.integers(0, 10)


def payload(score, assessment="fine"):
    return dump({"assessment": assessment, "score": score})


@given(SCORES, AWKWARD, st.data())
def test_prose_fences_and_unicode_leave_the_answer_as_it_is(score, assessment, data):
    text = data.draw(wrapped(payload(score, assessment)))
    assert ScoreContract().parse(text) == Answer(float(score), plain(assessment))


@given(SCORES, st.data())
def test_a_cut_reply_is_a_violation(score, data):
    text = data.draw(cut(payload(score)))
    assert isinstance(ScoreContract().parse(text), Violation)


@given(JUNK, AWKWARD)
def test_any_value_in_the_place_of_the_score_is_a_number_in_range_or_a_violation(junk, assessment):
    read = ScoreContract().parse(payload(junk, assessment))
    if isinstance(read, Answer):
        assert float(junk) == read.score
        assert 0 <= read.score <= 10
        assert not isinstance(junk, bool)
    else:
        assert read.detail


@given(st.text() | JUNK.map(dump) | st.lists(PROSE | AWKWARD | JUNK.map(dump)).map("".join))
def test_arbitrary_text_never_raises(text):
    read = ScoreContract().parse(text)
    assert isinstance(read, Violation) or 0 <= read.score <= 10


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", ViolationKind.NO_OBJECT),
        ("Score: 7", ViolationKind.NO_OBJECT),
        ('{"assessment": "fine"}', ViolationKind.MISSING_FIELD),
        ('{"result": {"score": 7}}', ViolationKind.MISSING_FIELD),
        ('{"score": "seven"}', ViolationKind.WRONG_TYPE),
        ('{"score": null}', ViolationKind.WRONG_TYPE),
        ('{"score": true}', ViolationKind.WRONG_TYPE),
        ('{"score": 10.01}', ViolationKind.OUT_OF_RANGE),
        ('{"score": -1}', ViolationKind.OUT_OF_RANGE),
        ('{"score": 3, "score": 4}', ViolationKind.CONFLICT),
        ('{"score": 3} {"score": 11}', ViolationKind.OUT_OF_RANGE),
    ],
)
def test_kinds_of_violation(text, kind):
    read = ScoreContract().parse(text)
    assert isinstance(read, Violation)
    assert read.kind is kind


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"score": 4} on reflection {"score": 4.0}', 4.0),
        ('{"score": 3, "score": 3}', 3.0),
        ('{"score": "6.5"}', 6.5),
        ('{"score": 3} {"note": "nothing"}', 3.0),
        ('{"assessment": "the note says {\\"score\\": 1}", "score": 8}', 8.0),
        ('{"assessment": ["odd"], "score": 8}', 8.0),
    ],
)
def test_meanings_that_are_plain(text, score):
    read = ScoreContract().parse(text)
    assert isinstance(read, Answer)
    assert read.score == score


def test_the_range_is_the_contracts_own():
    scale = ScoreContract(1, 5)
    assert scale.parse('{"score": 5}') == Answer(5.0)
    assert isinstance(scale.parse('{"score": 0}'), Violation)
