"""The functions of `import heldout`: each does what the command of its name does.

What a person can mend is raised (`heldout.types.UserFault` and below it: BadInput, LooksSpent, …),
and a run that fails before its first call leaves nothing behind. A run that a cap, a person or
infrastructure stopped is no exception: it comes back with `status` "stopped" and its
`finish_reason`, and `resume` continues it.

All of it works in a script, in a notebook cell, in a thread and in a worker process. In a notebook
the work is done in a thread while the cell waits; the stop button, like the first Ctrl-C in a
terminal, stops after the calls in flight. Elsewhere than in the main thread `RUN/gepa.stop` does.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import uuid
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from heldout.experiments.analysis.compare import CompareSettings, Comparison, compare_files
from heldout.experiments.analysis.power import PowerReport
from heldout.experiments.analysis.power_campaign import power_of
from heldout.experiments.campaigns.running import resume as resume_run
from heldout.experiments.campaigns.running import run_in
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.experiments.judging.command import JudgeReport, JudgeRequest, judge_command
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import ConfigSource, load_config
from heldout.experiments.runs.run_directory import default_run_dir
from heldout.experiments.runs.stopping import beside_a_running_loop, stop_requests
from heldout.gepa.record.journal import Observer
from heldout.gepa.record.run import Run, load_run, needed_path
from heldout.gepa.settings import Primary
from heldout.splits.errors import BadInput, Fault, LooksSpent
from heldout.splits.loading.benchmark_files import BenchmarkSource
from heldout.students.models.chat import Budget

__all__ = ["compare", "judge", "load_run", "power", "resume", "run"]

AnyPath = str | os.PathLike[str]
OPTION = re.compile(r"(?<![\w/.-])--([a-z][a-z-]*)")
"""An option of the command line, in words that a person reads."""


def run(
    config: AnyPath | Mapping[str, Any] | Config,
    *,
    run_dir: AnyPath | None = None,
    acknowledge_reuse: bool = False,
    observers: Sequence[Observer] = (),
) -> Run:
    """Run a campaign from data to a held-out decision, as `heldout run CONFIG` does.

    `config` is a campaign file, a mapping of the same keys, or a `Config`. In a mapping relative
    paths are relative to the working folder, and a part may be an object. Without `run_dir` each
    call is a new run under `runs/`, which standard error names; with it the same call again
    continues the run there, or gives back the finished one. `acknowledge_reuse` goes on,
    exploratory, where the planned looks are used up.

    Each of `observers` is called as `observer(event, replayed)` with every event of the journal,
    in order, in the thread that does the work; `replayed` is True for events that a continued run
    had on record. An observer that raises ends the run: the journal is closed with a fault that
    names the error, the error itself is raised, and `resume` continues the run; so with the
    SystemExit and KeyboardInterrupt of an observer, which stop the run as a person does.

    Raises UserFault for what has to be mended first.
    """
    options = RunOptions(acknowledge_reuse, observers=_observers(observers))
    asked = _path(run_dir, "run_dir")
    with in_python_words():
        source = _source(config)
        where = asked or default_run_dir(f"{load_config(source).name}-{uuid.uuid4().hex[:4]}")
        if asked is None:
            print(f"new run in {where}", file=sys.stderr)
        return _ended(lambda: run_in(source, where, options))


def resume(
    run_dir: AnyPath,
    *,
    budget: Mapping[str, Any] | None = None,
    leave_out: Sequence[str] = (),
    acknowledge_reuse: bool = False,
    observers: Sequence[Observer] = (),
) -> Run:
    """Continue a stopped, failed or killed run; a finished one is given back as it is.

    `budget` raises hard caps, such as `{"calls": 5000, "student": {"usd": 3}}`; None lifts one.
    `leave_out` are ids of notes that the stop named: the run goes on without their answers.
    Everything else is as in `run`.
    """
    if not isinstance(budget or {}, Mapping):
        raise BadInput.one(
            "budget", f"must be a mapping such as {{'calls': 5000}}, not {budget!r:.60}"
        )
    settings = tuple(_settings("budget", budget or {}))
    options = RunOptions(acknowledge_reuse, observers=_observers(observers))
    where, notes = needed_path(run_dir, "run_dir"), _names(leave_out, "leave_out")
    with in_python_words():
        return _ended(lambda: resume_run(where, settings, options, notes))


def judge(  # noqa: PLR0913
    designs: str | Sequence[str],
    benchmark: AnyPath,
    *,
    out: AnyPath,
    consultations: AnyPath | None = None,
    model: str | None = None,
    models: AnyPath | None = None,
    block: AnyPath | None = None,
    partition: AnyPath | None = None,
    split: Literal["reflect", "accept"] | None = None,
    max_tokens: int = 1024,
    effort: str | None = None,
    replicates: int = 1,
    seed: int = 11,
    tracking: bool = True,
) -> JudgeReport:
    """Judge a benchmark with one or several designs, as `heldout judge` does.

    `benchmark` is a pairs file; tables, scores and the call store go to the folder `out`, from
    which the same call goes on. One `model` plays every role, or the file `models` gives the roles.
    Raises UserFault for what has to be mended, Stopped or CircuitOpen where it was stopped.
    """
    request = JudgeRequest(
        designs=_names(designs, "designs"),
        benchmark=BenchmarkSource(
            needed_path(benchmark, "benchmark"), _path(consultations, "consultations")
        ),
        out=needed_path(out, "out"),
        seed=seed,
        budget=Budget(max_tokens, effort),
        partition=_path(partition, "partition"),
        split=split,
        model=model,
        models=_path(models, "models"),
        block=_path(block, "block"),
        replicates=replicates,
    )

    def work() -> JudgeReport:
        with stop_requests() as stop:
            report = judge_command(request, stop=stop)
        if tracking:
            from heldout.experiments.judging.tracking import track_or_say  # noqa: PLC0415

            track_or_say(report, None)
        return report

    with in_python_words():
        return beside_a_running_loop(work)


def compare(
    candidate: AnyPath,
    baseline: AnyPath,
    *,
    benchmark: AnyPath | None = None,
    consultations: AnyPath | None = None,
    primary: Primary = "paired_omissions",
    seed: int = 1,
) -> Comparison:
    """Compare two judges on the same notes, as `heldout compare` does.

    Both are score files (`FILE`, `FILE.json#NAME`); `benchmark` is a pairs file, for labels and the
    word-count control; `seed` is that of the resampling. Raises BadInput for files that cannot be
    read or are not about the same notes.
    """
    return compare_files(
        str(candidate),
        str(baseline),
        CompareSettings(seed=seed, primary=primary),
        pairs=_path(benchmark, "benchmark"),
        consultations=_path(consultations, "consultations"),
    )


def power(
    config: AnyPath | Mapping[str, Any] | Config,
    *,
    pilot: tuple[AnyPath, AnyPath] | None = None,
    draws: int = 2000,
    wanted: float = 0.05,
    candidates: int = 10,
) -> PowerReport:
    """What a configuration's partition can detect, before anything is paid for.

    `pilot` are score files of candidate and baseline to take the spread from; `draws` simulated
    data sets a figure; `wanted` the difference to ask consultations for; `candidates` how many are
    expected on accept. Raises BadInput.
    """
    return power_of(
        _source(config),
        (),
        pilot=None if pilot is None else (str(pilot[0]), str(pilot[1])),
        draws=draws,
        wanted=wanted,
        candidates=candidates,
    )


def _ended(work: Callable[[], SessionResult]) -> Run:
    """The run that a session leaves. Raises its error where the journal could not take it."""
    result = beside_a_running_loop(work)
    if result.untracked:
        message = f"MLflow did not follow: {result.untracked}; try heldout sync"
        warnings.warn(message, stacklevel=3)
    if result.error is not None and result.run.status in ("empty", "running"):
        raise result.error
    return result.run


def _source(config: AnyPath | Mapping[str, Any] | Config) -> ConfigSource:
    return Path(config) if isinstance(config, str | os.PathLike) else config


def _settings(prefix: str, values: Mapping[str, Any]) -> list[str]:
    """A mapping as `--set` options, which the journal keeps."""
    found = []
    for name, value in values.items():
        key = f"{prefix}.{name}"
        if isinstance(value, Mapping):
            found += _settings(key, value)
        else:
            found.append(f"{key}={'null' if value is None else value}")
    return found


def _path(path: AnyPath | None, name: str) -> Path | None:
    return None if path is None else needed_path(path, name)


def _names(names: str | Sequence[str], argument: str) -> tuple[str, ...]:
    """One name or several. Raises BadInput for anything else."""
    found = (names,) if isinstance(names, str) else names
    if not isinstance(found, Sequence) or not all(isinstance(name, str) for name in found):
        raise BadInput.one(argument, f"must be a name or a list of names, not {names!r:.60}")
    return tuple(found)


def _observers(observers: Sequence[Observer]) -> tuple[Observer, ...]:
    """Raises BadInput for what cannot be called as `observer(event, replayed)`."""
    wanted = "must be functions called as observer(event, replayed)"
    if not isinstance(observers, Sequence):
        raise BadInput.one("observers", f"{wanted}, in a list, not {observers!r:.60}")
    for place, observer in enumerate(observers):
        call = observer if inspect.isroutine(observer) else getattr(observer, "__call__", None)  # noqa: B004
        if not callable(observer) or inspect.iscoroutinefunction(call):
            kind = "async" if callable(observer) else "no function"
            raise BadInput.one("observers", f"{wanted}; number {place} is {kind}: {observer!r:.60}")
    return tuple(observers)


@contextmanager
def in_python_words() -> Iterator[None]:
    """Faults name arguments of these functions, not options of the command line."""
    try:
        yield
    except BadInput as error:
        faults = [Fault(_argument(f.where), _argument(f.message)) for f in error.faults]
        error.faults, error.args = tuple(faults), ("; ".join(map(str, faults)),)
        raise
    except LooksSpent as error:
        error.args = (_argument(str(error)),)
        raise


def _argument(text: str) -> str:
    """`--run-dir` as `run_dir`, `--set budget.calls` as `budget.calls`."""
    without = text.replace("--set ", "")
    return OPTION.sub(lambda option: option.group(1).replace("-", "_"), without)
