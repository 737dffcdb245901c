"""The run directory: where everything of a run lies, and who is working on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from heldout.splits.chain import UNREADABLE
from heldout.splits.errors import BadInput
from heldout.splits.private_files import private_files

LOCK_FILE = ".lock"

FAMILY_FILE = "family.json"
"""Lists the campaigns of one command in the folder above theirs."""


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """Names of the files of one run.

    `shared` is the folder of a family of campaigns, which holds the benchmark and the partition
    of all of them; None for a campaign alone.
    """

    path: Path
    shared: Path | None = None

    @property
    def config(self) -> Path:
        """The resolved configuration."""
        return self.path / "config.yaml"

    @property
    def journal(self) -> Path:
        """The hash-chained journal."""
        return self.path / "journal.jsonl"

    @property
    def store(self) -> Path:
        """The default call store."""
        return self.path / "calls.sqlite"

    @property
    def gate(self) -> Path:
        """The decision with all figures behind it."""
        return self.path / "gate.json"

    @property
    def report(self) -> Path:
        """The report of the run."""
        return self.path / "report.html"

    @property
    def stop_file(self) -> Path:
        """Touch it to stop the run after the calls in flight."""
        return self.path / "gepa.stop"

    @property
    def benchmark(self) -> Path:
        """Where a synthetic benchmark drawn by the run is kept."""
        return (self.shared or self.path) / "benchmark"

    @property
    def manifest(self) -> Path:
        """The default partition manifest."""
        return (self.shared or self.path) / "partition.json"

    def locked(self) -> AbstractContextManager[None]:
        """Hold the run for this process; see `working_in`."""
        return working_in(self.path)


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Make `folder` where it is absent and hold it for this process; what is made is private.

    The lock ends with its process, however that ends. Raises BadInput while another one has the
    folder, and where it cannot be made or written.
    """
    with private_files(), _held(folder):
        yield


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    if folder.exists() and not folder.is_dir():
        raise BadInput.one(str(folder), "is a file, a folder is needed")
    lock = FileLock(folder / LOCK_FILE)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise BadInput.one(
            str(folder), "another process is working in this folder; wait for it or stop it"
        ) from None
    except OSError as error:
        raise BadInput.one(str(folder), f"cannot be written ({error.strerror})") from error
    try:
        yield
    finally:
        lock.release()


@dataclass(frozen=True, slots=True)
class DeclaredFamily:
    """What `family.json` says: its id, and the folder of each campaign in it."""

    id: str
    members: tuple[str, ...]


def read_family(folder: Path) -> DeclaredFamily:
    """The family in `folder`. Raises BadInput where its file is none."""
    path = folder / FAMILY_FILE
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        found = DeclaredFamily(str(said["id"]), tuple(map(str, said["members"])))
    except (*UNREADABLE, OSError) as error:
        raise BadInput.one(str(path), f"is no list of a family ({error})") from None
    if not found.members:
        raise BadInput.one(str(path), "is no list of a family (it has no members)")
    return found


def resolved(path: Path) -> Path:
    """`path` made absolute. Raises BadInput for a link that leads to itself and for odd names."""
    try:
        absolute = path.resolve()
        absolute.exists()
    except (OSError, RuntimeError, ValueError) as error:
        raise BadInput.one(str(path), f"is no usable path ({error})") from error
    return absolute


def existing_run(path: Path) -> RunDirectory:
    """The run at `path`. Raises BadInput where there is none."""
    path = resolved(path)
    shared = path.parent if (path.parent / FAMILY_FILE).is_file() else None
    run = RunDirectory(path, shared)
    if not run.path.is_dir():
        raise BadInput.one(str(path), "is not a run directory (no such folder)")
    if not run.config.is_file():
        raise BadInput.one(str(path), "is not a run directory (it has no config.yaml)")
    return run


def is_free(path: Path) -> bool:
    """True for an empty directory, or one where a run died before it wrote a thing."""
    return path.is_dir() and all(item.name == LOCK_FILE for item in path.iterdir())


def default_run_dir(name: str) -> Path:
    """`runs/<name>-<UTC time>` under the working folder."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return Path("runs") / f"{name}-{stamp}"
