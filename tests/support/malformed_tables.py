"""Tables as the world sends them: sound ones in many dialects, and each kind of damage to them.

Every patient has a mark of their own in note and transcript, so that a row that holds another's
text is seen whatever else happened. `examine` reads one table as its commands do.
"""

from __future__ import annotations

import csv
import io
import random
import re
import uuid
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from heldout.experiments.practice.note_rows import NoteFile, open_notes
from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark

MARK = re.compile(r"mark\d{3}x")
NAMES = (
    "Abel",
    "Birch",
    "Cohen",
    "Drake",
    "Ebert",
    "Fiore",
    "Gauss",
    "Hardy",
    "Ibsen",
    "Joyce",
    "Klein",
    "Lopez",
)
PHRASES = (
    "Knee pain for two weeks, worse at night",
    "No fever, no rash, sleeps badly",
    'She said "never again" and laughed',
    "Plan: rest, ice, review in 5 days",
    "BP 120/80, pulse 72, SpO2 98%",
    "Häufig müde, naïve to opioids",
    "1. Ibuprofen, 2. Paracetamol, 3. none",
)


@dataclass(frozen=True)
class MadeTable:
    """A file of a table: `rows` are the ids it was made of, each with its patient's mark."""

    kind: str
    name: str
    data: bytes
    rows: Mapping[str, str]
    groups: bool


@dataclass(frozen=True)
class Seen:
    """What reading a table came to; `wrong` is empty where every claim held."""

    kind: str
    refused: bool
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class _Form:
    """How a sound table is written."""

    header: list[str]
    rows: list[list[str]]
    delimiter: str
    quoted: bool
    end: str

    def text(self) -> str:
        stream = io.StringIO(newline="")
        writer = csv.writer(
            stream,
            delimiter=self.delimiter,
            quoting=csv.QUOTE_ALL if self.quoted else csv.QUOTE_MINIMAL,
            lineterminator=self.end,
        )
        writer.writerow(self.header)
        writer.writerows(self.rows)
        return stream.getvalue()

    def place(self, column: str) -> int:
        return self.header.index(column)


def made_table(number: int) -> MadeTable:
    """The table of this number; the same each time."""
    rng = random.Random(number)
    groups = rng.random() < 0.3
    form, rows = _form(rng, groups)
    names = sorted(DAMAGES)
    kind = names[number % len(names)]
    data = DAMAGES[kind](form, rng)
    return MadeTable(kind, f"t{number}.csv", data, rows, groups)


def examine(table: MadeTable, folder: Path) -> Seen:
    """Read `table` from `folder`: a fault that names the file, or rows with their own text only."""
    path = folder / table.name
    path.write_bytes(table.data)
    try:
        texts, count = (_benchmark if table.groups else _notes)(path)
    except BadInput as error:
        named = any(table.name in line for line in error.lines)
        return Seen(table.kind, True, () if named else (f"names no file: {error}",))
    wrong = []
    for name, text in texts:
        found, own = set(MARK.findall(text)), table.rows.get(name)
        # An id may be what was damaged; then the row is still of one patient.
        if len(found) > 1 or (own is not None and found != {own}):
            wrong.append(f"row {name[:40]!r} of {own} holds {sorted(found)}")
    if count < len(table.rows):
        wrong.append(f"{count} of {len(table.rows)} rows were given out, and no fault")
    return Seen(table.kind, False, tuple(wrong))


def _notes(path: Path) -> tuple[list[tuple[str, str]], int]:
    rows = list(open_notes(NoteFile(path)).rows())
    return [(r.id, r.note.text + r.note.transcript) for r in rows if r.note is not None], len(rows)


def _benchmark(path: Path) -> tuple[list[tuple[str, str]], int]:
    loaded = open_benchmark(BenchmarkSource(path)).benchmark
    found = [(c.id.partition("|")[2], n.text + n.transcript) for c in loaded for n in c.notes]
    return found, len(found)


def _form(rng: random.Random, groups: bool) -> tuple[_Form, dict[str, str]]:
    count = rng.randint(4, 12)
    style = rng.choice(("short", "long", "number", "name", "uuid"))
    ids = {
        "short": [f"n{n}" for n in range(1, count + 1)],
        "long": [f"D2N{n:03d}" for n in range(1, count + 1)],
        "number": [str(100 + n) for n in range(count)],
        "name": list(NAMES[:count]),
        "uuid": [str(uuid.UUID(int=rng.getrandbits(128), version=4)) for _ in range(count)],
    }[style]
    marks = {name: f"mark{n:03d}x" for n, name in enumerate(ids)}
    lines = rng.choice((1, 1, 3))
    header = ["group", "note_id", "kind", "text", "transcript"] if groups else []
    header = header or ["id", "transcript", "note"]
    if rng.random() < 0.4:
        rng.shuffle(header)
    rows = []
    for name, mark in marks.items():
        text = "\n".join(f"{rng.choice(PHRASES)} {mark}" for _ in range(rng.randint(1, lines)))
        turns = rng.randint(1, lines)
        spoken = "\n".join(f"[doctor] {mark} since when, then?" for _ in range(turns))
        values = {"id": name, "group": name, "note_id": "c1", "kind": "clean"}
        values |= {"text": text, "note": text, "transcript": spoken}
        rows.append([values[column] for column in header])
    quoted = rng.random() < 1 / 3
    form = _Form(header, rows, rng.choice(",,;\t|"), quoted, rng.choice(("\n", "\r\n")))
    return form, marks


