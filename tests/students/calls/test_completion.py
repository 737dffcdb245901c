"""Contracts keyed by id beyond verdicts: grades and quotes."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.malformed import AWKWARD, JUNK, PROSE, cut, dump, wrapped

from heldout.students.contracts import Violation
from heldout.students.designs.audit import DROPS, GRADES
from heldout.students.designs.checker import QUOTES
from heldout.students.fact_contracts import NO_WORDS, KeyedAnswers
from heldout.students.replies import plain

ASKED = ("aa11bb22", "cc33dd44", "ee55ff66")
NOISE = st.text() | st.lists(PROSE | AWKWARD | JUNK.map(dump)).map("".join)
GRADE_WORDS = ("critical", "supporting", "peripheral", *DROPS)


@given(st.dictionaries(st.sampled_from(ASKED), st.sampled_from(GRADE_WORDS) | JUNK), st.data())
def test_grades_are_one_of_the_words_or_open(answers, data):
    read = GRADES.parse(data.draw(wrapped(dump({"grades": answers}))), ASKED)
    assert isinstance(read, KeyedAnswers)
    for key in ASKED:
        word = str(answers.get(key)).strip().casefold()
        assert read.given.get(key) == (word if word in GRADE_WORDS else None)


@given(st.dictionaries(st.sampled_from(ASKED), AWKWARD | st.none() | JUNK), st.data())
def test_quotes_are_text_or_nothing_found_or_open(answers, data):
    read = QUOTES.parse(data.draw(wrapped(dump({"quotes": answers}))), ASKED)
    assert isinstance(read, KeyedAnswers)
    for key in ASKED:
        value = answers.get(key, 0)
        # NaN is no JSON; it reads as null, which stands for «nothing found».
        if value is None or (isinstance(value, float) and dump(value)[-1] in "Ny"):
            assert read.given[key] == ""
        elif isinstance(value, str):
            nothing = plain(value).casefold() in NO_WORDS
            assert read.given[key] == ("" if nothing else plain(value))
        else:
            assert key in read.unanswered


@given(NOISE)
def test_nothing_raises(text):
    for contract in (GRADES, QUOTES):
        read = contract.parse(text, ASKED)
        assert isinstance(read, Violation) or set(read.given) | set(read.unanswered) == set(ASKED)


@given(st.data())
def test_cut_replies_are_violations(data):
    for contract, word in ((GRADES, "critical"), (QUOTES, "words of the note")):
        whole = dump({contract.field: dict.fromkeys(ASKED, word)})
        assert isinstance(contract.parse(data.draw(cut(whole)), ASKED), Violation)
