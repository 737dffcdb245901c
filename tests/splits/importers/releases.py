"""Small releases in the public layouts, every word of them written for this project."""

from __future__ import annotations

import csv
import json
from pathlib import Path

GRID = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 30
tiers? <exists>
size = 1
item []:
    item [1]:
        class = "IntervalTier"
        name = "{name}"
        xmin = 0
        xmax = 30
        intervals: size = {size}
{intervals}
"""
INTERVAL = """        intervals [{n}]:
            xmin = {start}
            xmax = {end}
            text = "{text}"
"""
DOCTOR = [
    (0.0, "Good morning."),
    (4.0, "Since when?"),
    (9.5, "Any <UNSURE>rash</UNSURE>?"),
    (20, ""),
]
PATIENT = [(1.5, 'My ankle is ""fat"".'), (5.25, "Sunday, <UNIN/>."), (10, "<UNIN/> No.")]
DIALOGUE = [
    "[doctor] Good morning.",
    '[patient] My ankle is "fat".',
    "[doctor] Since when?",
    "[patient] Sunday,",
    "[doctor] Any rash?",
    "[patient] No.",
]


def textgrid(name: str, utterances: list[tuple[float, str]]) -> str:
    """A TextGrid with one tier."""
    intervals = "".join(
        INTERVAL.format(n=n, start=start, end=start + 1, text=text)
        for n, (start, text) in enumerate(utterances, start=1)
    )
    return GRID.format(name=name, size=len(utterances), intervals=intervals)


def primock57(folder: Path, consultations: int = 3) -> Path:
    """A folder of the release with `consultations` consultations."""
    (folder / "notes").mkdir(parents=True)
    (folder / "transcripts").mkdir()
    for number in range(1, consultations + 1):
        name = f"day1_consultation{number:02d}"
        note = {
            "day": 1,
            "consultation": number,
            "presenting_complaint": "ankle",
            "note": f"Left ankle swollen since Sunday, visit {number}. \nNo rash.\n",
            "highlights": ["ankle"],
        }
        (folder / "notes" / f"{name}.json").write_text(json.dumps(note), "utf-8")
        for speaker, utterances in (("doctor", DOCTOR), ("patient", PATIENT)):
            file = folder / "transcripts" / f"{name}_{speaker}.TextGrid"
            file.write_text(textgrid(speaker, utterances), "utf-8")
    return folder


def aci_bench(folder: Path) -> Path:
    """A folder of the release with two files of encounters and one of metadata."""
    data = folder / "data" / "challenge_data"
    data.mkdir(parents=True)
    dialogue = "[doctor] how are you ?\r\n\r\n[patient] my knee hurts .\r\n"
    for file, names in (("train.csv", ("D2N001", "D2N002")), ("valid.csv", ("D2N068",))):
        rows = [
            ["virtscribe", n, dialogue, f"\nCHIEF COMPLAINT\r\n\r\nKnee pain, case {n}.\n"]
            for n in names
        ]
        write_csv(data / file, ["dataset", "encounter_id", "dialogue", "note"], rows)
    write_csv(data / "train_metadata.csv", ["dataset", "encounter_id"], [["virtscribe", "D2N001"]])
    return folder


MEDEC_HEADER = [
    "Text ID", "Text", "Sentences", "Error Flag", "Error Type", "Error Sentence ID",
    "Error Sentence", "Corrected Sentence", "Corrected Text",
]  # fmt: skip
CASES = (
    "A 40-year-old man comes in with a swollen left calf that began two days after a long flight. "
    "He takes no medicines and has no fever. The calf is warm and wider than the right one.",
    "A girl of six has scratched her scalp for a week. Her brother does the same. White specks "
    "stick to single hairs behind both ears, and the skin of her neck is red from her nails.",
    "A retired teacher wakes at night because her right hand tingles. She shakes it until the "
    "feeling is gone. Bending the wrist for a minute brings it back in thumb and forefinger.",
    "A cook burnt his forearm on an oven door an hour ago. He held it under cold water. There is a "
    "red patch as large as a palm with two small blisters, and it hurts when touched.",
)
RIGHT, WRONG = "The likely cause was named correctly.", "The likely cause was named wrongly."


def medec(folder: Path) -> Path:
    """The release's CSV with both versions of each vignette."""
    rows = []
    for number, case in enumerate(CASES):
        right, wrong = (
            f"{case} {RIGHT} Seen again next week.",
            f"{case} {WRONG} Seen again next week.",
        )
        tail = ["diagnosis", "3", WRONG, RIGHT, right]
        rows.append([f"ms-{2 * number}", wrong, "0 ...", "1", *tail])
        rows.append(
            [
                f"ms-{2 * number + 1}",
                f"{case} Seen again next week. {RIGHT}",
                "0 ...",
                "0",
                *["NA"] * 5,
            ]
        )
    folder.mkdir(parents=True, exist_ok=True)
    write_csv(folder / "medec.csv", MEDEC_HEADER, rows)
    return folder / "medec.csv"


def write_csv(path: Path, header: list[str], rows: list[list[str]]) -> None:
    """A CSV file with a header."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(header)
        writer.writerows(rows)
