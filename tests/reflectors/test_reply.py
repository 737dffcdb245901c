import json
import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from heldout.reflectors.reply import CLOSE, OPEN, extract_block
from heldout.splits.visible import without_signs


def test_the_block_stands_between_two_lines_of_their_own():
    assert extract_block(f"Thoughts.\n{OPEN}\nRead.\n\nCheck.  \n{CLOSE}\nDone.").block == (
        "Read.\n\nCheck."
    )
    assert extract_block(f"  {OPEN}\t\r\nRead.\r\n {CLOSE} ").block == "Read."


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("", "no line that holds only <<<BLOCK"),
        ("Read the note and score it.", "no line that holds only <<<BLOCK"),
        ("```\nRead the note.\n```", "no line that holds only <<<BLOCK"),
        (f"{OPEN}\nRead the note", "no line that holds only BLOCK>>>"),
        (f"Read\n{CLOSE}", "no line that holds only <<<BLOCK"),
        (f"{OPEN} Read. {CLOSE}", "no line that holds only <<<BLOCK"),
        (f"{CLOSE}\nRead.\n{OPEN}", "stands before"),
        (f"{OPEN}\nA\n{CLOSE}\nor\n{OPEN}\nB\n{CLOSE}", "more than one block"),
        (f"{OPEN}\nA\n{OPEN}\nB\n{CLOSE}", "more than one block"),
        (f"{OPEN}\nA\n{CLOSE}\n{CLOSE}", "more than one block"),
    ],
)
def test_anything_else_holds_no_block(reply, problem):
    extraction = extract_block(reply)
    assert extraction.block is None
    assert not extraction.usable
    assert problem in extraction.problem


def test_fences_are_not_taken_from_the_first_to_the_last():
    """gepa: the extractor took everything from the first fence to the last one."""
    reply = "```\nBad idea.\n```\nNo, rather:\n```\nGood idea.\n```"
    assert extract_block(reply).block is None
    assert extract_block(f"{reply}\n{OPEN}\nGood idea.\n{CLOSE}").block == "Good idea."


def test_an_unfenced_reply_does_not_become_the_prompt():
    """gepa: a reply without a fence was taken whole as the new prompt."""
    assert extract_block("I am sorry, I cannot help with clinical matters.").block is None


def test_an_empty_prompt_is_not_usable():
    """gepa: an empty prompt was accepted."""
    extraction = extract_block(f"{OPEN}\n \n\t\n{CLOSE}")
    assert (extraction.block, extraction.usable) == ("", False)
    assert extraction.problem == "its block is empty"


def _pieces(rng):
    return [
        rng.choice(
            [
                OPEN,
                CLOSE,
                f" {OPEN} ",
                f"{CLOSE}\t",
                f"x {OPEN}",
                "",
                "  ",
                "Read it.",
                "## A",
            ]
        )
        for _ in range(rng.randint(0, 7))
    ]


def _reference(lines):
    """What a reader would say, written another way: a small automaton over the lines."""
    state, inside = "before", []
    for line in (raw.strip() for raw in lines):
        if line in (OPEN, CLOSE):
            expected = {"before": OPEN, "inside": CLOSE}.get(state)
            if line != expected:
                return None
            state = "inside" if line == OPEN else "after"
        elif state == "inside":
            inside.append(line)
    return "\n".join(inside).strip() if state == "after" else None


def test_generated_replies_read_as_a_person_would():
    rng = random.Random(5)
    seen = {"block": 0, "none": 0, "empty": 0}
    for _ in range(1500):
        lines = _pieces(rng)
        block = extract_block("\n".join(lines)).block
        expected = _reference(lines)
        kind = "none" if expected is None else "block" if expected else "empty"
        seen[kind] += 1
        if expected is None:
            assert block is None
        else:
            assert block is not None
            assert [line.strip() for line in block.split("\n")] == expected.split("\n")
    assert min(seen.values()) > 20, seen


@given(st.text(alphabet=st.characters() | st.sampled_from("<>\nBLOCK"), max_size=80))
@example("\ud83e\x00<<<BLOCK")
def test_no_text_makes_it_raise(text):
    extract_block(text)
    assert extract_block(f"{OPEN}\nx{text}".replace(CLOSE, "")).block is None


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1).filter(str.strip))
def test_any_block_without_markers_survives_the_round_trip(block):
    if OPEN in block or CLOSE in block:
        return
    found = extract_block(f"{OPEN}\n{block}\n{CLOSE}").block
    assert found is not None
    kept = "\n".join(map(without_signs, re.split("\r\n|\r|\n", block)))
    assert found.split() == kept.split()


@pytest.mark.parametrize(
    "sign", ["\x1b[2J", "\x00", "\x9b", "\u202e", "\u2066", "\ufeff", "\U000e0041"]
)
def test_a_block_holds_no_sign_that_acts_or_hides(sign):
    said = f"{OPEN}\nRead{sign} the note.\n{sign}Score it.\n{CLOSE}"
    block = extract_block(said).block
    assert block is not None
    assert block.replace("[2J", "") == "Read the note.\nScore it."


