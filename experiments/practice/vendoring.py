"""Heldout's own modules, copied into an export as they are: what runs there is what was measured.

The copies are named `heldout_judge.…`; nothing else in them changes. Only modules that rest on the
standard library (and, for DSPy, on dspy) may be among them.
"""

from __future__ import annotations

import ast
import re
from importlib import resources
from pathlib import PurePosixPath

PACKAGE = "heldout_judge"
ROOTS = (
    "heldout.experiments.practice.verdicts",
    "heldout.students.checker",
    "heldout.students.whole_note",
)
"""What every export needs; the rest follows from what these import."""

FRAMES = ("whole_note", "check", "extract")
_NAME = re.compile(r"\bheldout\.(?=(?:experiments|gepa|reflectors|students|splits)\b)")


def vendored(roots: tuple[str, ...] = ROOTS) -> dict[str, str]:
    """Path in the export to text: the modules that `roots` import, and the frames."""
    files: dict[str, str] = {}
    for module in sorted(closure(roots)):
        files[_path(module)] = renamed(source(module))
    for folder in {str(parent) for path in files for parent in PurePosixPath(path).parents}:
        if folder != ".":
            files.setdefault(f"{folder}/__init__.py", "")
    templates = resources.files("heldout.students") / "templates"
    for name in FRAMES:
        text = (templates / f"{name}.txt").read_text("utf-8")
        files[f"{PACKAGE}/students/templates/{name}.txt"] = text
    return files


def closure(roots: tuple[str, ...]) -> set[str]:
    """The modules of Heldout that `roots` import, directly or through others, themselves too."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(_imports(source(module)))
    return found


def renamed(text: str) -> str:
    """`text` with every `heldout.<folder>` written as a part of the export."""
    return _NAME.sub(f"{PACKAGE}.", text)


def source(module: str) -> str:
    """The text of a module of Heldout."""
    folder, _, name = module.rpartition(".")
    return (resources.files(folder) / f"{name}.py").read_text("utf-8")


def _imports(text: str) -> list[str]:
    named = (n.module or "" for n in ast.walk(ast.parse(text)) if isinstance(n, ast.ImportFrom))
    return [module for module in named if module.startswith("heldout.")]


def _path(module: str) -> str:
    return f"{module.replace('heldout', PACKAGE, 1).replace('.', '/')}.py"
