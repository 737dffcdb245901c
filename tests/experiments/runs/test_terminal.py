"""Whatever the terminal's encoding and width, every command prints (and JSON stays JSON)."""

import io
import json
import sys

import pytest
from rich.table import Table

from heldout.experiments.runs.terminal import note, show, take_any_letter

HOSTILE = "Müller … 北京 \U0001fa7a ≥ 3\x1b[2J\u202e\udc80"


ENCODINGS = pytest.mark.parametrize(
    "encoding", ["ascii", "cp1252", "latin-1", "utf-8", "utf-16", "cp037"]
)


class Pipes:
    """Standard output and error as strict pipes of one encoding."""

    def __init__(self, encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
        self.encoding, self.raw, self.text = encoding, {}, {}
        for name in ("stdout", "stderr"):
            self.raw[name] = io.BytesIO()
            self.text[name] = io.TextIOWrapper(self.raw[name], encoding=encoding, errors="strict")
            monkeypatch.setattr(sys, name, self.text[name])
        take_any_letter()

    def read(self, name: str = "stdout") -> str:
        self.text[name].flush()
        return self.raw[name].getvalue().decode(self.encoding)


@ENCODINGS
def test_texts_tables_and_faults_print_everywhere(encoding, monkeypatch):
    pipes = Pipes(encoding, monkeypatch)
    table = Table("name", "figure")
    table.add_row("dose " * 60, "…")
    show(HOSTILE)
    show(table)
    note(ValueError(HOSTILE))
    for text in (pipes.read(), pipes.read("stderr")):
        assert "ller" in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    rows = [line for line in pipes.read().splitlines() if "dose dose" in line]
    assert len(rows) == 1  # no terminal, no width: nothing is cut
    assert rows[0].count("dose") == 60


@ENCODINGS
def test_json_is_read_back_to_the_letter(encoding, monkeypatch):
    pipes = Pipes(encoding, monkeypatch)
    show({"text": HOSTILE})
    assert json.loads(pipes.read()) == {"text": HOSTILE}


@ENCODINGS
def test_signs_of_our_own_become_letters(encoding, monkeypatch):
    pipes = Pipes(encoding, monkeypatch)
    show("… ≥ — ×")
    assert pipes.read().strip() in {"… ≥ — ×", "... >= - x", "… >= — ×", "... >= - ×"}
