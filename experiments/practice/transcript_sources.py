"""Transcripts from files of their own, for notes that come without one.

A folder holds one file a transcript (`.txt`, `.vtt`, `.srt`, Whisper's `.json`); its name, without
`.transcript`, is that of the consultation, a folder between them its stratum. A file is a table of
`consultation_id, transcript`, or one transcript named like the consultation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from heldout.splits.errors import BadInput
from heldout.splits.loading.captions import SUFFIXES, read_transcript
from heldout.splits.loading.columns import TableOptions, Wanted
from heldout.splits.loading.ids import id_or_none, same_id
from heldout.splits.loading.tables import SUFFIXES as TABLES
from heldout.splits.loading.tables import open_table
from heldout.splits.loading.text_files import Faults, read_input

TRANSCRIPT = ".transcript"
WANTED = Wanted(
    {
        "consultation": ("consultation_id", "consultation", "group", "id"),
        "transcript": ("transcript",),
    },
    ("consultation", "transcript"),
    ("consultation",),
)


@dataclass(frozen=True)
class Spoken:
    """Transcripts by name: texts, or files that are read when asked for."""

    by_name: Mapping[str, str | Path] = field(default_factory=dict)
    encoding: str | None = None
    notices: tuple[str, ...] = ()

    def of(self, names: Iterable[str]) -> str | None:
        """The transcript of the first of `names` that has one. Raises BadInput for a bad file."""
        found = next((self.by_name[name] for name in names if name in self.by_name), None)
        return read_transcript(found, self.encoding) if isinstance(found, Path) else found


def transcripts_by_name(path: Path, options: TableOptions) -> Spoken:
    """The transcripts at `path`. Raises BadInput where it holds none, or one name twice."""
    if path.is_dir():
        return Spoken(_files(path), options.encoding)
    file = read_input(path)
    if file.kind in TABLES:
        return _table(path, options.second(WANTED.names))
    if file.kind not in SUFFIXES:
        endings = ", ".join((*TABLES, *SUFFIXES))
        raise BadInput.one(str(path), f"must be a folder, or its name end in one of {endings}")
    return Spoken({_name(Path(path.name)): path}, options.encoding)


def _table(path: Path, options: TableOptions) -> Spoken:
    faults, found, places = Faults(), dict[str, str | Path](), dict[str, str]()
    table = open_table(read_input(path), WANTED, options)
    for record in table.records(faults):
        name, text = id_or_none(record.value.get("consultation")), record.value.get("transcript")
        if not name:
            faults.add(record.where, "consultation_id: text or a number is needed")
        elif not isinstance(text, str) or not text.strip():
            faults.add(record.where, "transcript: text is needed")
        elif found.setdefault(name, text) != text:
            faults.add(record.where, f"consultation {name!r} stands already at {places[name]}")
        places.setdefault(name or "", record.where)
    faults.raise_any()
    return Spoken(found, options.encoding, table.notices)


def _files(folder: Path) -> dict[str, str | Path]:
    files = [file for file in sorted(folder.rglob("*")) if file.suffix.lower() in SUFFIXES]
    if not files:
        raise BadInput.one(str(folder), f"holds no transcript ({', '.join(SUFFIXES)})")
    found: dict[str, str | Path] = {}
    # Of one transcript in several forms the first of SUFFIXES is read; the stem alone names it too.
    for file in sorted(files, key=lambda file: SUFFIXES.index(file.suffix.lower())):
        name = _name(file.relative_to(folder))
        for spelling in (name, name.replace("/", "|"), name.rpartition("/")[2]):
            found.setdefault(spelling, file)
    return found


def _name(path: Path) -> str:
    return same_id(path.with_suffix("").as_posix().removesuffix(TRANSCRIPT))
