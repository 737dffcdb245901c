import re

import pytest
from tests.reflectors.judged import CHECK, SEED, TERMS, WHOLE, pairs

from heldout.reflectors.payload import estimate_tokens
from heldout.reflectors.prompts import (
    Layout,
    LengthCap,
    Prompt,
    Terms,
    beginning,
    contract,
    load_template,
    merge_prompt,
    retry_prompt,
    rewrite_prompt,
)
from heldout.reflectors.reflector import MergeContext, RewriteContext
from heldout.splits.hashing import sha256_text


def rewrite(block=SEED, judged=None, terms=TERMS):
    return rewrite_prompt(
        RewriteContext("i01", block, pairs() if judged is None else judged), terms
    )


def untagged(text):
    return re.sub(r"^</?\w+>\n?", "", text, flags=re.MULTILINE).strip()


def merge(terms=TERMS, first=SEED, second="Look for what is missing."):
    return merge_prompt(MergeContext("i02", first, second, pairs((0,)), pairs((1,))), terms)


def test_a_rewrite_prompt_holds_block_traces_caps_and_contract():
    text = rewrite(terms=Terms(WHOLE, LengthCap(123, 456))).text
    assert f"\n# The block in use\n\n{SEED}\n" in text
    assert text.count("## Case ") == len(pairs())
    assert "at most 123 words and 456 characters" in text
    assert untagged(contract(WHOLE)) in text.split("out of bounds")[1]
    assert "All cases are shown." in text


def test_reflect_notes_reach_the_reflector_whole():
    """A canary in a reflect note must show up in a prompt, or the search reads nothing."""
    assert pairs()[0].clean.text in rewrite().text


@pytest.mark.parametrize("frame", [WHOLE, CHECK], ids=lambda frame: frame.name)
def test_every_slot_is_filled_and_the_judges_slots_are_named_in_words(frame):
    text = rewrite(terms=Terms(frame)).text
    assert "{{" not in text
    assert "[here the judge sees: note]" in text


def test_beginning_and_contract_are_the_frame_without_its_block():
    assert beginning(WHOLE).startswith("You check a clinical note")
    assert "{{" not in contract(WHOLE)
    assert '"score"' in contract(WHOLE)
    assert '"verdicts"' in contract(CHECK)


def test_a_merge_prompt_holds_both_blocks_each_with_its_wins():
    text = merge().text
    assert f"# The first block\n\n{SEED}\n" in text
    assert "# The second block\n\nLook for what is missing.\n" in text
    first, second = text.split("# Notes that the second block wins")
    assert "ramipril 5 mg" in first.split("# Notes that the first block wins")[1]
    assert "ramipril 6 mg" not in first
    assert "ramipril 6 mg" in second


def test_both_prompts_keep_the_payload_budget():
    terms = Terms(WHOLE, payload_tokens=4000)
    empty = estimate_tokens(rewrite(judged=(), terms=terms).text)
    many = rewrite(judged=pairs(range(80)), terms=terms)
    assert estimate_tokens(many.text) <= empty + 4000
    assert f"room: {len(many.left_out)}." in many.text
    both = merge_prompt(
        MergeContext("i03", SEED, "Else.", pairs(range(40)), pairs(range(40, 80))), terms
    )
    assert estimate_tokens(both.text) <= 4000 + 1000
    assert f"room: {len(both.left_out)}." in both.text


def test_side_info_in_an_instruction_gets_no_data_spliced_in():
    """gepa: an instruction containing `<side_info>` got data put into it by chained replace."""
    evil = "Use <side_info> and <curr_param>; {{cases}} {{notes}} {{contract}} stay as they are."
    text = rewrite(block=evil).text
    assert text.count("## Case 1 ") == 1
    assert f"# The block in use\n\n{evil}\n" in text
    both = merge(first=evil, second="{{first}} {{first_wins}}").text
    assert both.count(evil) == 1
    assert "# The second block\n\n{{first}} {{first_wins}}\n" in both


def test_a_slot_token_in_a_note_changes_nothing_else():
    judged = pairs(said="{{block}} {{max_words}} <<<BLOCK")
    text = rewrite(judged=judged).text
    assert text.count(SEED) == 1
    assert "judge on the clean twin: {{block}} {{max_words}} <<<BLOCK" in text


def test_a_retry_repeats_the_request_and_says_what_was_wrong():
    prompt = Prompt("The request {{problem}}.", (), TERMS, "Reply so.")
    text = retry_prompt(prompt, "it has more than one block")
    assert text.startswith("The request {{problem}}.\n")
    assert text.count("it has more than one block") == 1
    assert text.strip().endswith("Reply so.")


def test_templates_have_no_slot_that_nothing_fills():
    shared = {"beginning", "contract", "max_words", "max_characters", "truncation"}
    wins = {"first", "second", "first_wins", "second_wins"}
    for layout, more in (("", {"answer"}), ("_block_first", set())):
        assert set(load_template(f"retry{layout}").slots) == {"prompt", "problem"} | more
        assert set(load_template(f"reflect{layout}").slots) == (
            shared | {"block", "cases", "notes"} | more
        )
        assert set(load_template(f"merge{layout}").slots) == shared | wins | more


# -- what a weak model can answer ------------------------------------------------------------------

REQUESTS = [rewrite, merge]


@pytest.mark.parametrize("request_of", REQUESTS)
@pytest.mark.parametrize("frame", [WHOLE, CHECK], ids=lambda frame: frame.name)
def test_block_and_form_stand_last_and_nothing_before_looks_like_the_answer(request_of, frame):
    text = request_of(terms=Terms(frame)).text
    data, _, end = text.partition("# How to")
    answer = end.index("# Your reply")
    assert untagged(contract(frame)) in data.split("# What is out of bounds")[1]
    assert "{" not in end
    assert end.index(SEED) < answer
    assert SEED not in data
    assert text.count("<<<BLOCK") == end[answer:].count("<<<BLOCK") == 1
    assert text.count("BLOCK>>>") == end[answer:].count("BLOCK>>>") == 1
    assert re.findall(r"^</?\w+>$", text, re.MULTILINE) == []


@pytest.mark.parametrize("request_of", REQUESTS)
def test_the_first_layout_is_as_it_was(request_of):
    """Runs that began with it find their stored calls again only if not a byte is moved."""
    text = request_of(terms=Terms(WHOLE, layout=Layout.BLOCK_FIRST)).text
    assert (
        sha256_text(text)
        == {
            rewrite: "4406c659c63223ca3fc8be1a9969139341a637dbad48a41f79ae14491d6661d5",
            merge: "0d2226db3574b85025214d7b32750eddd314e7a29f908bbbb18381b69f0868e6",
        }[request_of]
    )


def test_a_structured_reply_is_asked_for_as_an_object():
    context = RewriteContext("i01", SEED, pairs())
    prompt = rewrite_prompt(context, TERMS, in_object=True)
    assert "<<<BLOCK" not in prompt.text
    assert 'its one field "block"' in prompt.text.split("# Your reply")[1]
    assert "BLOCK>>>" not in retry_prompt(prompt, "its block is empty")


def test_the_length_cap_counts_words_and_characters():
    cap = LengthCap(words=3, characters=12)
    assert cap.exceeded_by("one two 3456") is None
    assert cap.exceeded_by("a b c d") == "4 words, at most 3 allowed"
    assert cap.exceeded_by("one two 34567") == "13 characters, at most 12 allowed"
