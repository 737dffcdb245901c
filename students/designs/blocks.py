"""The instruction block each design starts from; files that ship in `templates/blocks`."""

from __future__ import annotations

from importlib import resources


def load_block(name: str) -> str:
    """The block in `students/templates/blocks/<name>.txt`, without white space around it."""
    path = resources.files("heldout.students") / "templates" / "blocks" / f"{name}.txt"
    return path.read_text("utf-8").strip()
