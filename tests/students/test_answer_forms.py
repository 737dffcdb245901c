import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.malformed import AWKWARD, JUNK, PROSE, cut, dump, wrapped

from heldout.students.answer_forms import (
    SEVERITIES,
    GapListContract,
    VerdictLineContract,
    YesNoContract,
)
from heldout.students.contracts import Answer, Violation, ViolationKind
from heldout.students.designs.combined import StatementsContract
from heldout.students.replies import plain
from heldout.students.student import ReportedGap

YES_NO, LINE, GAPS = YesNoContract(), VerdictLineContract(), GapListContract()
NOISE = st.text() | st.lists(PROSE | AWKWARD | JUNK.map(dump)).map("".join)
ITEMS = st.lists(
    st.builds(
        lambda item, severity: {"item": item, "severity": severity},
        AWKWARD.filter(plain),
        st.sampled_from(SEVERITIES),
    ),
    max_size=3,
)


@given(st.sampled_from(["yes", "no", "Yes ", "NO"]), AWKWARD, st.data())
def test_yes_and_no_survive_prose_fences_and_unicode(word, told, data):
    text = data.draw(wrapped(dump({"assessment": told, "answer": word})))
    assert YES_NO.parse(text) == Answer(10.0 if "y" in word.lower() else 0.0, plain(told))


@given(JUNK)
def test_anything_else_than_yes_or_no_is_a_violation(junk):
    if str(junk).strip().casefold() not in ("yes", "no"):
        assert isinstance(YES_NO.parse(dump({"answer": junk})), Violation)


@given(NOISE)
def test_no_form_raises(text):
    for parse in (YES_NO.parse, LINE.parse, GAPS.parse):
        read = parse(text)
        assert isinstance(read, Violation) or 0 <= read.score <= 10
    share = StatementsContract().parse(text)
    assert isinstance(share, Violation) or 0 <= share <= 1


@given(
    st.sampled_from(["PASS", "FAIL"]),
    PROSE,
    st.sampled_from(["VERDICT: {}", "**Verdict: {}**", "  verdict - {}.", "> VERDICT: `{}`"]),
    st.sampled_from(["", "\n", "\n```", "\nNothing more to say."]),
)
def test_the_verdict_line_is_found_as_models_write_it(word, before, form, after):
    read = LINE.parse(f"{before}\n{form.format(word)}{after}")
    assert read == Answer(1.0 if word == "PASS" else 0.0, plain(before))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "PASS",
        "VERDICT: PASS or FAIL",
        "VERDICT: MAYBE",
        "VERDICT:",
        "My VERDICT: FAIL was late",
    ],
)
def test_what_is_no_verdict_line_is_a_violation(text):
    assert isinstance(LINE.parse(text), Violation)


@given(st.integers(0, 10), ITEMS, st.data())
def test_gap_lists_survive_prose_fences_and_unicode(score, items, data):
    read = GAPS.parse(data.draw(wrapped(dump({"missing": items, "score": score}))))
    assert isinstance(read, Answer)
    assert read.score == score
    assert read.findings == tuple(ReportedGap(plain(i["item"]), i["severity"]) for i in items)


@given(st.data(), ITEMS)
def test_cut_replies_are_violations(data, items):
    assert isinstance(GAPS.parse(data.draw(cut(dump({"missing": items, "score": 5})))), Violation)
    assert isinstance(YES_NO.parse(data.draw(cut(dump({"answer": "yes"})))), Violation)
    listed = [{"text": "Cough", "supported": "no"}, {"text": "Fever", "supported": "yes"}]
    assert isinstance(
        StatementsContract().parse(data.draw(cut(dump({"statements": listed})))), Violation
    )


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"score": 5}, ViolationKind.WRONG_TYPE),
        ({"missing": "cough", "score": 5}, ViolationKind.WRONG_TYPE),
        ({"missing": ["cough"], "score": 5}, ViolationKind.WRONG_TYPE),
        ({"missing": [{"item": "cough"}], "score": 5}, ViolationKind.WRONG_TYPE),
        (
            {"missing": [{"item": "cough", "severity": "grave"}], "score": 5},
            ViolationKind.WRONG_TYPE,
        ),
        (
            {"missing": [{"item": " ", "severity": "critical"}], "score": 5},
            ViolationKind.WRONG_TYPE,
        ),
        ({"missing": [], "score": 11}, ViolationKind.OUT_OF_RANGE),
        ({"missing": []}, ViolationKind.MISSING_FIELD),
    ],
)
def test_kinds_of_violation_of_gap_lists(value, kind):
    read = GAPS.parse(dump(value))
    assert isinstance(read, Violation)
    assert read.kind is kind


@given(st.lists(st.booleans(), min_size=1, max_size=5), AWKWARD, st.data())
def test_the_share_of_supported_statements(answers, text, data):
    listed = [{"text": text, "supported": "yes" if answer else "no"} for answer in answers]
    share = StatementsContract().parse(data.draw(wrapped(dump({"statements": listed}))))
    assert share == sum(answers) / len(answers)


@pytest.mark.parametrize(
    "value",
    [
        {"statements": []},
        {"statements": {"a": "yes"}},
        {"statements": [{"text": "Cough"}]},
        {"statements": [{"text": "Cough", "supported": "mostly"}]},
        {"statements": [{"text": "Cough", "supported": True}]},
        {"statements": [{"supported": "yes"}]},
        {"claims": []},
    ],
)
def test_unreadable_statements_are_violations(value):
    assert isinstance(StatementsContract().parse(dump(value)), Violation)
