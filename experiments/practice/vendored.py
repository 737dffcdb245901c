"""Heldout's own modules, copied into an export as they are: what runs there is what was measured.

The copies are named `heldout_judge.…`; nothing else in them changes. Only modules that rest on the
standard library (and, for DSPy, on dspy) may be among them. Where tiktoken is installed it counts
the tokens of an endpoint that does not.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from importlib import resources
from pathlib import PurePosixPath

PACKAGE = "heldout_judge"
ROOTS = (
    "heldout.experiments.practice.verdicts",
    "heldout.students.designs.context",
    "heldout.students.calls.retry",
    "heldout.students.models.normalise",
    "heldout.students.models.payload",
)
"""What every export needs; the design's own module comes with it, and what they all import."""

_NAME = re.compile(r"\bheldout\.(?=(?:experiments|gepa|reflectors|students|splits)\b)")


def vendored(roots: tuple[str, ...]) -> dict[str, str]:
    """Path in the export to text: the modules that `roots` import, the frames and the blocks."""
    files: dict[str, str] = {}
    for module in sorted(closure(roots)):
        files[_path(module)] = renamed(source(module))
    for folder in {str(parent) for path in files for parent in PurePosixPath(path).parents}:
        if folder != ".":
            files.setdefault(f"{folder}/__init__.py", "")
    templates = resources.files("heldout.students") / "templates"
    for folder in ("", "blocks/"):
        for file in (templates / folder).iterdir() if folder else templates.iterdir():
            if file.name.endswith(".txt"):
                path = f"{PACKAGE}/students/templates/{folder}{file.name}"
                files[path] = file.read_text("utf-8")
    return files


@cache
def closure(roots: tuple[str, ...]) -> frozenset[str]:
    """The modules of Heldout that `roots` import, directly or through others, themselves too."""
    found: set[str] = set()
    waiting = list(roots)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting.extend(_imports(source(module)))
    return frozenset(found)


def renamed(text: str) -> str:
    """`text` with every `heldout.<folder>` written as a part of the export."""
    return _NAME.sub(f"{PACKAGE}.", text)


def source(module: str) -> str:
    """The text of a module of Heldout; of a sub-package that of its `__init__`."""
    folder, _, name = module.rpartition(".")
    plain = resources.files(folder) / f"{name}.py"
    return (plain if plain.is_file() else resources.files(module) / "__init__.py").read_text(
        "utf-8"
    )


def _imports(text: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("heldout."):
            inside = [f"{node.module}.{alias.name}" for alias in node.names]
            modules = [name for name in inside if _is_module(name)]
            found += modules or [str(node.module)]
    return found


def _is_module(name: str) -> bool:
    """True where `from package import name` imports a module and not something in one."""
    folder, _, last = name.rpartition(".")
    parent, _, package = folder.rpartition(".")
    if (resources.files(parent) / f"{package}.py").is_file():
        return False
    return (resources.files(folder) / f"{last}.py").is_file()


def _path(module: str) -> str:
    return f"{module.replace('heldout', PACKAGE, 1).replace('.', '/')}.py"
