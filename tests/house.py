"""The counts that keep the house in order: `make house`, or `python -m tests.house [--at REV]`.

Counts over the product (the five folders and the modules of src/heldout; no tests), each with its
bound. Exits 1 when one is missed. With `--at` the counts of another commit stand beside today's.
Standard library only, so that it runs on any checkout without an environment.
"""

from __future__ import annotations

import argparse
import ast
import io
import subprocess
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from statistics import median

ROOT = Path(__file__).parents[1]
FOLDERS = ("gepa", "students", "reflectors", "splits", "experiments")
PACKAGE = "src/heldout"

FOREIGN = {
    "students/models/normalise.py": "students/normalise.py",
    "students/models/litellm_client.py": "students/litellm_door.py",
    "students/models/http_status.py": "students/faults.py",
    "students/designs/dspy_module.py": "students/dspy_door.py",
    "students/answer_forms.py": "students/answer_forms.py",
    "splits/importers/medec.py": "splits/importers/medec.py",
    "splits/loading/pairs.py": "splits/pairs.py",
    "experiments/analysis/score_files.py": "experiments/analysis/score_files.py",
}
"""Modules that read what others write (replies of providers and models, public data sets, score
files of other tools), each with its path before the rooms. At most 12: a string key is theirs."""

RECORD = ("gepa/record/", "gepa/record.py", "gepa/journal.py", "gepa/events.py")
"""The room of the journal, and the modules that were it before there were rooms."""

SESSION = frozenset({"CallStore", "Caller", "Ledger"})
"""What a judging session is made of."""


@dataclass(frozen=True)
class Source:
    """A module of the product; `path` is relative to the root, with forward slashes."""

    path: str
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Lines, blank ones and comments included."""
        return self.text.count("\n")

    @property
    def folder(self) -> str:
        """The folder it lies in."""
        return str(PurePosixPath(self.path).parent)

    @property
    def is_init(self) -> bool:
        """True for an `__init__.py`, which no count of modules includes."""
        return self.path.endswith("__init__.py")

    @property
    def name(self) -> str:
        """The name that it is imported by."""
        inside = self.path.removeprefix(f"{PACKAGE}/").removesuffix(".py").removesuffix("__init__")
        return ".".join(["heldout", *inside.strip("/").split("/")]).rstrip(".")

    def at(self, node: ast.stmt | ast.expr | ast.excepthandler) -> str:
        """The place of a node, as `path:line`."""
        return f"{self.path}:{node.lineno}"


@dataclass(frozen=True)
class Count:
    """A figure, and the places behind it."""

    value: float
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One line of the table: what is counted, how, and between which bounds (inclusive)."""

    name: str
    count: Callable[[Sequence[Source]], Count]
    most: float | None
    least: float = 0

    def holds(self, value: float) -> bool:
        """True within the bounds, and always where there are none."""
        return self.most is None or self.least <= value <= self.most

    @property
    def bound(self) -> str:
        """The bound in words."""
        if self.most is None:
            return "told"
        return (
            f"{self.least:,.0f} to {self.most:,.0f}" if self.least else f"at most {self.most:,.0f}"
        )


def parse(texts: Mapping[str, str]) -> list[Source]:
    """The modules of `texts`, by path."""
    return [Source(path, text, ast.parse(text)) for path, text in sorted(texts.items())]


def checkout(root: Path) -> list[Source]:
    """The product as it lies in a checkout."""
    paths = [path for folder in FOLDERS for path in (root / folder).rglob("*.py")]
    # One level only: below it lie the links to the five folders.
    paths += (root / PACKAGE).glob("*.py")
    return parse({path.relative_to(root).as_posix(): path.read_text("utf-8") for path in paths})


def commit(root: Path, revision: str) -> list[Source]:
    """The product as it stood in a commit."""
    packed = subprocess.run(
        ["git", "-C", str(root), "archive", revision], capture_output=True, check=True
    ).stdout
    texts = {}
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        for member in archive.getmembers():
            path = PurePosixPath(member.name)
            ours = path.parts[0] in FOLDERS or str(path.parent) == PACKAGE
            handle = archive.extractfile(member) if ours and path.suffix == ".py" else None
            if handle is not None:
                texts[member.name] = handle.read().decode("utf-8")
    return parse(texts)


