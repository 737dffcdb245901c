"""Blocks written by somebody who had not seen the parser: mentions stay silent, requests count."""

import json
from pathlib import Path

import pytest

from heldout.students.simulated.skills import read_block

CASES = json.loads(Path(__file__).with_name("mentions.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", CASES["mentions"], ids=lambda case: case["block"][:50])
def test_a_mention_switches_nothing_on(case):
    assert read_block(case["block"]) == frozenset()


@pytest.mark.parametrize("case", CASES["requests"], ids=lambda case: case["block"][:50])
def test_a_request_switches_on_what_it_names_and_nothing_else(case):
    assert {skill.value for skill in read_block(case["block"])} == {case["procedure"]}


def test_every_procedure_is_mentioned_and_requested():
    assert len(CASES["mentions"]) >= 20
    assert {c["procedure"] for c in CASES["mentions"]} == {
        c["procedure"] for c in CASES["requests"]
    }
