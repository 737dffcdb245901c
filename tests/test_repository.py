"""The repository's own rules: packaging, doors, layers, words that must not stand in it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import house

ROOT = Path(__file__).parents[1]
FOLDERS = house.FOLDERS
PRODUCT = house.checkout(ROOT)
SOURCES = [ROOT / source.path for source in PRODUCT]

DOORS = {
    "litellm": {"students/models/litellm_client.py", "students/models/litellm_wire.py"},
    "mlflow": {"experiments/tracking/client.py"},
    "dspy": {"students/designs/dspy_module.py"},
    "openpyxl": {"splits/loading/sheets.py"},
    "pyarrow": {"splits/loading/sheets.py"},
    "webvtt": {"splits/loading/captions.py"},
    "charset_normalizer": {"splits/loading/encodings.py"},
}
"""The modules of the product that import each library: one, or one and its wire."""


def imports(path: Path) -> Iterator[str]:
    """First names of everything a module imports, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def tracked() -> list[Path]:
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        pytest.skip("not a git checkout")
    return [ROOT / name for name in done.stdout.split("\0") if name]


@pytest.mark.parametrize("folder", [*FOLDERS, "tests", *(f"tests/{f}" for f in FOLDERS)])
def test_first_level_folders_have_no_init(folder: str) -> None:
    """With one, PyPI's gepa would be shadowed at the root and dspy could not start."""
    assert not (ROOT / folder / "__init__.py").exists()


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_package_is_made_of_links(folder: str) -> None:
    link = ROOT / "src" / "heldout" / folder
    assert link.is_symlink()
    assert link.readlink() == Path(f"../../{folder}")


def test_dspy_imports_at_the_root() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import dspy, gepa; print(gepa.__file__)"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert "site-packages" in done.stdout


@pytest.mark.parametrize("library", sorted(DOORS))
def test_each_library_has_one_door(library: str) -> None:
    users = {str(path.relative_to(ROOT)) for path in SOURCES if library in set(imports(path))}
    assert users <= DOORS[library]


def test_sources_are_imported_by_the_one_name() -> None:
    for path in SOURCES:
        own = set(imports(path)) & {"splits", "students", "reflectors", "experiments"}
        assert not own, path


def test_help_needs_no_heavy_library() -> None:
    program = (
        "import sys; import heldout.experiments.cli.main; "
        "heavy = {'litellm', 'mlflow', 'scipy', 'dspy', 'numpy', 'sqlalchemy'} & set(sys.modules); "
        "print(sorted(heavy))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_no_silent_fallback_anywhere() -> None:
    """A peer fell back to another optimiser for months behind an `except Exception`."""
    assert not house.broad_catches(PRODUCT).places


def test_nothing_is_pickled() -> None:
    assert not [path for path in SOURCES if {"pickle", "cloudpickle", "dill"} & set(imports(path))]


def test_no_machine_path_and_no_registry_address_is_tracked() -> None:
    registries = "|".join(
        ["py" + "pi.org", "python" + "hosted.org", "npm" + "js", "deb." + "debian"]
    )
    forbidden = re.compile(rf"(^|[^A-Za-z0-9_./])/(work|root|home)/|\.\./shared|{registries}")
    for path in tracked():
        if path.is_symlink() or not path.is_file() or path.name == Path(__file__).name:
            continue
        if path == ROOT / ".ci" / "run":
            continue
        text = path.read_bytes().decode("utf-8", "ignore")
        found = forbidden.search(text)
        assert found is None, f"{path.relative_to(ROOT)}: {found.group()}"


def test_every_pin_is_a_name_and_a_version() -> None:
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!_-]+", line), line