# -- size ------------------------------------------------------------------------------------------


def product_lines(sources: Sequence[Source]) -> Count:
    """Lines of all modules."""
    return Count(sum(source.lines for source in sources))


def median_module(sources: Sequence[Source]) -> Count:
    """Lines of the middle module."""
    return Count(median(source.lines for source in sources if not source.is_init))


def long_modules(sources: Sequence[Source]) -> Count:
    """Modules of more than 450 lines."""
    return _places(f"{s.path} ({s.lines})" for s in sources if s.lines > 450)


def long_functions(sources: Sequence[Source]) -> Count:
    """Functions of more than 60 lines; commands are left out, whose options are parameters."""
    return _places(
        f"{source.at(node)} {node.name} ({length})"
        for source in sources
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and not source.path.startswith("experiments/cli")
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > 60
    )


def fullest_folder(sources: Sequence[Source]) -> Count:
    """Most modules in one folder, `__init__.py` and folders inside it not counted."""
    held = Counter(source.folder for source in sources if not source.is_init)
    folder, most = held.most_common(1)[0]
    return Count(most, (f"{folder}/",))


# -- names -----------------------------------------------------------------------------------------


def double_classes(sources: Sequence[Source]) -> Count:
    """Names that more than one class bears, private and nested ones included."""
    places = defaultdict(list)
    for source in sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.ClassDef):
                places[node.name].append(source.at(node))
    return _places(f"{n}: {', '.join(at)}" for n, at in sorted(places.items()) if len(at) > 1)


def near_names(sources: Sequence[Source]) -> Count:
    """Neighbours (modules and folders of one folder) whose names differ by the ending -ing only."""
    rooms = defaultdict(set)
    for source in sources:
        path = PurePosixPath(source.path)
        for inner, outer in pairwise((path, *path.parents)):
            if not source.is_init or inner != path:
                rooms[str(outer)].add(inner.stem)
    return _places(
        f"{room}/: {plain}, {name}"
        for room, names in sorted(rooms.items())
        for name in sorted(names)
        for plain in sorted(_without_ing(name) & names)
    )


def _without_ing(name: str) -> set[str]:
    """What `name` may be without its ending: calling → call, calls; deciding → decide(s)."""
    stem = name.removesuffix("ing")
    if stem in (name, ""):
        return set()
    stems = {stem, f"{stem}e"} | ({stem[:-1]} if stem[-2:-1] == stem[-1:] else set[str]())
    return stems | {f"{each}s" for each in stems}


# -- keys and catches ------------------------------------------------------------------------------


def string_keys(sources: Sequence[Source]) -> Count:
    """Reads of string keys for 1,000 lines, outside the readers of foreign files."""
    own = [source for source in sources if not _foreign(source)]
    read = {source.path: _key_reads(source) for source in own}
    most = sorted(read.items(), key=lambda item: -item[1])[:10]
    lines = sum(source.lines for source in own)
    return Count(1000 * sum(read.values()) / lines, tuple(f"{path} ({n})" for path, n in most if n))


def foreign_readers(sources: Sequence[Source]) -> Count:
    """The readers of foreign files with their reads of string keys."""
    return _places(f"{s.path} ({_key_reads(s)})" for s in sources if _foreign(s))


def _foreign(source: Source) -> bool:
    return source.path in FOREIGN or source.path in FOREIGN.values()


def _key_reads(source: Source) -> int:
    return sum(_key_of(node) is not None for node in ast.walk(source.tree))


def _key_of(node: ast.AST) -> ast.expr | None:
    """What a string key is read from: x in `x["key"]` and in `x.get("key")`; else None."""
    match node:
        case ast.Subscript(value=value, slice=ast.Constant(value=str()), ctx=ast.Load()):
            return value
        case ast.Call(
            func=ast.Attribute(value=value, attr="get"), args=[ast.Constant(value=str()), *_]
        ):
            return value
    return None