Damage = Callable[[_Form, random.Random], bytes]


def _plain_lines(form: _Form) -> list[str]:
    """One line a row, nothing quoted: what an export without quoting writes."""
    keep = str.maketrans("", "", f'\r\n"{form.delimiter}')
    rows = [form.header, *([cell.translate(keep) for cell in row] for row in form.rows)]
    return [form.delimiter.join(row) for row in rows]


def _stray(form: _Form, rng: random.Random, *, closed: bool) -> bytes:
    """A quote that opens a text of one row, and one that ends a text of a later row."""
    rows = [line.split(form.delimiter) for line in _plain_lines(form)]
    first = rng.randrange(1, len(rows) - 1)
    last = rng.randrange(first + 1, len(rows))
    texts = [form.place(c) for c in ("note", "text", "transcript") if c in form.header]
    column = rng.choice(texts)
    rows[first][column] = '"' + rows[first][column]
    if closed:
        rows[last][column] += '"'
    return form.end.join(form.delimiter.join(row) for row in rows).encode() + form.end.encode()


def _quoted_later(form: _Form, rng: random.Random) -> bytes:
    lines = _plain_lines(form)
    first = rng.randrange(1, len(lines) - 1)
    for number in (first, rng.randrange(first + 1, len(lines))):
        cells = lines[number].split(form.delimiter)
        place = form.place("transcript")
        cells[place] = '"' + cells[place] + ('"' if number > first else "")
        lines[number] = form.delimiter.join(cells)
    return "\n".join(lines).encode()


def _one_line(form: _Form, rng: random.Random, change: Callable[[str], str]) -> bytes:
    lines = _plain_lines(form)
    number = rng.randrange(1, len(lines))
    lines[number] = change(lines[number])
    return "\n".join(lines).encode()


def _bytes_in(form: _Form, rng: random.Random, junk: bytes) -> bytes:
    data = form.text().encode()
    place = rng.randrange(len(data) // 3, len(data))
    return data[:place] + junk + data[place:]


def _header(form: _Form, change: Callable[[list[str]], list[str]]) -> bytes:
    body = form.text().partition(form.end)[2]
    return (form.delimiter.join(change(list(form.header))) + form.end + body).encode()


def _zipped(form: _Form, _: random.Random) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("t.csv", form.text())
    return stream.getvalue()


DAMAGES: dict[str, Damage] = {
    "sound": lambda form, _: form.text().encode(),
    "sound with a mark": lambda form, _: form.text().encode("utf-8-sig"),
    "sep= on top": lambda form, _: f"sep={form.delimiter}\r\n{form.text()}".encode(),
    "blank lines": lambda form, _: ("\n\n" + form.text() + "\n\n").encode(),
    "utf-16": lambda form, _: form.text().encode("utf-16"),
    "utf-16 without a mark": lambda form, _: form.text().encode("utf-16-le"),
    "utf-32": lambda form, _: form.text().encode("utf-32"),
    "cp1252": lambda form, _: form.text().encode("cp1252"),
    "cr only": lambda form, _: "\r".join(_plain_lines(form)).encode(),
    "mixed ends": lambda form, rng: "".join(
        line + rng.choice(("\n", "\r\n", "\r")) for line in _plain_lines(form)
    ).encode(),
    "stray quote": lambda form, rng: _stray(form, rng, closed=False),
    "stray quotes that pair": lambda form, rng: _stray(form, rng, closed=True),
    "stray quote before a quoted cell": _quoted_later,
    "quote goes on": lambda form, rng: _one_line(
        form, rng, lambda line: line.replace(form.delimiter, f'{form.delimiter}"no" she said ', 1)
    ),
    "quote at the end": lambda form, _: (form.text() + '"').encode(),
    "cell too many": lambda form, rng: _one_line(
        form, rng, lambda line: line + form.delimiter + "more"
    ),
    "cell too few": lambda form, rng: _one_line(
        form, rng, lambda line: line.rpartition(form.delimiter)[0]
    ),
    "mixed delimiters": lambda form, rng: _one_line(
        form, rng, lambda line: line.replace(form.delimiter, "^")
    ),
    "joined files": lambda form, _: form.text().encode() + form.text().encode("utf-8-sig"),
    "nul": lambda form, rng: _bytes_in(form, rng, b"\0"),
    "no utf-8": lambda form, rng: _bytes_in(form, rng, b"\xff\xfe"),
    "line end in the middle": lambda form, rng: _bytes_in(form, rng, b"\n"),
    "quote in the middle": lambda form, rng: _bytes_in(form, rng, b'"'),
    "delimiter in the middle": lambda form, rng: _bytes_in(form, rng, form.delimiter.encode()),
    "cut": lambda form, rng: form.text().encode()[: -rng.randint(1, 40)],
    "huge cell": lambda form, rng: _one_line(form, rng, lambda line: line + "x" * 200_000),
    "equal columns": lambda form, _: _header(form, lambda names: [names[1], *names[1:]]),
    "misspelt column": lambda form, _: _header(
        form, lambda names: [n.replace("transcript", "transkript") for n in names]
    ),
    "no header": lambda form, _: form.text().partition(form.end)[2].encode(),
    "only a header": lambda form, _: form.delimiter.join(form.header).encode(),
    "nothing": lambda _form, _: b"",
    "an archive": _zipped,
    "a page": lambda form, _: f"<html><body>{form.text()}</body></html>".encode(),
    "a pdf": lambda _form, _: b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n",
}
"""What is done to a table, by name."""
