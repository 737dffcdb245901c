"""What the commands say of the runs in `runs/`, kept so that words may change and figures may not.

`python tests/before/recording.py` writes `expected/` anew; README.md says when that is right.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import tempfile
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import chdir
from functools import cache
from hashlib import sha256
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

from typer import Typer
from typer.testing import CliRunner

HERE = Path(__file__).parent
PROJECT = HERE.parents[1] / "pyproject.toml"
RUNS = HERE / "runs"
EXPECTED = HERE / "expected"

ENDS: Mapping[str, Sequence[str]] = {
    "emitted": ("emitted",),
    "refused": ("refused",),
    "not_confirmed": ("not_confirmed",),
    "stopped": ("stopped",),
    "family": ("family/whole_note", "family/checker"),
}
"""The run directories of each end."""

RULES = ("interval", "bootstrap", "permutation", "point")
RAISED = "--set budget.calls=2000"
"""A cap under which the stopped run finishes."""

ENVIRONMENT: Mapping[str, str | None] = {"COLUMNS": "240", "FORCE_COLOR": None, "NO_COLOR": "1"}

PAGES = ("report.html", "report.md", "lineage.html")
PROSE = ("caveats", "sentences", "made_from", "fault")
"""Keys of sentences; only the figures in them are compared."""
OWN_MODULES = "files"
"""Key of the files of an export, which are named after our own modules: it is not kept."""
ERROR = "stderr"
"""Key of what a failing command prints, for whoever reads a failing test: it is not kept."""
CLOCK = "wall_s"
"""Key of what a clock says: it is not kept of a session that has yet to be worked."""

FIGURE = re.compile(
    r"""(?<![\w.:])                                  # not inside a word, a version or a time
        (?: (?P<k>\d+)(?:\ of\ |/)(?P<n>\d+)         # a count of a number
          | (?P<number>[-−]?(?:\d+(?:\.\d+)?%|\d+\.\d+)) )
        (?!\w|\.\d)""",
    re.VERBOSE,
)
CANDIDATE = re.compile(r"[\s│├└─]*(c\d{2,})\b")
TOKEN = re.compile(r"\bc\d{2,}\b|\b(?:seed|mutation|merge|rejected|minibatch|winner)\b|−?\d+\.?\d*")

Said = dict[str, Any]


# -- what is asked ---------------------------------------------------------------------------------


def commands(end: str) -> list[str]:
    """The commands that read the runs of an end, and no more than read them."""
    asked = [f"looks {end}/partition.json --json"]
    for run in ENDS[end]:
        asked += [
            f"status {run} --json",
            f"verify {run} --json",
            f"lineage {run}",
            *(f"gate {run} --rule {rule} --json" for rule in RULES),
            f"report {run}",
            f"optimism {run} --searches 0 --json",
            f"export {run} --to python --out exported/{run} --json",
            f"store list {run} --json",
            f"store check {run} --json",
        ]
    if end == "emitted":
        # Searches on the placebo, under the configuration of the run.
        asked.append("optimism emitted --searches 2 --json")
        asked.append("export emitted/prompts/emitted.txt --to promptfoo --out exported/file --json")
    return asked


def resumptions(end: str) -> list[str]:
    """The commands that go on with the runs of an end, in this order, on one copy."""
    if end == "stopped":
        return [
            "resume stopped --json",
            f"resume stopped {RAISED} --json",
            *(f"gate stopped --rule {rule} --json" for rule in RULES),
            "verify stopped --json",
            "report stopped",
            "lineage stopped",
            "store check stopped --json",
        ]
    if end == "family":
        return ["resume family/checker --json", "resume family --json"]
    return [f"resume {end} --json"]


@cache
def program() -> Typer:
    """The program `heldout`, wherever the project says that it begins."""
    entry = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["scripts"]["heldout"]
    found = import_module(entry.partition(":")[0]).app
    assert isinstance(found, Typer)
    return found


def said(folder: Path, command: str) -> Said:
    """What a command says in `folder`: its exit status, and its figures where it ended well."""
    words = command.split()
    with chdir(folder):
        result = CliRunner().invoke(program(), words, env=ENVIRONMENT)
    found: Said = {"exit": result.exit_code}
    if result.exit_code not in (0, 3):
        return {**found, ERROR: result.stderr or repr(result.exception)}
    if "--json" in words:
        return {**found, "json": _relative(json.loads(result.stdout), folder)}
    if words[0] == "lineage":
        return {**found, "lineage": lineage_tokens(result.stdout)}
    return {**found, "figures": page_figures(folder / words[1] / PAGES[0])}


def _relative(value: Any, folder: Path) -> Any:
    """`value` with every path into `folder` made relative to it."""
    if isinstance(value, str):
        return value.replace(f"{folder.resolve()}/", "")
    if isinstance(value, list):
        return [_relative(item, folder) for item in value]
    if isinstance(value, dict):
        return {key: _relative(item, folder) for key, item in value.items()}
    return value


# -- figures in words ------------------------------------------------------------------------------


def figures(text: str) -> list[str]:
    """Decimal numbers, percentages and counts `k of n` of a text, sorted; plus signs dropped."""
    found = [
        f"{match['k']} of {match['n']}" if match["k"] else match["number"].replace("−", "-")
        for match in FIGURE.finditer(text)
    ]
    return sorted(found)


def page_figures(page: Path) -> list[str]:
    """The figures that a reader of a page sees."""
    return figures(_Words(page.read_text(encoding="utf-8")).text)


def lineage_tokens(text: str) -> dict[str, list[str]]:
    """Ids, fates and numbers by the candidate whose line they stand in; `rest` has the others."""
    found: dict[str, list[str]] = {"rest": []}
    for line in text.splitlines():
        candidate = CANDIDATE.match(line)
        tokens = TOKEN.findall(line)
        if candidate is None:
            found["rest"] += tokens
        else:
            found[candidate[1]] = sorted(tokens)
    return {**found, "rest": sorted(found["rest"])}


class _Words(HTMLParser):
    """The visible words of a page: no style, no script, no drawing."""

    HIDDEN = ("style", "script", "svg", "title")
    INLINE = ("a", "b", "bdi", "code", "del", "em", "i", "ins", "span", "strong")

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.text = ""
        self._hidden = 0
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """What begins; hidden until its end."""
        del attrs
        self._hidden += tag in self.HIDDEN
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        """What ends."""
        self._hidden -= tag in self.HIDDEN
        self._part(tag)

    def handle_data(self, data: str) -> None:
        """Words between tags."""
        if not self._hidden:
            self.text += data

    def _part(self, tag: str) -> None:
        if tag not in self.INLINE:
            self.text += "\n"


# -- comparing -------------------------------------------------------------------------------------


def differences(expected: Any, found: Any, where: str = "") -> Iterator[str]:
    """Where `found` does not hold what is expected; what it holds beyond that is no difference."""
    if where.rpartition(".")[2] in PROSE or (isinstance(expected, str) and " " in expected):
        gone = Counter(_prose_figures(expected)) - Counter(_prose_figures(found))
        yield from (f"{where}: {figure} is gone" for figure in gone)
    elif isinstance(expected, dict):
        yield from _differing_keys(expected, found, where)
    elif isinstance(expected, list):
        yield from _differing_items(expected, found, where)
    elif not _same(expected, found):
        yield f"{where}: {found!r}, it was {expected!r}"


def _differing_keys(expected: dict[str, Any], found: Any, where: str) -> Iterator[str]:
    if not isinstance(found, dict):
        yield f"{where}: is no object"
        return
    for key, value in expected.items():
        if key not in found:
            yield f"{where}.{key}: is gone"
        else:
            yield from differences(value, found[key], f"{where}.{key}")


def _differing_items(expected: list[Any], found: Any, where: str) -> Iterator[str]:
    """Texts may stand in another order and have others beside them; objects may not."""
    if not isinstance(found, list):
        yield f"{where}: is no list"
    elif all(isinstance(item, str) for item in expected):
        gone = Counter(expected) - Counter(map(str, found))
        yield from (f"{where}: {item} is gone" for item in gone)
    elif len(found) != len(expected):
        yield f"{where}: {len(found)} items, there were {len(expected)}"
    else:
        for number, pair in enumerate(zip(expected, found, strict=True)):
            yield from differences(*pair, f"{where}.{number}")


def _prose_figures(value: Any) -> list[str]:
    return figures(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _same(expected: Any, found: Any) -> bool:
    if isinstance(expected, bool) or not isinstance(expected, int | float):
        return bool(expected == found)
    number = isinstance(found, int | float) and not isinstance(found, bool)
    return number and math.isclose(expected, found, rel_tol=0, abs_tol=1e-9)


# -- copies ----------------------------------------------------------------------------------------


def copied(end: str, folder: Path) -> Path:
    """`folder` with a copy of the runs of an end in it."""
    shutil.copytree(RUNS / end, folder / end)
    return folder


def digests(folder: Path) -> dict[str, str]:
    """Digest by name of every file under `folder`, locks aside."""
    return {
        str(path.relative_to(folder)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock" and path.name != ".lock"
    }


def prompts(folder: Path) -> dict[str, str]:
    """Digest by name of every emitted prompt under `folder`; cards name the hour, so not theirs."""
    found = digests(folder).items()
    return {name: digest for name, digest in found if "/prompts/" in name and name.endswith(".txt")}


def expectations(end: str) -> dict[str, Any]:
    """Everything that is kept of an end, as this code has it."""
    never = {OWN_MODULES, ERROR}
    with tempfile.TemporaryDirectory() as reading, tempfile.TemporaryDirectory() as going_on:
        read, on = copied(end, Path(reading)), copied(end, Path(going_on))
        told = {command: said(read, command) for command in commands(end)}
        resumed = {command: said(on, command) for command in resumptions(end)}
        return {
            "commands": _without(told, never),
            "resumed": _without(resumed, never | {CLOCK} if end == "stopped" else never),
            "prompts": prompts(on),
        }


def _without(value: Any, keys: Collection[str]) -> Any:
    if isinstance(value, dict):
        return {k: _without(item, keys) for k, item in value.items() if k not in keys}
    return [_without(item, keys) for item in value] if isinstance(value, list) else value


def main() -> None:
    """Write `expected/` from the code as it is."""
    EXPECTED.mkdir(exist_ok=True)
    for end in ENDS:
        text = json.dumps(expectations(end), ensure_ascii=False, indent=1)
        (EXPECTED / f"{end}.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
