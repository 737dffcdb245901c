"""Thinking is taken off before anything is read; what never ended leaves no answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.students.models.thinking import Parted, parted

GOOD = '{"assessment": "fine", "score": 3}'
DRAFT = '{"assessment": "a draft", "score": 9}'
PAIRS = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<THINK>", "</Think>"),
    ("< think >", "</ think >"),
    ("<think\n>", "< /think>"),
    ('<think lang="en" depth=2>', "</think>"),
    ("<thought>", "</thought>"),
    ("<thoughts>", "</thoughts>"),
    ("<reasoning>", "</reasoning>"),
    ("<scratchpad>", "</scratchpad>"),
    ("<seed:think>", "</seed:think>"),
    ("<inner_thoughts>", "</inner_thoughts>"),
    ("<thinking_process>", "</thinking_process>"),
    ("<|think|>", "<|/think|>"),
    ("<|thinking|>", "</|thinking|>"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("[THINK]", "[/THINK]"),
    ("[think]", "[ /think ]"),
    ("＜think＞", "＜/think＞"),
    ("＜ｔｈｉｎｋ＞", "＜／ｔｈｉｎｋ＞"),
    ("◁think▷", "◁/think▷"),
    ("<\u200bthink>", "</think\u200b>"),
    ("&lt;think&gt;", "&lt;/think&gt;"),
    ("<analysis>", "</analysis>"),
    ("<cot>", "</cot>"),
    ("<inner_monologue>", "</inner_monologue>"),
    ("<deliberation>", "</deliberation>"),
    ("<|thought_begin|>", "<|thought_end|>"),
    ("<unused94>", "<unused95>"),
    ("<|channel>thought", "<channel|>"),
]
SPELT = pytest.mark.parametrize(("begin", "end"), PAIRS)


@SPELT
def test_thoughts_are_taken_off_whatever_their_tag_is_called(begin, end):
    assert parted(f"{begin}{DRAFT}{end}{GOOD}") == Parted(GOOD, DRAFT)
    assert parted(f"\n{begin}\nhm {DRAFT}\n{end}\n\n{GOOD}\n").answer == GOOD
    assert parted(f"Let me see. {begin}{DRAFT}{end} {GOOD}").answer == f"Let me see.  {GOOD}"


@SPELT
def test_thinking_that_never_ended_leaves_no_answer(begin, end):
    for text in (
        f"{begin}{DRAFT}",
        f"{begin}",
        f"Sure! {begin} hm {DRAFT}",
        f"{begin}a{begin}b{end}{DRAFT}",
        f"{begin}a{end}{begin}{DRAFT}",
        f"{GOOD} {begin} wait, {DRAFT}",
        f"{begin}<<<BLOCK\na draft\nBLOCK>>>",
        f'{begin} I shall close with "{end}" and then {DRAFT}',
    ):
        assert parted(text) == Parted("", text.strip(), ended=False), text


@SPELT
def test_a_closing_tag_alone_ends_thoughts_that_the_prompt_opened(begin, end):
    del begin
    assert parted(f"hm {DRAFT}{end}{GOOD}") == Parted(GOOD, f"hm {DRAFT}")
    assert parted(f"a{end}{DRAFT}{end}{GOOD}").answer == GOOD
    assert parted(f"{DRAFT}{end}") == Parted("", DRAFT)


@SPELT
def test_several_and_nested_thoughts(begin, end):
    assert parted(f"{begin}a{end}{begin}{DRAFT}{end}{GOOD}").answer == GOOD
    assert parted(f"{begin}a{begin}b{end}{DRAFT}{end}{GOOD}").answer == GOOD
    assert parted(f"{begin}{end}{GOOD}") == Parted(GOOD)


CHANNEL = "<|channel|>{}<|message|>{}"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        (CHANNEL.format("final", GOOD) + "<|return|>", GOOD),
        (CHANNEL.format("analysis", DRAFT) + "<|end|>" + CHANNEL.format("final", GOOD), GOOD),
        (
            f"<|start|>assistant<|channel|>analysis<|message|>{DRAFT}<|end|>"
            f"<|start|>assistant<|channel|>final<|message|>{GOOD}<|return|>",
            GOOD,
        ),
        (
            f"{DRAFT}<|end|><|start|>assistant<|channel|>final<|message|>{GOOD}<|return|>",
            GOOD,
        ),
        (
            CHANNEL.format("analysis", "a")
            + "<|end|>"
            + CHANNEL.format("commentary", DRAFT)
            + CHANNEL.format("final", GOOD),
            GOOD,
        ),
        (f"<|channel|>analysis {DRAFT}<|channel|>final {GOOD}", GOOD),
        (f"<|channel|>final <|constrain|>json<|message|>{GOOD}", GOOD),
        (f"<| channel |>Analysis<| message |>{DRAFT}<| channel |>Final<| message |>{GOOD}", GOOD),
        (f"{GOOD}<|return|>", GOOD),
        (f"analysisWe need a score. {DRAFT}assistantfinal{GOOD}", GOOD),
        (f"analysis\nWe need a score. {DRAFT}\nfinal\n{GOOD}", GOOD),
        (f"analysisHm.assistantcommentary{DRAFT}assistantfinal{GOOD}", GOOD),
        (f"We need a score. {DRAFT}assistantfinal{GOOD}", GOOD),
        (f"<think>{DRAFT}</think>" + CHANNEL.format("final", GOOD), GOOD),
    ],
)
def test_of_channels_only_the_final_one_answers(text, answer):
    assert (parted(text).answer, parted(text).ended) == (answer, True)


@pytest.mark.parametrize(
    "text",
    [
        CHANNEL.format("analysis", DRAFT),
        "<|channel|>analysis",
        CHANNEL.format("final", GOOD) + "<|end|>" + CHANNEL.format("analysis", DRAFT),
        f"<|start|>assistant<|channel|>commentary to=x<|message|>{DRAFT}",
        f"analysisWe need {DRAFT}",
        f"analysis\n{DRAFT}",
        f"analysis{DRAFT}",
        CHANNEL.format("final", f"<think>{DRAFT}"),
    ],
)
def test_a_reply_that_never_reached_its_final_channel_has_no_answer(text):
    assert (parted(text).answer, parted(text).ended) == ("", False)


@pytest.mark.parametrize(
    "text",
    [
        '{"assessment": "the note holds the tag <think> and no plan", "score": 3}',
        '{"assessment": "it ends with </think>", "score": 3}',
        'Verdict:\n```json\n{"assessment": "<|channel|>analysis<|message|> stands there"}\n```',
        '{"missing": [{"fact": "a [THINK] mark"}], "score": 3}',
        "The note writes `<think>` for thoughts.\nVERDICT: FAIL",
        'The note writes "</think>" twice.\nVERDICT: FAIL',
        "«<thinking>» is no word.\nVERDICT: FAIL",
        "<<<BLOCK\nThink between <thinking> and </thinking>, then score.\nBLOCK>>>",
        "Here it is.\n<<<BLOCK\nNever write <think>.\nBLOCK>>>\nDone.",
    ],
)
def test_a_tag_that_an_answer_quotes_is_left_alone(text):
    assert parted(text) == Parted(text)
    assert parted(f"<think>{DRAFT}</think>{text}").answer == text
    if "/think" not in text:
        assert parted(f"<think>{DRAFT} {text}").ended is False


@pytest.mark.parametrize(
    "text",
    [
        "",
        GOOD,
        "I think the score is [7], < 8 and > 6.",
        "analysis: the plan is missing.\nVERDICT: FAIL",
        "analysis of the note shows no gap. final score below",
        "Analysis\nNothing is missing.\nfinal\nVERDICT: PASS",
        "The medical assistant final note is whole.\nVERDICT: PASS",
        "x < think and y > z",
    ],
)
def test_text_without_thoughts_is_left_as_it_is(text):
    assert parted(text) == Parted(text)


@pytest.mark.parametrize(
    "text",
    [
        "<" + " " * 200_000 + "think",
        "[" * 100_000 + "<think>",
        '{"a":' * 50_000 + "</think>",
        '{"a": "' * 20_000 + "</think>",
        "<<<A\n" * 30_000 + "</think>",
        "<think>" * 20_000,
        "<|channel|>" * 20_000,
    ],
)
def test_odd_text_is_read_in_time_too(text):
    assert isinstance(parted(text), Parted)


@given(st.lists(st.sampled_from(["<think>", "</think>", "{", '"', "a", "[THINK]", "\n", "<|"])))
def test_nothing_is_made_up(pieces):
    text = "".join(pieces)
    found = parted(text)
    assert found.ended or found.answer == ""
    assert set(found.answer) <= set(text)
