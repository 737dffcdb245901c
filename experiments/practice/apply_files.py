"""The outputs of `heldout apply`, written row by row: CSV, JSON Lines, a page of flags, a card."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import IO, Any

from heldout.experiments.practice.cards import card_text
from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.practice.note_rows import NoteRow
from heldout.experiments.practice.pages import FlagPage
from heldout.experiments.practice.session import JudgedAs
from heldout.experiments.practice.thresholds import ThresholdChoice
from heldout.experiments.practice.verdicts import Verdict
from heldout.experiments.report.csv_text import cell
from heldout.gepa.record.codec import plain
from heldout.splits.visible import json_text
from heldout.students.student import ReportedGap


@dataclass(frozen=True)
class JudgedRow:
    """One row of the outputs: a note with what was said of it, or why nothing was.

    The fields are the columns of the CSV and the keys of the JSON Lines; `assessment` None is left
    out there.
    """

    row: int
    id: str
    consultation: str
    status: str
    score: float | None
    flag: bool | None
    named: tuple[ReportedGap, ...]
    assessment: str | None
    reason: str
    confirmed: bool

    def to_json(self) -> dict[str, Any]:
        """One line of the JSON Lines."""
        found = asdict(self)
        if self.assessment is None:
            del found["assessment"]
        return found

    @property
    def cells(self) -> list[str]:
        """One line of the CSV."""
        named = "; ".join(f"{f.text} ({f.severity})" if f.severity else f.text for f in self.named)
        values = {**vars(self), "named": named, "assessment": self.assessment or ""}
        return [cell(value) for value in values.values()]


@dataclass
class ApplyOutputs:
    """Open files; `files` are their final names, which they get when all is written."""

    prompt: LoadedPrompt
    files: tuple[Path, ...]
    _csv: Any = field(repr=False)
    _jsonl: IO[str] = field(repr=False)
    _page: FlagPage = field(repr=False)

    @classmethod
    @contextmanager
    def into(
        cls, out: Path, prompt: LoadedPrompt, judged_as: JudgedAs, threshold: ThresholdChoice
    ) -> Iterator[ApplyOutputs]:
        """Open the files in `out`; they are there under their names only if nothing is raised."""
        stem = prompt.file_stem
        names = [f"{stem}.{suffix}" for suffix in ("csv", "jsonl", "html", "card.yaml")]
        files = tuple(out / name for name in names)
        parts = [file.with_name(f"{file.name}.part") for file in files]
        applied = {**plain(judged_as), "threshold": plain(threshold)}
        with ExitStack() as stack:
            table, lines, page, card = (
                stack.enter_context(part.open("w", encoding="utf-8", newline="")) for part in parts
            )
            card.write(
                card_text({**prompt.card, "confirmed": prompt.confirmed, "applied": applied})
            )
            writer = csv.writer(table, lineterminator="\n")
            writer.writerow([column.name for column in fields(JudgedRow)])
            flags = FlagPage(page, prompt, judged_as, threshold)
            yield cls(prompt, files, writer, lines, flags)
            flags.close()
        for part, file in zip(parts, files, strict=True):
            part.replace(file)

    def write(self, row: NoteRow, status: str, verdict: Verdict | None, reason: str) -> None:
        """One row, in every file it belongs to."""
        line = JudgedRow(
            row=row.number,
            id=row.id,
            consultation=row.note.consultation if row.note else "",
            status=status,
            score=verdict.score if verdict else None,
            flag=verdict.flag if verdict else None,
            named=verdict.named if verdict else (),
            assessment=verdict.assessment if verdict else None,
            reason=reason,
            confirmed=self.prompt.confirmed,
        )
        self._jsonl.write(json_text(line.to_json()) + "\n")
        self._csv.writerow(line.cells)
        if verdict is not None and verdict.flag:
            self._page.add(row, verdict)
        elif verdict is None or verdict.score is None:
            self._page.unjudged(row, status, reason)
        else:
            self._page.cleared()
