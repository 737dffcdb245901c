"""What a machine does to a run: full disks, locks, torn files, clocks, deaths at boundaries."""

import importlib
import os
import resource
import shutil
import sqlite3
import tempfile
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from heldout.experiments.campaigns.running import prepare, resume, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.experiments.cli.main import app
from heldout.gepa.record import journal as journal_module
from heldout.gepa.record.journal import RunJournal
from heldout.splits.errors import BadInput, StoreUnavailable
from heldout.students.calls import database
from heldout.students.calls.store import CallStore

SMALL = (
    "benchmark.synthetic.consultations=14",
    "search.iterations=2",
    "tracking.enabled=false",
    "concurrency=4",
)
QUIET = RunOptions(quiet=True)
pytestmark = pytest.mark.campaign


@pytest.fixture(scope="module")
def config(pytestconfig):
    return pytestconfig.rootpath / "configs" / "ranks_only.yaml"


@pytest.fixture(scope="module")
def lineage(tmp_path_factory, config):
    return lineage_of(begin(config, tmp_path_factory.mktemp("whole") / "run"))


def begin(config, run):
    return start(prepare(config, SMALL, run), run, QUIET)


def go_on(config, run):
    """Start the run, or resume it where it has begun."""
    return resume(run, (), QUIET) if (run / "config.yaml").exists() else begin(config, run)


def lineage_of(ended):
    assert ended.error is None
    return ended.run.to_json()["lineage_sha256"]


class Died(BaseException):
    """The process is gone."""


class Boundaries:
    """Counts what crosses to the disk, and dies before or after the one that is due."""

    def __init__(self, patch):
        self.due, self.crossed, self.after = None, 0, False
        for owner, name in ((CallStore, "put"), (RunJournal, "_put_down")):
            patch.setattr(owner, name, self._watched(getattr(owner, name)))

    def _watched(self, original):
        def watched(*arguments, **more):
            self.crossed += 1
            if self.crossed == self.due and not self.after:
                raise Died
            result = original(*arguments, **more)
            if self.crossed == self.due:
                raise Died
            return result

        return watched

    def arm(self, due, *, after):
        self.due, self.crossed, self.after = due, 0, after


def test_a_death_at_any_boundary_leaves_a_run_that_comes_to_the_same_end(
    tmp_path, monkeypatch, config, lineage
):
    """One run dies again and again, a little further each time: before a write, after one."""
    boundaries, run, deaths = Boundaries(monkeypatch), tmp_path / "run", 0
    for attempt in range(60):
        # What is stored is not put again, so every session gets further than the last.
        boundaries.arm(3 + 2 * attempt, after=attempt % 2 == 1)
        try:
            ended = go_on(config, run)
        except Died:
            deaths += 1
        else:
            break
    assert deaths >= 5
    assert lineage_of(ended) == lineage


def on_the_command_line(run):
    options = [word for option in SMALL for word in ("--set", option)]
    words = ["run", "configs/ranks_only.yaml", "--run-dir", str(run), *options]
    return CliRunner().invoke(app, words)


@contextmanager
def files_up_to(size):
    """No file of this process may grow beyond `size` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("size", [200_000, 60_000])
def test_a_full_disk_is_one_clear_line_and_loses_nothing(
    tmp_path, monkeypatch, pytestconfig, config, lineage, size
):
    """A limit on the size of files stands for the disk: store and journal fail the same way."""
    monkeypatch.chdir(pytestconfig.rootpath)
    run = tmp_path / "run"
    with files_up_to(size):
        done = on_the_command_line(run)
    assert done.exit_code == 3, done.stderr
    told = [line for line in done.stderr.splitlines() if "resume continues" in line]
    assert len(told) == 1
    assert "calls.sqlite" in told[0] or "journal.jsonl" in told[0]
    assert "Traceback" not in done.stderr
    store = CallStore(f"sqlite:///{run}/calls.sqlite", "other")
    store.close()
    assert lineage_of(resume(run, (), QUIET)) == lineage


def test_a_store_locked_by_another_process_is_named_and_nothing_is_lost(
    tmp_path, monkeypatch, config, lineage
):
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    run = tmp_path / "run"
    boundaries = Boundaries(monkeypatch)
    boundaries.arm(60, after=True)
    with pytest.raises(Died):
        begin(config, run)
    boundaries.arm(None, after=True)
    other = sqlite3.connect(run / "calls.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises((BadInput, StoreUnavailable), match="another process holds the database"):
        resume(run, (), QUIET)
    other.execute("ROLLBACK")
    other.close()
    assert lineage_of(resume(run, (), QUIET)) == lineage


def test_a_store_locked_in_mid_run_stops_it_resumably(tmp_path, monkeypatch, config, lineage):
    monkeypatch.setattr(database, "BUSY_S", 0.05)
    run = tmp_path / "run"
    original, others = CallStore.put, []

    def put(self, *arguments, **more):
        if len(self) == 40 and not others:
            other = sqlite3.connect(run / "calls.sqlite", isolation_level=None)
            other.execute("BEGIN EXCLUSIVE")
            others.append(other)
        return original(self, *arguments, **more)

    monkeypatch.setattr(CallStore, "put", put)
    ended = begin(config, run)
    assert ended.exit_status == 3
    assert isinstance(ended.error, StoreUnavailable)
    assert "another process holds the database" in str(ended.error)
    others[0].close()
    assert lineage_of(resume(run, (), QUIET)) == lineage


@contextmanager
def as_nobody():
    """Where the tests run as root, whom no permission stops, somebody else for a while."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_run_directory_that_may_not_be_written_is_refused_in_one_line(monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)
    # Not under the tests' own folder, into which nobody but its owner may look.
    folder = Path(tempfile.mkdtemp())
    try:
        folder.chmod(0o555)
        # Once as root, so that nothing is left to be imported as nobody.
        importlib.import_module("heldout.experiments.campaigns.commands")
        prepare(Path("configs/ranks_only.yaml"), SMALL, folder / "run")
        with as_nobody():
            done = on_the_command_line(folder / "run")
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
    assert done.exit_code == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert "cannot be made" in line


def test_a_torn_last_line_of_the_journal_is_written_anew(tmp_path, monkeypatch, config, lineage):
    run = tmp_path / "run"
    boundaries = Boundaries(monkeypatch)
    boundaries.arm(80, after=True)
    with pytest.raises(Died):
        begin(config, run)
    boundaries.arm(None, after=True)
    whole = (run / "journal.jsonl").read_bytes()
    (run / "journal.jsonl").write_bytes(whole[:-7])
    assert lineage_of(resume(run, (), QUIET)) == lineage


def test_a_clock_that_jumps_back_changes_nothing(tmp_path, monkeypatch, config, lineage):
    class Backwards(datetime):
        ticks = 0

        @classmethod
        def now(cls, tz):
            cls.ticks += 1
            return datetime(2030, 1, 1, tzinfo=tz) - timedelta(hours=cls.ticks)

    monkeypatch.setattr(journal_module, "datetime", Backwards)
    ended = begin(config, tmp_path / "run")
    assert lineage_of(ended) == lineage
    assert ended.run.to_json()["budget"]["wall_s"] >= 0
    assert ended.files.report.stat().st_size > 0