def broad_catches(sources: Sequence[Source]) -> Count:
    """Handlers that catch everything, `suppress(Exception)` included."""
    return _places(
        source.at(node)
        for source in sources
        for node in ast.walk(source.tree)
        if (isinstance(node, ast.ExceptHandler) and (node.type is None or _broad(node.type)))
        or (
            isinstance(node, ast.Call)
            and _called(node) == "suppress"
            and any(map(_broad, node.args))
        )
    )


def _broad(node: ast.expr) -> bool:
    return any(
        isinstance(each, ast.Name) and each.id in ("Exception", "BaseException")
        for each in ast.walk(node)
    )


# -- the record and the session --------------------------------------------------------------------


def read_models(sources: Sequence[Source]) -> Count:
    """The record's own, and each module outside the record that reads the journal by itself.

    It does so when it calls `read_journal`, decodes lines of a journal that it names, takes a
    string key of a `.body`, or goes over events in a loop and looks at their `kind` or `body`.
    Being told of one event as it happens (an observer) is no reading, nor is decoding another file.
    """
    outside = [
        f"{source.path} ({', '.join(signs)})"
        for source in sources
        if not source.path.startswith(RECORD) and (signs := sorted(_reading_signs(source)))
    ]
    return Count(1 + len(outside), tuple(outside))


def _reading_signs(source: Source) -> set[str]:
    rooms = tuple(
        f"heldout.{path.strip('/').removesuffix('.py').replace('/', '.')}" for path in RECORD
    )
    names = {name for name in _imports(source.tree, inside=True) if name.startswith(rooms)}
    found = {"read_journal"} if any(name.endswith(".read_journal") for name in names) else set()
    if any(name.endswith(".decode") for name in names) and _names_a_journal(source.tree):
        found.add("decode")
    if not names:
        return found
    for node in ast.walk(source.tree):
        read = _key_of(node)
        if isinstance(read, ast.Attribute) and read.attr == "body":
            found.add("keys of bodies")
        if _looks_at_events(node):
            found.add("loops over events")
    return found


def _names_a_journal(tree: ast.Module) -> bool:
    return any(
        getattr(node, "attr", "") == "journal" or "journal.jsonl" in str(getattr(node, "value", ""))
        for node in ast.walk(tree)
    )


def _looks_at_events(node: ast.AST) -> bool:
    """True for a loop over something called events that looks into each of them."""
    loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
    targets = {
        each.id
        for loop in loops
        if any(
            "events" in name or name == "read_journal"
            for over in ast.walk(loop.iter)
            if (name := getattr(over, "attr", getattr(over, "id", "")))
        )
        for each in ast.walk(loop.target)
        if isinstance(each, ast.Name)
    }
    return any(
        isinstance(each, ast.Attribute)
        and each.attr in ("kind", "body")
        and isinstance(each.value, ast.Name)
        and each.value.id in targets
        for each in ast.walk(node)
    )


def session_openers(sources: Sequence[Source]) -> Count:
    """Modules that make at least two of call store, caller and ledger."""
    made = {
        source.path: SESSION
        & {_called(n) for n in ast.walk(source.tree) if isinstance(n, ast.Call)}
        for source in sources
    }
    return _places(f"{path} ({', '.join(sorted(m))})" for path, m in made.items() if len(m) > 1)


def _called(node: ast.Call) -> str:
    """The name of the thing called, without what it is looked up in."""
    return str(getattr(node.func, "attr", getattr(node.func, "id", "")))


# -- imports ---------------------------------------------------------------------------------------


def import_cycles(sources: Sequence[Source]) -> Count:
    """Knots of modules that import each other when they are loaded."""
    return _places(_knots(_edges(sources, inside=False)))


def all_cycles(sources: Sequence[Source]) -> Count:
    """Knots with the imports inside functions and for types alone counted too."""
    return _places(_knots(_edges(sources, inside=True)))


