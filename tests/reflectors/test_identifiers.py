# ruff: noqa: E501 (tables of what is planted)
"""Planted identifiers of forty consultations in three scripts, and blocks a person would write."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle

import pytest
from tests.reflectors.judged import TERMS, WHOLE
from tests.support.notes import consultation

from heldout.reflectors.guard import Guard
from heldout.reflectors.reflector import RejectReason
from heldout.splits.benchmark import Consultation
from heldout.splits.protected import protect

PLANTED = 40
LATIN = (
    ["Agnieszka", "Tobias", "Ingrid", "Chidi", "Marisol", "Siobhan", "Jean-Luc", "Ayşe", "Rowan", "Petra"],
    ["Kowalczyk", "Lindqvist", "Okonkwo", "O'Brien", "Fernández", "Baldwin", "van der Berg", "Yılmaz"],
    ["Elm Street", "Rosewood Avenue", "Harbour Lane", "Priory Close", "Mill Road"],
    ["January", "March", "May", "July", "October", "December"],
    "{last}, {first} attended.\nBorn {day} {month} {year}. Lives at {house} {street}. Record {number}.",
    "[doctor] Good morning, Mrs {last}.\n[patient] Hello. Call me on {phone}.",
)  # fmt: skip
CYRILLIC = (
    ["Сергей", "Мария", "Галина", "Тимур", "Оксана", "Пётр", "Жанна", "Лев", "Зоя", "Ярослав"],
    ["Ковальчук", "Садыков", "Лебедева", "Щербина", "Ильин", "Юдина", "Цветкова", "Эйхе"],
    ["ул. Садовая", "ул. Речная", "проспект Мира", "переулок Тихий", "ул. Полевая"],
    ["января", "марта", "мая", "июля", "октября", "декабря"],
    "Пациент {last} {first}, родился {day} {month} {year} г. Адрес: {street}, д. {house}. Карта {number}.",
    "[врач] Здравствуйте, {first} {last}.\n[пациент] Мой телефон {phone}.",
)  # fmt: skip
CHINESE = (
    ["建国", "小明", "秀英", "伟", "丽娜", "志强", "文静", "浩然", "雪梅", "俊杰"],
    ["王", "李", "陈", "欧阳", "赵", "孙", "周", "郑"],
    ["建国路", "解放街", "中山北路", "和平大道", "文化巷"],
    ["1月", "3月", "5月", "7月", "10月", "12月"],
    "患者{last}{first}，男，{year}年{month}{day}日出生，住{street}{house}号，病历号{number}。",
    "[医生] 您是{last}{first}先生吗？\n[患者] 是的，电话{phone}。",
)  # fmt: skip
SCRIPTS = {"latin": LATIN, "cyrillic": CYRILLIC, "chinese": CHINESE}


def details(script: str) -> list[dict[str, str]]:
    """Made people, no two of them alike."""
    first, last, streets, months, _, _ = SCRIPTS[script]
    return [
        {
            "first": first[n % len(first)],
            "last": last[(n // 3 + n) % len(last)],
            "street": streets[n % len(streets)],
            "house": str(3 + 7 * n),
            "day": str(1 + n % 28),
            "month": months[n % len(months)],
            "year": str(1931 + n),
            "number": str(4831 * (n + 3)),
            "phone": f"020 7946 {1000 + 37 * n}",
        }
        for n in range(PLANTED)
    ]


def planted(script: str) -> list[Consultation]:
    """The people's consultations."""
    note, spoken = SCRIPTS[script][4:]
    made = []
    for number, person in enumerate(details(script)):
        plain = consultation(number)
        text = f"{note.format(**person)}\n{plain.clean[0].text}"
        transcript = f"{spoken.format(**person)}\n{plain.transcript}"
        clean = replace(plain.clean[0], text=text, transcript=transcript)
        made.append(replace(plain, clean=(clean,), errored=(), transcript=transcript))
    return made


def mentions(script: str, person: dict[str, str]) -> dict[str, list[str]]:
    """Ways to mention a person, by what is mentioned; dates in other spellings than planted."""
    month = SCRIPTS[script][3].index(person["month"])
    number = (1, 3, 5, 7, 10, 12)[month]
    day, year = int(person["day"]), person["year"]
    name = ("{last}{first}" if script == "chinese" else "{first} {last}").format(**person)
    address = {
        "latin": "{house} {street}",
        "cyrillic": "{street}, {house}",
        "chinese": "{street}{house}号",
    }
    return {
        "name": [name, name.upper(), "\u200b".join(name)],
        "date": [f"{day:02}/{number:02}/{year}", f"{year}-{number:02}-{day:02}", f"{day}.{number}.{year[2:]}"],
        "number": [person["number"], person["phone"].replace(" ", "-")],
        "address": [address[script].format(**person)],
    }  # fmt: skip


