"""Wrong arguments at the Python door are told in one line, before anything starts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.support.campaigns import SMALL, merged

import heldout
from heldout.experiments.campaigns.ending import status_text
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput

TINY: dict[str, Any] = merged(
    SMALL, {"benchmark": {"synthetic": {"consultations": 12}}, "search": {"iterations": 0}}
)


async def awaited(event, replayed):
    """No observer: it would never be awaited."""


class Awaited:
    async def __call__(self, event, replayed):
        """No observer either."""


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda _: heldout.run(TINY, run_dir=3), "run_dir: must be a path, not 3"),
        (lambda d: heldout.run(TINY, run_dir=d / "r", observers=3), "observers: must be functions"),
        (lambda d: heldout.run(TINY, run_dir=d / "r", observers=print), "in a list"),
        (lambda d: heldout.run(TINY, run_dir=d / "r", observers=[3]), "number 0 is no function: 3"),
        (lambda d: heldout.run(TINY, run_dir=d / "r", observers=[print, awaited]), "1 is async"),
        (lambda d: heldout.run(TINY, run_dir=d / "r", observers=[Awaited()]), "number 0 is async"),
        (lambda d: heldout.run(3, run_dir=d / "r"), "must be a path, a mapping or a Config"),
        (lambda _: heldout.load_run(None), "run_dir: must be a path, not None"),
        (lambda _: heldout.resume(None), "run_dir: must be a path, not None"),
        (lambda d: heldout.resume(d, budget=[5]), "budget: must be a mapping"),
        (lambda d: heldout.resume(d, leave_out=5), "leave_out: must be a name or a list"),
        (lambda d: heldout.judge(None, d, out=d), "designs: must be a name or a list of names"),
        (lambda d: heldout.judge("whole_note", 3, out=d), "benchmark: must be a path, not 3"),
        (lambda d: heldout.judge("whole_note", d / "x", out=None), "out: must be a path"),
        (lambda d: heldout.judge("whole_note", d / "x", out=d / "o"), "model: name a model"),
    ],
)
def test_a_wrong_argument_is_one_line_that_says_what_is_needed(tmp_path, call, said):
    with pytest.raises(BadInput) as caught:
        call(tmp_path)
    (line,) = caught.value.lines
    assert said in line
    assert "--" not in line
    assert list(tmp_path.iterdir()) == []


@pytest.mark.campaign
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()])
def test_an_observer_that_ends_the_program_leaves_a_run_that_says_so_and_goes_on(tmp_path, error):
    def leave(event, replayed):
        if event.kind == "evaluation":
            raise error

    with pytest.raises(type(error)):
        heldout.run(TINY, run_dir=tmp_path / "run", observers=[leave])
    stopped = heldout.load_run(tmp_path / "run")
    assert (stopped.status, stopped.finish_reason) == ("stopped", "stop_requested")
    assert f"{type(error).__name__} of an observer" in stopped.events[-1].body.message
    if isinstance(error, SystemExit):
        with pytest.raises(BadInput, match=r"^budget\.calls: may only be raised, it was no cap"):
            heldout.resume(tmp_path / "run", budget={"calls": 5})
        assert heldout.resume(tmp_path / "run").status == "finished"


def test_an_observer_that_leaves_at_the_first_event_leaves_nothing(tmp_path):
    def leave(event, replayed):
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        heldout.run(TINY, run_dir=tmp_path / "run", observers=[leave])
    assert list(tmp_path.iterdir()) == []


def test_an_empty_journal_is_not_a_run_that_is_running(tmp_path):
    (tmp_path / "journal.jsonl").write_bytes(b"")
    run = Run.at(tmp_path)
    assert run.status == "empty"
    assert run.to_json()["status"] == "empty"
    told = status_text(run)
    assert "no event yet" in told
    assert "running" not in told
