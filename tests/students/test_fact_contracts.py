import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.malformed import AWKWARD, JUNK, PROSE, cut, dump, wrapped

from heldout.students.contracts import Violation, ViolationKind
from heldout.students.fact_contracts import FactsContract, KeyedAnswers, KeyedContract, StatedFact
from heldout.students.replies import plain

ASKED = ("aa11bb22", "cc33dd44", "ee55ff66")
WORDS = ("present", "partial", "absent")
CONTRACT = KeyedContract("verdicts", WORDS)
FACT_TEXTS = st.lists(
    AWKWARD.filter(plain),
    min_size=1,
    max_size=6,
    unique_by=lambda t: plain(t).casefold(),
)
NOISE = st.text() | st.lists(PROSE | AWKWARD | JUNK.map(dump)).map("".join)


def verdicts(answers):
    return CONTRACT.parse(dump({"verdicts": answers}), ASKED)


@given(FACT_TEXTS, st.data())
def test_facts_survive_prose_fences_and_unicode(texts, data):
    stated = [{"text": text, "evidence": "said"} for text in texts]
    read = FactsContract().parse(data.draw(wrapped(dump({"facts": stated}))))
    assert read == tuple(StatedFact(plain(text), "said") for text in texts)


@given(FACT_TEXTS, st.data())
def test_a_cut_list_of_facts_is_a_violation(texts, data):
    read = FactsContract().parse(
        data.draw(cut(dump({"facts": [{"text": text} for text in texts]})))
    )
    assert isinstance(read, Violation)


@given(NOISE | st.lists(JUNK).map(lambda junk: dump({"facts": junk})))
def test_facts_never_raise(text):
    read = FactsContract().parse(text)
    assert isinstance(read, Violation) or all(fact.text for fact in read)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("no facts", ViolationKind.NO_OBJECT),
        ('{"fact": []}', ViolationKind.MISSING_FIELD),
        ('{"facts": []}', ViolationKind.EMPTY),
        ('{"facts": "cough"}', ViolationKind.WRONG_TYPE),
        ('{"facts": [{"text": " "}]}', ViolationKind.WRONG_TYPE),
        ('{"facts": [{"text": "a", "text": "b"}]}', ViolationKind.WRONG_TYPE),
        ('{"facts": [3]}', ViolationKind.WRONG_TYPE),
        ('{"facts": ["a"], "facts": ["b"]}', ViolationKind.CONFLICT),
    ],
)
def test_kinds_of_violation_of_facts(text, kind):
    read = FactsContract().parse(text)
    assert isinstance(read, Violation)
    assert read.kind is kind


def test_repeated_facts_are_kept_once_and_bare_strings_are_facts():
    read = FactsContract().parse(
        '{"facts": ["Cough", {"text": "COUGH", "evidence": "x"}, "No\\nfever"]}'
    )
    assert read == (StatedFact("Cough", ""), StatedFact("No fever", ""))


@given(st.dictionaries(st.sampled_from(ASKED), st.sampled_from(WORDS)), st.data())
def test_a_miscount_is_a_set_difference(answers, data):
    extra = data.draw(st.dictionaries(AWKWARD.filter(lambda k: k.strip() not in ASKED), JUNK))
    ordered = data.draw(st.permutations(list({**answers, **extra}.items())))
    read = CONTRACT.parse(data.draw(wrapped(dump({"verdicts": dict(ordered)}))), ASKED)
    assert isinstance(read, KeyedAnswers)
    assert read.given == answers
    assert set(read.unanswered) == set(ASKED) - set(answers)
    assert set(read.extra) == {plain(key) for key in extra}


@given(st.dictionaries(st.sampled_from(ASKED), JUNK | st.sampled_from(WORDS)))
def test_unreadable_verdicts_are_open_never_guessed(answers):
    read = verdicts(answers)
    assert isinstance(read, KeyedAnswers)
    assert set(read.given.values()) <= set(WORDS)
    assert all(str(answers[key]).strip().casefold() == word for key, word in read.given.items())


@given(NOISE)
def test_verdicts_never_raise(text):
    read = CONTRACT.parse(text, ASKED)
    assert isinstance(read, Violation) or set(read.unanswered) | set(read.given) == set(ASKED)


@given(st.data())
def test_cut_verdicts_are_a_violation(data):
    whole = dump({"verdicts": dict.fromkeys(ASKED, "present")})
    assert isinstance(CONTRACT.parse(data.draw(cut(whole)), ASKED), Violation)


def test_letter_case_and_spaces_of_ids_and_words_do_not_matter():
    read = verdicts({" aa11bb22": "Present ", "cc33dd44": "ABSENT", "ee55ff66": "partial"})
    assert read.given == {"aa11bb22": "present", "cc33dd44": "absent", "ee55ff66": "partial"}


def test_contradictory_verdicts_leave_the_id_open():
    first = '"aa11bb22": "present", "aa11bb22": "absent"'
    spaced = '" cc33dd44": "present", "cc33dd44": "absent"'
    read = CONTRACT.parse(f'{{"verdicts": {{{first}, {spaced}}}}}', ASKED)
    assert read.unanswered == ASKED


def test_the_inner_object_may_stand_alone():
    read = CONTRACT.parse('{"aa11bb22": "present"}', ASKED)
    assert read.given == {"aa11bb22": "present"}


def test_a_list_of_verdicts_is_a_violation():
    read = CONTRACT.parse('{"verdicts": ["present", "absent", "present"]}', ASKED)
    assert isinstance(read, Violation)
    assert read.kind is ViolationKind.WRONG_TYPE
