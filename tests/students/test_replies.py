import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.malformed import JUNK, dump

from heldout.students.replies import json_objects, number, plain


def found(text):
    return list(json_objects(text))


def test_objects_are_found_in_prose_and_fences_in_order():
    assert found('so {"a": 1} and\n```json\n{"b": {"c": 2}}\n``` done') == [
        {"a": 1},
        {"b": {"c": 2}},
    ]


def test_a_brace_in_prose_does_not_hide_the_object_after_it():
    assert found('the set {x, y} and {"like this}" then {"score": 4}') == [{"score": 4}]


def test_objects_inside_a_cut_object_are_not_answers():
    assert found('{"items": [{"score": 3}, {"score": 9}], "assess') == []


def test_a_fence_after_the_cut_does_not_make_it_whole():
    assert found('```json\n{"items": [{"score": 3},\n```') == []


def test_line_breaks_inside_strings_are_accepted():
    assert found('{"a": "one\ntwo"}') == [{"a": "one\ntwo"}]


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_json_does_not_have_reads_as_nothing(constant):
    assert found(f'{{"a": {constant}}}') == [{"a": None}]


def test_deep_nesting_and_endless_digits_raise_nothing():
    assert found('{"a":' * 20_000) == []
    assert found('{"a": ' + "9" * 6_000 + "}") == []
    assert found('{"a":' * 20_000 + "1" + "}" * 20_000) == []


def test_contradictory_keys_are_noted_and_repetitions_are_not():
    twice, again = found('{"a": 1, "a": 2, "b": 3} {"a": 1, "a": 1}')
    assert twice.conflicts == {"a"}
    assert again.conflicts == frozenset()


@given(st.dictionaries(st.text(), JUNK))
def test_whatever_json_can_write_is_read_back(value):
    text = dump(value)
    assert found(text) == [json.loads(text, parse_constant=lambda _: None)]


@given(st.text())
def test_plain_text_can_be_hashed_and_stays_on_one_line(text):
    assert "\n" not in plain(text)
    plain(text + "\ud800").encode()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (7, 7.0),
        (7.5, 7.5),
        ("7.5", 7.5),
        (" 7 ", 7.0),
        ("seven", None),
        ("7/10", None),
        ("", None),
        (True, None),
        ("true", None),
        (None, None),
        ([7], None),
        (10**400, None),
        ("1e999", None),
        ("NaN", None),
    ],
)
def test_numbers(value, expected):
    assert number(value) == expected