# -- dressing --------------------------------------------------------------------------------------

BLOCK = (
    "Read the plan first.\n\n- Hold each drug against the transcript.\n- Lower the score for a gap."
)
DRESSED = {
    "fence": f"```\n{BLOCK}\n```",
    "fence with a language": f"```markdown\n{BLOCK}\n```",
    "tildes": f"~~~text\n{BLOCK}\n~~~",
    "fence never closed": f"```text\n{BLOCK}",
    "sentence": f"Here is the improved block:\n\n{BLOCK}",
    "eager sentence": f"Sure! Here's the revised instruction block:\n{BLOCK}",
    "one word": f"Certainly!\n\n{BLOCK}",
    "on the same line": f"Here is the improved block: {BLOCK}",
    "bold sentence": f"**Here is the new block:**\n{BLOCK}",
    "curly quote": f"Here\u2019s the updated version:\n{BLOCK}",
    "own work": f"I have rewritten the instructions to be clearer:\n{BLOCK}",
    "tag": f"<instructions>\n{BLOCK}\n</instructions>",
    "tag of the request": f"<current_block>\n{BLOCK}\n</current_block>",
    "tag on the same line": f"<block>{BLOCK}</block>",
    "heading": f"## Revised instructions\n\n{BLOCK}",
    "bold heading": f"**New Block:**\n{BLOCK}",
    "heading with a bracket": f"### Instructions (revised)\n{BLOCK}",
    "farewell": f"{BLOCK}\n\nLet me know if you would like further changes.",
    "hope": f"{BLOCK} I hope this helps!",
    "praise": f"{BLOCK}\n\nThis revised block keeps what works and closes the gap.",
    "all of it": (
        "Sure, here is the improved block:\n\n```xml\n<instructions>\n## New instructions\n"
        f"{BLOCK}\n</instructions>\n```\n\nLet me know if anything is missing."
    ),
}


@pytest.mark.parametrize("inside", DRESSED.values(), ids=list(DRESSED))
def test_what_speaks_of_the_block_or_wraps_it_is_taken_off(inside):
    assert extract_block(f"{OPEN}\n{inside}\n{CLOSE}").block == BLOCK
    assert extract_block(json.dumps({"block": inside})).block == BLOCK


@pytest.mark.parametrize(
    "inside",
    [
        f"{BLOCK}\n```\nHere is an example.\n```\nScore it.",
        f"Read the note.\nHere is the improved block:\n{BLOCK}",
        f"{BLOCK}\nLet me know if this suits you.\nThen give a score.",
        f"First.\n<instructions>\n{BLOCK}\n</instructions>",
        f"{BLOCK}\n## Revised instructions\n{BLOCK}",
    ],
)
def test_dressing_in_the_midst_of_a_block_is_asked_about(inside):
    found = extract_block(f"{OPEN}\n{inside}\n{CLOSE}")
    assert found.block is None
    assert "write the block alone" in found.problem


@pytest.mark.parametrize(
    "block",
    [
        "Here is how to judge: read the transcript first.",
        "## Procedure\n1. Read.\n2. Compare.",
        "Instructions in the plan count: a missing one lowers the score.",
        "This is a check of what is missing:\n- drugs\n- doses",
        "Read the note.\nIf you need to choose, take the lower score.",
        "The following are critical: allergies, doses.",
        "The new block in use",
        "Okay findings do not matter. Great gaps do.",
        "*Always* hold the note against what was said.",
        "My first question is what changed.\nThis new drug, was it said?",
    ],
)
def test_honest_blocks_stay_as_they_are(block):
    assert extract_block(f"{OPEN}\n{block}\n{CLOSE}").block == block


@pytest.mark.parametrize("dressing", ["```\n```", "Here is the improved block:", "<block></block>"])
def test_a_block_of_dressing_alone_is_empty(dressing):
    assert extract_block(f"{OPEN}\n{dressing}\n{CLOSE}").block == ""


# -- a block in an object --------------------------------------------------------------------------


def test_a_reply_that_is_one_object_holds_its_block():
    assert extract_block('{"block": "Read.\\nCheck."}').block == "Read.\nCheck."
    assert extract_block('```json\n{"block": "Read."}\n```').block == "Read."


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ('{"block": "Read', "no line that holds only"),
        ('{"block": 3}', "must be a text"),
        ('{"text": "Read."}', 'no field "block"'),
        ('{"block": "A"} {"block": "B"}', "give one answer only"),
        ('Here you go: {"block": "Read."}', "no line that holds only"),
    ],
)
def test_any_other_object_holds_none(reply, problem):
    found = extract_block(reply)
    assert found.block is None
    assert problem in found.problem