def _edges(sources: Sequence[Source], *, inside: bool) -> dict[str, set[str]]:
    names = {source.name for source in sources}
    edges: dict[str, set[str]] = {}
    for source in sources:
        found = edges[source.name] = set()
        for name in _imports(source.tree, inside=inside):
            # `a.b.c` is the module a.b.c, or c in the module a.b.
            module = name if name in names else name.rpartition(".")[0]
            if module in names and module != source.name:
                found.add(module)
    return edges


def _imports(tree: ast.AST, *, inside: bool) -> Iterator[str]:
    """Full names of what is imported; those inside functions and for types alone if asked for."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif inside or not (
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _types(node)
        ):
            yield from _imports(node, inside=inside)


def _types(node: ast.AST) -> bool:
    """True for `if TYPE_CHECKING`."""
    return isinstance(node, ast.If) and getattr(node.test, "id", "") == "TYPE_CHECKING"


def _knots(edges: Mapping[str, set[str]]) -> Iterator[str]:
    """Strongly connected modules, each knot as its names; what reaches itself is in one."""
    reach = {name: _reached(name, edges) for name in edges}
    told: set[str] = set()
    for name in sorted(edges):
        if name in reach[name] and name not in told:
            knot = {other for other in reach[name] if name in reach[other]}
            told |= knot
            yield ", ".join(sorted(knot))


def _reached(name: str, edges: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    ahead = list(edges[name])
    while ahead:
        module = ahead.pop()
        if module not in found:
            found.add(module)
            ahead.extend(edges[module])
    return found


# -- the table -------------------------------------------------------------------------------------

ROWS = (
    Row("product lines", product_lines, 37_000),
    Row("string-key reads per 1,000 lines", string_keys, 12),
    Row("readers of foreign files", foreign_readers, 12),
    Row("class names defined twice", double_classes, 0),
    Row("most modules in one folder (no __init__)", fullest_folder, 28),
    Row("read models", read_models, 1, least=1),
    Row("session openers", session_openers, 1, least=1),
    Row("import cycles when loading", import_cycles, 0),
    Row("import cycles, in functions and for types", all_cycles, None),
    Row("broad catches", broad_catches, 0),
    Row("functions over 60 lines", long_functions, 1),
    Row("median module, lines", median_module, 200, least=90),
    Row("modules over 450 lines", long_modules, 0),
    Row("neighbours that differ by -ing only", near_names, 0),
)
ALWAYS_PLACED = (foreign_readers, string_keys)
"""Counts whose places are printed also within the bound."""


def table(now: Sequence[Source], then: Sequence[Source] | None, revision: str) -> tuple[str, bool]:
    """The table as text, and whether every bound holds now."""
    counted = [(row, row.count(now), row.count(then) if then else None) for row in ROWS]
    head = ["", "bound", *([revision] if then else []), "now", ""]
    lines = [head] + [
        [
            row.name,
            row.bound,
            *([_figure(before.value)] if before else []),
            _figure(count.value),
            "ok" if row.holds(count.value) else "over",
        ]
        for row, count, before in counted
    ]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    text = [
        "  ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)).rstrip() for line in lines
    ]
    for row, count, _ in counted:
        if count.places and (not row.holds(count.value) or row.count in ALWAYS_PLACED):
            text += ["", f"{row.name}:", *(f"  {place}" for place in count.places)]
    return "\n".join(text), all(row.holds(count.value) for row, count, _ in counted)


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:,.1f}"


def _places(found: Iterable[str]) -> Count:
    places = tuple(found)
    return Count(len(places), places)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; the exit status is 1 when a bound is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.house", description=__doc__)
    parser.add_argument("--at", metavar="REV", help="a commit whose counts stand beside today's")
    revision = parser.parse_args(arguments).at
    text, holds = table(
        checkout(ROOT), commit(ROOT, revision) if revision else None, revision or ""
    )
    print(text)
    return 0 if holds else 1


if __name__ == "__main__":
    sys.exit(main())