FRAMES = cycle(
    ["Read the note with care, as for {}, and score it.", "Mind {}.", "请注意{}的情况。"]
)
HONEST = (
    "Compare every dose, such as 500 mg, and every reading, such as 120/80, with the transcript.",
    "Mark each fact that Chest, Heart or Plan leaves out. Will the note do after 24 hours?",
    "Use at most 150 words. Give 0 to 100 points. Name the five worst gaps by weight.",
    "May a nurse in Paris act on it on Monday? March through the note line by line.",
    "Говорится ли об аллергии, дозе и сроке? Сравните каждое число с записью разговора.",
    "Σύγκρινε κάθε δόση με τη συνομιλία και βρες τι λείπει από τη σημείωση.",
    "逐条核对剂量（例如500毫克）、过敏史、高血压和复诊时间，缺少的事实越重要分数越低。",
    "服薬、アレルギー、再診の指示が記録にあるか、一つずつ確かめてください。",
)


@pytest.fixture(scope="module", params=list(SCRIPTS))
def script(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def guard(script: str) -> Guard:
    """A guard over the forty consultations of a script."""
    return Guard(WHOLE, TERMS.cap, protect(planted(script)))


def test_planted_identifiers_are_rejected_whatever_their_spelling(
    script: str, guard: Guard
) -> None:
    """At least 95% of names, dates, numbers and addresses, each kind by itself."""
    missed: dict[str, list[str]] = {}
    tried: dict[str, int] = {}
    for person in details(script):
        for kind, written in mentions(script, person).items():
            for mention in written:
                tried[kind] = tried.get(kind, 0) + 1
                rejection = guard.check(next(FRAMES).format(mention), {}, ())
                if rejection is None or not rejection.withholds_text:
                    missed.setdefault(kind, []).append(mention)
                else:
                    assert mention not in rejection.detail
    assert set(tried) == {"name", "date", "number", "address"}
    for kind, count in tried.items():
        assert len(missed.get(kind, [])) <= 0.05 * count, (kind, missed[kind][:8])


@pytest.mark.parametrize("block", HONEST)
def test_a_block_that_names_nobody_passes(block: str, guard: Guard) -> None:
    assert guard.check(block, {}, ()) is None


def test_a_block_with_a_patients_name_and_birthday_is_rejected_by_kind() -> None:
    """However short: no run of eight words is needed."""
    guard = Guard(WHOLE, TERMS.cap, protect(planted("latin")[:1]))
    rejection = guard.check("As for Agnieszka Kowalczyk, 1.1.31.", {}, ())
    assert rejection is not None
    assert rejection.reason is RejectReason.IDENTIFIER
    assert rejection.detail == "name or address, part of a name, date of a consultation"


@pytest.mark.parametrize(
    "tag",
    ["＜note＞", "&lt;note&gt;", "&#60;note&#62;", "&#x3C;/note>", "&amp;lt;note&amp;gt;", "< n o t e >",
     "<nоte>", "<no\u200bte>", "\\u003cnote\\u003e", "%3Cnote%3E", "‹note›", "｛｛note｝｝", "{ {note} }",
     "＜＜＜BLOCK", "<answer format>", "</note"],
)  # fmt: skip
def test_tags_and_slots_are_found_in_any_width_or_entity_form(tag: str) -> None:
    guard = Guard(WHOLE, TERMS.cap, protect([]))
    rejection = guard.check(f"Read with care. {tag} Then score.", {}, ())
    assert rejection is not None
    assert rejection.reason is RejectReason.SLOT_TOKEN


@pytest.mark.parametrize(
    "block",
    [
        "Look at Margarethe Quillfeather's cough.",
        "Look at MARGARETHE QUILLFEATHER’S cough.",
        "As in margarethe quillfeather`s note.",
        "As in Quillfeather, Margarethe's note.",
        "Do it as in Quillfeather's note.",
    ],
)
def test_a_name_in_the_possessive_is_the_name(block):
    note = "Mrs Margarethe Quillfeather attended."
    noted = [replace(consultation(n), transcript=note if n == 1 else "Hello.") for n in range(4)]
    found = Guard(WHOLE, TERMS.cap, protect(noted)).check(block, {}, ())
    assert found is not None
    assert found.reason is RejectReason.IDENTIFIER


def test_a_name_that_only_stands_in_the_possessive_is_protected():
    note = "We spoke of Margarethe Quillfeather's cough."
    noted = [replace(consultation(n), transcript=note if n == 1 else "Hello.") for n in range(4)]
    using = Guard(WHOLE, TERMS.cap, protect(noted))
    found = using.check("Read of Margarethe Quillfeather first.", {}, ())
    assert found is not None
    assert found.reason is RejectReason.IDENTIFIER
    assert using.check("Read the patient's history and the note's plan first.", {}, ()) is None
