"""YAML of people: nothing is taken twice in silence, and every fault has its line and key."""

import datetime
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heldout.splits.errors import BadInput
from heldout.splits.loading.yaml_file import read_yaml, read_yaml_value


@pytest.fixture
def file(tmp_path):
    def write(content):
        path = tmp_path / "x.yaml"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def faults(path):
    with pytest.raises(BadInput) as caught:
        read_yaml(path)
    return [line.removeprefix(str(path)) for line in caught.value.lines]


def test_values_and_their_lines(file):
    found = read_yaml(file("a: 1\nb:\n  c: [x, 2.5]\n  d: {e: null}\n\nf: 2025-08-07\n"))
    date = datetime.date(2025, 8, 7)
    assert found.tree == {"a": 1, "b": {"c": ["x", 2.5], "d": {"e": None}}, "f": date}
    assert found.lines[("b", "c", 1)] == 3
    assert found.where(("b", "d", "e")).endswith("x.yaml:4: b.d.e")
    assert found.where(("b", "d", "absent")).endswith("x.yaml:4: b.d.absent")
    assert found.where(("absent",)).endswith("x.yaml: absent")


def test_every_key_that_stands_twice_is_named_with_both_lines(file):
    text = "a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\na: 4\ne:\n  - {f: 1, f: 2}\n"
    assert faults(file(text)) == [
        ":5: b.c: is given twice (first in line 3)",
        ":6: a: is given twice (first in line 1)",
        ":8: e.0.f: is given twice (first in line 8)",
    ]


def test_words_that_look_alike_are_one_key_only_where_they_are_the_same(file):
    assert faults(file("'a': 1\na: 2\n")) == [":2: a: is given twice (first in line 1)"]
    assert read_yaml(file("A: 1\na: 2\n1: 3\n")).tree == {"A": 1, "a": 2, "1": 3}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\n\tb: 2\n", ":2: is not YAML (found character '\\t'"),
        ("a:\n  b: 1\n c: 2\n", ":3: is not YAML ("),
        ("a: 1\n  b: 2\n", ":2: is not YAML (mapping values are not allowed here"),
        ("a: [1\nb: 2\n", ":2: is not YAML ("),
        ("a: b: c\n", ":1: is not YAML (mapping values are not allowed here"),
        ("a: *nobody\n", ":1: is not YAML (found undefined alias"),
        ("a: 1\n---\nb: 2\n", ":2: is not YAML (but found another document"),
        ("a: 1\nb: \x07\n", ":2: is not YAML (special characters are not allowed"),
        (b"a: 1\nb: caf\xe9\n", ":2: is not UTF-8 text ("),
        ("", ": must be a mapping"),
        ("# nothing\n", ": must be a mapping"),
        ("- a\n", ": must be a mapping"),
        ("x", ": must be a mapping"),
        ("? [a, b]\n: 1\n", ":1: a key must be a word"),
        ("a: 1\nb: 2024-13-45\n", ":2: b: is no value (month must be in 1..12"),
        ("a:\n  - !!int abc\n", ":2: a.0: is no value ("),
        ("a: !foo x\n", ":1: a: could not determine a constructor for the tag '!foo'"),
        ("a: !!python/object/apply:os.system [x]\n", ""),
        ("<<: 3\n", ":1: <<: takes a mapping"),
    ],
)
def test_what_is_no_yaml_has_its_line(file, text, expected):
    if not expected:  # a tag on a list is not looked at: nothing is ever built from it
        assert read_yaml(file(text)).tree == {"a": ["x"]}
    else:
        assert faults(file(text))[0].startswith(expected)


def test_odd_values_are_all_told(file):
    assert [line.split(":")[1] for line in faults(file("a: !!int x\nb: {c: 2024-99-99}\n"))] == [
        "1",
        "2",
    ]


def test_only_true_and_false_are_truth_values(file):
    text = "a: true\nb: False\nc: off\nd: no\ne: Yes\nf: ~\ng: 'true'\n"
    assert list(read_yaml(file(text)).tree.values()) == [
        True, False, "off", "no", "Yes", None, "true",
    ]  # fmt: skip


def test_aliases_and_merged_keys_give_what_they_name(file):
    text = "a: &a {x: 1, y: 2}\nb: *a\nc:\n  y: 3\n  <<: *a\nd: {<<: [{x: 7}, *a]}\n"
    tree = read_yaml(file(text)).tree
    assert tree["b"] == {"x": 1, "y": 2}
    assert tree["c"] == {"x": 1, "y": 3}
    assert tree["d"] == {"x": 7, "y": 2}


@pytest.mark.parametrize("join", ["[{}]", "{{<<: [{}]}}"])
def test_aliases_of_aliases_are_bounded(file, join):
    lines = ["a0: &a0 {x: 1, y: 2}"]
    lines += [f"a{k}: &a{k} {join.format(', '.join([f'*a{k - 1}'] * 9))}" for k in range(1, 9)]
    assert "too deep or too large" in faults(file("\n".join(lines)))[0]


@pytest.mark.parametrize("text", ["a: &a [*a]\n", "a: " + "[" * 40 + "]" * 40, "a: &a {<<: *a}\n"])
def test_nesting_is_bounded(file, text):
    assert "too deep or too large" in faults(file(text))[0]


def test_size_is_bounded(file):
    assert faults(file("a: " + "x" * (1 << 20)))[0].endswith("at most 1 MiB is read")


def test_files_that_cannot_be_read(tmp_path):
    assert faults(tmp_path / "absent.yaml") == [": cannot be read (No such file or directory)"]
    assert faults(tmp_path) == [": cannot be read (Is a directory)"]


def test_a_mark_before_the_text_is_no_part_of_it(file):
    assert read_yaml(file(b"\xef\xbb\xbfa: 1\n")).tree == {"a": 1}


@given(st.text(max_size=60))
@settings(deadline=None)
def test_any_text_is_a_mapping_or_faults(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("y") / "x.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with suppress(BadInput):
        assert isinstance(read_yaml(path).tree, dict)


def test_a_single_value_is_read_as_strictly():
    assert read_yaml_value("{a: [1, off]}", "--set x") == {"a": [1, "off"]}
    assert read_yaml_value(" ", "--set x") is None
    for text in ("[", "{a: 1, a: 2}", "2024-13-45", "!foo x", "&a [*a]", "\x07"):
        with pytest.raises(BadInput, match=r"^--set x: .* is not a YAML value"):
            read_yaml_value(text, "--set x")
