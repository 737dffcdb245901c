"""Several answers in one reply, and answers that look like others: never the wrong one."""

import json

import pytest

from heldout.students.answer_forms import GapListContract, VerdictLineContract, YesNoContract
from heldout.students.contracts import Answer, ScoreContract, Violation, ViolationKind
from heldout.students.designs.audit import GRADES
from heldout.students.designs.checker import QUOTES
from heldout.students.designs.combined import StatementsContract
from heldout.students.fact_contracts import FactsContract, KeyedContract
from heldout.students.replies import folded, resembles

ASKED = ("aa11bb22", "cc33dd44")
VERDICTS = KeyedContract("verdicts", ("present", "absent"))
LISTED = [{"text": "Cough", "supported": "yes"}]
TWO = {
    "score": (ScoreContract(), {"score": 3}, {"score": 10}),
    "one to five": (ScoreContract(1, 5), {"score": 1}, {"score": 5}),
    "yes or no": (YesNoContract(), {"answer": "no"}, {"answer": "yes"}),
    "gaps": (GapListContract(), {"missing": [], "score": 3}, {"missing": [], "score": 4}),
    "gap lists": (
        GapListContract(),
        {"missing": [], "score": 3},
        {"missing": [{"item": "dose", "severity": "critical"}], "score": 3},
    ),
    "verdict": (VerdictLineContract(), {"verdict": "PASS"}, {"verdict": "FAIL"}),
    "facts": (FactsContract(), {"facts": ["Cough"]}, {"facts": ["Fever"]}),
    "items": (FactsContract("items"), {"items": ["Cough"]}, {"items": ["Cough", "Fever"]}),
    "statements": (
        StatementsContract(),
        {"statements": LISTED},
        {"statements": [{"text": "Cough", "supported": "no"}]},
    ),
}
PAIRS = pytest.mark.parametrize(("contract", "first", "second"), TWO.values(), ids=list(TWO))


def reply(*objects, between="\nThe note says:\n"):
    return between.join(json.dumps(found) for found in objects)


@PAIRS
def test_two_different_answers_are_a_violation_that_names_them(contract, first, second):
    for text in (reply(first, second), reply(second, first), reply(first, second, first)):
        read = contract.parse(text)
        assert isinstance(read, Violation)
        assert read.kind is ViolationKind.CONFLICT
        assert " and as " in read.detail or "each time another" in read.detail
    fenced = f"```json\n{reply(first)}\n```\n```json\n{reply(second)}\n```"
    assert isinstance(contract.parse(fenced), Violation)
    assert isinstance(contract.parse(json.dumps([first, second])), Violation)


def test_both_scores_are_named():
    read = ScoreContract().parse('{"assessment": "a gap", "score": 3}\nIt quotes {"score": 10}.')
    assert read.detail == '"score" is given as 3 and as 10; give one answer only'


@PAIRS
def test_the_same_answer_twice_is_an_answer(contract, first, second):
    del second
    assert contract.parse(reply(first, first)) == contract.parse(reply(first))
    assert not isinstance(contract.parse(reply(first)), Violation)


