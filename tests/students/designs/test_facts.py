import asyncio
import csv
from pathlib import Path

import pytest
from tests.support.notes import benchmark
from tests.support.scripted import ScriptedCaller, reply

from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.facts import WINDOW, NoteLeaked, assert_blind, windows
from heldout.students.models.chat import ModelPin, StopReason
from heldout.students.student import Outcome

NOTE = " ".join(f"word{n}" for n in range(200))


@pytest.mark.parametrize("place", [slice(0, 150), slice(-150, None), slice(520, 900)])
def test_start_middle_and_end_are_found_whatever_case_and_space(place):
    leaked = NOTE[place].upper().replace(" ", "\n   ")
    with pytest.raises(NoteLeaked, match=r"made\|c00"):
        assert_blind(f"Facts:\n{leaked}\nEnd", [NOTE], "made|c00", "extract")


def test_other_words_pass():
    assert_blind("A transcript about something else", [NOTE, ""], "made|c00", "extract")


def test_every_note_is_looked_for():
    with pytest.raises(NoteLeaked):
        assert_blind(NOTE, ["another note", NOTE], "made|c00", "extract")


def test_windows_are_as_long_as_declared():
    assert [len(window) for window in windows(NOTE)] == [WINDOW] * 3
    short = " ".join(f"Word{n}" for n in range(16))
    assert windows(f"  {short}\n ") == (short.casefold(),)
    assert windows(" ") == ()


@pytest.mark.parametrize(
    "note",
    [
        "flu jab given today, no reaction",
        "Knee pain. Ibuprofen.",
        "Patient well, bloods normal, to come back in two weeks if any worse than today.",
        "患者无过敏史，每日服用一次氨氯地平。",
        "Укол сделан сегодня, реакции нет",
        "ok",
    ],
)
def test_a_text_too_short_to_be_a_leak_is_none(note):
    """Somebody may well have said what stands in a short note."""
    assert_blind(f"[doctor] {note} [patient] {note}", [note], "made|c00", "extract")


@pytest.mark.parametrize(
    "note",
    [
        "Cough for three days without fever, chest clear on both sides, no smoker, back in a week.",
        "患者胸闷两周，夜间痛醒，服用氨氯地平每日一次，无过敏史，父亲四十岁患同病，建议复诊。",
    ],
)
def test_a_note_with_words_enough_is_a_leak_in_any_script(note):
    with pytest.raises(NoteLeaked):
        assert_blind(f"Facts: {note}", [note], "made|c00", "extract")


@pytest.mark.parametrize(
    "said",
    [
        '{"facts": ["Cough"]}',
        '{"facts": ["Cough"]}\nAnd one m',
        '<think>a draft {"facts": ["Cough"]}',
        '```json\n{"facts": ["Cough"]}\n```',
        '{"facts": ["Cough", "Fev',
    ],
)
def test_a_list_that_ended_at_the_cap_gives_no_facts_whatever_stands_in_it(said):
    caller = ScriptedCaller(lambda _: reply(said, StopReason.LENGTH))
    context = DesignContext(Roles.all(ModelPin("m")), caller, 11)
    note = benchmark(1).consultations[0].clean[0]
    for source in (context.extraction(), context.audited()):
        read = asyncio.run(source.sheet(note))
        assert (read.value, read.outcome) == (None, Outcome.TRUNCATED)
    assert len(caller.asked) == 1


def test_short_notes_of_a_table_are_judged():
    """Each of them was said word for word in its own consultation."""
    path = Path(__file__).parents[2] / "cases" / "short.csv"
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    transcripts = {row["group"]: row["transcript"] for row in rows if row["transcript"]}
    assert any(row["text"] in transcripts[row["group"]] for row in rows)
    for row in rows:
        assert_blind(transcripts[row["group"]], [row["text"]], row["group"], "extract")
