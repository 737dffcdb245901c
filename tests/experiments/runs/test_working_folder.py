"""Output folders: the owner's alone, and one process at a time (case 15)."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys

import pytest
from tests.support.campaigns import resume_small, run_small
from tests.support.practice import Stub, asking, emitted, write_notes

from heldout.experiments.judging.command import JudgeRequest, judge_command
from heldout.experiments.practice.apply_notes import apply
from heldout.experiments.practice.calibrate_notes import calibrate_command
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.note_sets import NoteFile
from heldout.experiments.practice.promises import Promise
from heldout.experiments.practice.rerun import rerun
from heldout.experiments.practice.rungs import Rung
from heldout.experiments.runs.run_directory import RunDirectory, working_in
from heldout.splits.errors import BadInput, UserFault
from heldout.splits.loading.benchmark_files import BenchmarkSource
from heldout.students.models.chat import Budget

BUSY = "another process is working in this folder"


def mode(path) -> int:
    return path.stat().st_mode & 0o777


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A finished run."""
    folder = tmp_path_factory.mktemp("private")
    assert run_small(folder).exit_status == 0
    return folder / "run"


def test_a_run_directory_is_0700_and_its_files_0600(finished):
    found = {path: mode(path) for path in (finished, *finished.rglob("*"))}
    assert {m for path, m in found.items() if path.is_dir()} == {0o700}
    assert {m for path, m in found.items() if path.is_file()} == {0o600}
    names = {path.name for path in found}
    assert names >= {"journal.jsonl", "calls.sqlite", "partition.json", "report.html", ".lock"}


def test_files_that_exist_keep_their_mode(finished, tmp_path):
    finished = shutil.copytree(finished, tmp_path / "run")
    (finished / "report.html").chmod(0o640)
    (finished / "report.html").unlink()
    (finished / "report.md").chmod(0o640)
    resume_small(finished)
    assert mode(finished / "report.md") == 0o640
    assert mode(finished / "report.html") == 0o600


def test_the_second_apply_is_told_in_one_line_and_the_first_goes_on(tmp_path):
    prompt = load_prompt(str(emitted(tmp_path / "run")))
    notes, out, refused = write_notes(tmp_path / "notes.csv", 12), tmp_path / "out", []

    class Meanwhile(Stub):
        async def complete(self, request):
            if not refused:
                try:
                    apply(prompt, notes, out, asking(Stub()))
                except UserFault as fault:
                    refused.append(fault)
            return await super().complete(request)

    report = apply(prompt, notes, out, asking(Meanwhile()))
    assert report.counts.notes == 12
    assert len((out / "made.csv").read_text().splitlines()) == 13
    (fault,) = refused
    assert fault.lines == (f"{out}: {BUSY}; wait for it or stop it",)
    assert fault.exit_status == 2
    assert {mode(path) for path in out.iterdir()} == {0o600}


def _calibrate(folder, out):
    prompt = load_prompt(str(emitted(folder / "run")))
    notes = NoteFile(write_notes(folder / "notes.csv", 3), None, True)
    return calibrate_command(prompt, notes, Promise(0.05, 0.95, "binomial"), out, asking(Stub()))


def _rerun(folder, out):
    from heldout.splits.synthetic import draw, write_jsonl

    prompt = load_prompt(str(emitted(folder / "run")))
    pairs, beside = folder / "p.jsonl", folder / "c.jsonl"
    write_jsonl(draw(4, 1), pairs, beside)
    on = NoteFile(pairs, beside, True)
    return rerun(prompt, (Rung(Budget(900), 1),), on, asking(Stub()), out=out)


def _judge(folder, out):
    from heldout.splits.synthetic import draw, write_jsonl

    pairs, beside = folder / "p.jsonl", folder / "c.jsonl"
    write_jsonl(draw(4, 1), pairs, beside)
    source = BenchmarkSource(pairs, beside)
    return judge_command(
        JudgeRequest(
            designs=("whole_note",),
            benchmark=source,
            out=out,
            seed=1,
            budget=Budget(900),
            model="sim/judge",
        )
    )


@pytest.mark.parametrize("command", [_calibrate, _rerun, _judge])
def test_every_command_with_an_output_folder_holds_it(command, tmp_path):
    out = tmp_path / "out"
    with working_in(out), pytest.raises(BadInput, match=BUSY):
        command(tmp_path, out)
    assert [path.name for path in out.iterdir()] == [".lock"]


@pytest.mark.parametrize("command", [_calibrate, _rerun, _judge])
def test_a_file_where_the_folder_should_be_is_named(command, tmp_path):
    (tmp_path / "out").write_text("mine")
    with pytest.raises(BadInput, match="out: is a file, a folder is needed"):
        command(tmp_path, tmp_path / "out")
    assert (tmp_path / "out").read_text() == "mine"


def test_a_run_is_resumed_by_one_process_at_a_time(finished):
    with RunDirectory(finished).locked(), pytest.raises(BadInput, match=BUSY):
        resume_small(finished)


@pytest.mark.skipif(os.name == "nt", reason="signals of another kind")
def test_the_lock_of_a_killed_process_blocks_nobody(tmp_path):
    hold = (
        "import sys, time, filelock; lock = filelock.FileLock(sys.argv[1]); lock.acquire(); "
        "print('held', flush=True); time.sleep(60)"
    )
    other = subprocess.Popen(
        [sys.executable, "-c", hold, str(tmp_path / ".lock")], stdout=subprocess.PIPE, text=True
    )
    with contextlib.ExitStack() as stack:
        stack.enter_context(other)
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(BadInput, match=BUSY), working_in(tmp_path):
            raise AssertionError("not reached")
        other.send_signal(signal.SIGKILL)
        other.wait()
    with working_in(tmp_path):
        assert (tmp_path / ".lock").is_file()
