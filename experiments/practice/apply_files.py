"""The outputs of `heldout apply`, written row by row: CSV, JSON Lines, a page of flags, a card."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from heldout.experiments.practice.loaded_prompt import Taken, card_text
from heldout.experiments.practice.note_rows import NoteRow
from heldout.experiments.practice.pages import FlagPage
from heldout.experiments.practice.verdicts import Verdict

COLUMNS = (
    "row", "id", "consultation", "status", "score", "flag", "named", "assessment", "reason",
    "confirmed",
)  # fmt: skip
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a spreadsheet takes for the start of a formula."""


@dataclass
class Outputs:
    """Open files; `files` are their final names, which they get when all is written."""

    taken: Taken
    files: tuple[Path, ...]
    _csv: Any = field(repr=False)
    _jsonl: IO[str] = field(repr=False)
    _page: FlagPage = field(repr=False)

    @classmethod
    @contextmanager
    def into(cls, out: Path, taken: Taken, judged_as: Mapping[str, Any]) -> Iterator[Outputs]:
        """Open the files in `out`; they are there under their names only if nothing is raised."""
        stem = taken.file_stem
        names = [f"{stem}.{suffix}" for suffix in ("csv", "jsonl", "html", "card.yaml")]
        files = tuple(out / name for name in names)
        parts = [file.with_name(f"{file.name}.part") for file in files]
        with ExitStack() as stack:
            table, lines, page, card = (
                stack.enter_context(part.open("w", encoding="utf-8", newline="")) for part in parts
            )
            card.write(
                card_text({**taken.card, "confirmed": taken.confirmed, "applied": judged_as})
            )
            writer = csv.writer(table, lineterminator="\n")
            writer.writerow(COLUMNS)
            flags = FlagPage(page, taken, judged_as)
            yield cls(taken, files, writer, lines, flags)
            flags.close()
        for part, file in zip(parts, files, strict=True):
            part.replace(file)

    def write(self, row: NoteRow, status: str, verdict: Verdict | None, reason: str) -> None:
        """One row, in every file it belongs to."""
        consultation = row.note.consultation if row.note else ""
        confirmed = self.taken.confirmed
        record = {"row": row.number, "id": row.id, "consultation": consultation, "status": status}
        known = verdict.to_json() if verdict else {"score": None, "flag": None, "named": []}
        line = {**record, **known, "reason": reason, "confirmed": confirmed}
        self._jsonl.write(json.dumps(_sound(line), ensure_ascii=False) + "\n")
        self._csv.writerow(_cells(line))
        if verdict is not None and verdict.flag:
            self._page.add(row, verdict)
        elif verdict is None or verdict.score is None:
            self._page.unjudged(row, status, reason)
        else:
            self._page.cleared()


def _cells(line: Mapping[str, Any]) -> list[str]:
    named = "; ".join(
        f"{fact['text']} ({fact['severity']})" if fact["severity"] else fact["text"]
        for fact in line["named"]
    )
    values = {**line, "named": named, "assessment": line.get("assessment", "")}
    return [_cell(values[name]) for name in COLUMNS]


def _cell(value: Any) -> str:
    """A cell that no spreadsheet runs: texts that look like a formula get a leading quote."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, str):
        return f"{value:g}" if isinstance(value, float) else str(value)
    text = value.encode("utf-8", "replace").decode("utf-8")
    return f"'{text}" if text.startswith(_FORMULA) else text


def _sound(value: Any) -> Any:
    """Texts without halves of surrogate pairs, which cannot be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {key: _sound(inner) for key, inner in value.items()}
    return [_sound(inner) for inner in value] if isinstance(value, list) else value