@PAIRS
@pytest.mark.parametrize(
    "cut",
    [lambda text: text[:-1], lambda text: text[: len(text) // 2], lambda _: "{", lambda _: '{"a'],
)
def test_a_later_answer_that_is_cut_off_is_a_violation(contract, first, second, cut):
    read = contract.parse(f"{reply(first)}\n{cut(reply(second))}")
    assert isinstance(read, Violation)
    assert "cut off" in read.detail


@pytest.mark.parametrize(
    "later",
    [
        '{"score": "ten"}',
        '{"score": null}',
        '{"score": 11}',
        '{"score": NaN}',
        '{"score": nine}',
        "{'score': 9}",
        "{score: 9}",
        '{"score": 9/10}',
        '{"final": {"score": 9}}',
        '{"sc\u043ere": 9}',
        '{"score": 9, "score": 8}',
        '{"assessment": "it says "no" twice", "score": 9}',
        '{"assessment": "quotes {"score": 3} unescaped", "score": 9}',
    ],
)
def test_an_earlier_score_never_wins_over_a_later_one_that_cannot_be_read(later):
    for text in (later, f'{{"score": 3}}\n{later}'):
        assert isinstance(ScoreContract().parse(text), Violation)


@pytest.mark.parametrize(
    "example",
    [
        '{"assessment": "<two sentences at most>", "score": <number from 0 to 10>}',
        '{"assessment": "...", "score": "<number>"}',
        '{"score": 12}',
        "{score: …}",
    ],
)
def test_an_example_before_the_answer_does_not_spoil_it(example):
    text = f'The form is {example}, so:\n{{"assessment": "fine", "score": 4}}'
    assert ScoreContract().parse(text) == Answer(4.0, "fine")


@pytest.mark.parametrize(
    ("text", "score"),
    [
        ('{"Score": 7, " ASSESSMENT": "fine"}', 7.0),
        ('{"score\u200b": 7}', 7.0),
        ('{"\uff53\uff43\uff4f\uff52\uff45": 7}', 7.0),
        ('{"score": 7, "Score": 7.0, "SCORE": 7}', None),
        ('{"score": 7}\nThe set {a, b} is {fine}.', 7.0),
        ('{"assessment": "he wrote {\\"score\\": 2} in it", "score": 7}', 7.0),
        ('{"assessment": "```json {x} ```", "score": 7}\n```', 7.0),
        ('{"score": 7, "parts": {"score": 2}}', 7.0),
        ('Plan: {"drug": "x", "dose": 5}. {"score": 7} {"drug": "y"}', 7.0),
    ],
)
def test_honest_replies_that_quote_objects_are_read(text, score):
    read = ScoreContract().parse(text)
    assert (read.score if isinstance(read, Answer) else None) == score


# -- verdict lines ---------------------------------------------------------------------------------

PASS_FIRST = "The line would be\nVERDICT: PASS\nbut a drug is missing.\n"


@pytest.mark.parametrize(
    "last",
    [
        "VERDICT: FAIL\u200b",
        "VERDICT: FA\u00adIL",
        "\ufeffVERDICT: FAIL",
        "VER\u2060DICT: FAIL",
        "\uff36\uff25\uff32\uff24\uff29\uff23\uff34\uff1a\uff26\uff21\uff29\uff2c",
        "VERDICT: F\u0410IL",
        "V\u0415RDICT: FAIL",
        "VERDICT: FA1L",
        "VERDICT: FAILED",
        "VERDICT: FAIL?",
        "VERDICT: MAYBE",
        "VERDICT:",
        "VERDICT: PASS or FAIL",
        "Final verdict: FAIL",
        "My verdict is FAIL",
        "**VERDICT**: **FAIL** \u274c",
        '{"verdict": "FAIL',
        "VERDICT: FAIL\u2028and more",
    ],
)
def test_a_later_verdict_is_read_or_refused_and_never_skipped(last):
    assert isinstance(VerdictLineContract().parse(PASS_FIRST + last), Violation)
    alone = VerdictLineContract().parse(f"A drug is missing.\n{last}")
    assert isinstance(alone, Violation) or alone.score == 0.0


@pytest.mark.parametrize(
    "line",
    [
        "VERDICT: FAIL\u200b",
        "\u200bVERDICT: FA\u00adIL",
        "\uff36\uff25\uff32\uff24\uff29\uff23\uff34\uff1a\uff26\uff21\uff29\uff2c",
        "VERDICT\u00a0:\u00a0FAIL",
        "VERDICT: FAIL \u274c",
        "- **VERDICT:** FAIL!",
    ],
)
def test_a_verdict_is_read_as_it_is_seen(line):
    assert VerdictLineContract().parse(f"A drug is missing.\n{line}").score == 0.0


def test_verdict_lines_that_differ_are_named():
    text = "VERDICT: FAIL\nOn second thoughts:\nVERDICT: PASS"
    assert '"verdict" is given as FAIL and as PASS' in VerdictLineContract().parse(text).detail


@pytest.mark.parametrize(
    "after", ["", "\n```", "\nNothing more to say.", "\nThis verdict rests on the plan."]
)
def test_what_follows_a_verdict_line_does_not_spoil_it(after):
    text = "End with VERDICT: PASS or VERDICT: FAIL.\nVERDICT: PASS\nAgain:\nVERDICT: PASS"
    assert VerdictLineContract().parse(text + after).score == 1.0


# -- answers by id ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "second",
    [
        '{"verdicts": {"aa11bb22": "absent"}}',
        '{"verdicts": {"aa11bb22": "maybe"}}',
        '{"aa11bb22": "absent"}',
        '{"verdicts": {"aa11bb22\u200b": "absent"}}',
        '{"verdicts": {"a\u043011bb22": "present"}}',
    ],
)
def test_an_id_with_two_answers_is_open(second):
    whole = '{"verdicts": {"aa11bb22": "present", "cc33dd44": "absent"}}'
    for text in (f"{whole}\n{second}", f"{second}\n{whole}"):
        read = VERDICTS.parse(text, ASKED)
        assert read.given == {"cc33dd44": "absent"}
        assert read.unanswered == ("aa11bb22",)


@pytest.mark.parametrize(
    "second",
    [
        '{"verdicts": {"aa11bb22": "abs',
        '{"verdicts": ["absent"]}',
        "{verdicts: none}",
        '{"aa11bb22": ',
    ],
)
def test_answers_before_an_object_that_cannot_be_read_do_not_count(second):
    whole = '{"verdicts": {"aa11bb22": "present", "cc33dd44": "absent"}}'
    assert isinstance(VERDICTS.parse(f"{whole}\n{second}", ASKED), Violation)


def test_answers_in_several_objects_count_together():
    text = '{"verdicts": {"<fact id>": "present"}} {"aa11bb22": "present"} {"CC33DD44": "Absent"}'
    read = VERDICTS.parse(text, ASKED)
    assert read.given == {"aa11bb22": "present", "cc33dd44": "absent"}


def test_grades_and_quotes_follow_the_rule():
    for contract, one, other in ((GRADES, "critical", "trivial"), (QUOTES, "a cough", None)):
        text = reply(*({contract.field: dict.fromkeys(ASKED, value)} for value in (one, other)))
        assert contract.parse(text, ASKED).unanswered == ASKED


# -- words as they are seen ------------------------------------------------------------------------


def test_folding_and_resemblance():
    assert folded(" \u200bP\u00c1SS\u3164\n\ufe0f ") == "pass"
    assert folded("\uff21\u00a0B") == "a b"
    for text in ("sc\u043ere", "\u0455core", "sc0re", "s\u0441\u043ere"):
        assert resembles(text, "score")
    for text in ("score", "Score", "scope", "scor", "12345", "\u0441\u0447\u0451\u0442\u044b"):
        assert not resembles(text, "score")
    assert not resembles("aa19bb22", "aa11bb22")
    assert resembles("a\u043011bb22", "aa11bb22")
