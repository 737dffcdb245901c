import pytest

from heldout.splits.identifiers.names import names, written_as_names
from heldout.splits.legible import visible


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("Agnieszka Kowalczyk, 54, well.", "agnieszka kowalczyk"),
        ("Seen with Jean-Luc de la Tour.", "jean luc de la tour"),
        ("Patient: JOHN SMITH", "john smith"),
        ("my name is Tobias Lindqvist", "tobias lindqvist"),
        ("Пациент Иванов Сергей Петрович", "иванов сергеи петрович"),
        ("Ο ασθενής Γιώργος Παπαδόπουλος", "γιωργοσ παπαδοπουλοσ"),
        ("lives at 14 Elm Street, SW1A 2AA", "elm street"),
        ("lives at 14 Elm Street, SW1A 2AA", "sw1a 2aa"),
        ("Anna wohnt Hauptstraße 12", "hauptstrasse"),
        ("живёт на ул. Садовая, д. 5", "ул садовая"),
        ("Μένει οδός Ερμού 15", "οδοσ ερμου"),
        ("您是王建国先生吗", "王 建 国"),
        ("王建国，胸闷2周", "王 建 国"),
        ("患者李伟，男，58岁", "李 伟"),
        ("姓名：欧阳明", "欧 阳 明"),
        ("住北京市朝阳区建国路88号", "建 国 路 88"),
        ("山田太郎さんが来た", "山 田 太 郎"),
        ("김철수 씨", "김철수"),
    ],
)
def test_whole_names_and_addresses(text, whole):
    assert whole in names(visible(text)).whole


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("Good morning, Mrs Baldwin. How are you?", "baldwin"),
        ("Hi, Andrew.", "andrew"),
        ("mr okonkwo came", "okonkwo"),
        ("Frau Dr. Müller kam", "muller"),
        ("Agnieszka reports a cough.", "agnieszka"),
        ("Ingrid (54) is well", "ingrid"),
        ("I'm calling about Dr. O'Brien", "obrien"),
    ],
)
def test_a_single_word_behind_a_title_or_a_greeting(text, part):
    assert part in names(visible(text)).parts


@pytest.mark.parametrize(
    "text",
    ["Takes ramipril and Ventolin.", "Denies chest pain. No fever.", "HISTORY OF PRESENT ILLNESS",
     "高血压，2年。白细胞正常", "患者高血压10年", "お母さんと来た", "The note. A score.",
     "- Check: Dose"],
)  # fmt: skip
def test_a_word_that_merely_stands_there_is_no_name(text):
    found = names(visible(text))
    assert not found.whole
    assert not found.parts


def test_a_name_is_written_with_a_capital_within_a_sentence_or_behind_a_title():
    assert written_as_names("Mark each fact. As in Price, grace counts.") == {"price"}
    assert "baldwin" in written_as_names("mrs baldwin")
