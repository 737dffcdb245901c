"""Starting and resuming runs: the order of checks, what is written when, how a run ends."""

from __future__ import annotations

import shutil
import signal
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import yaml

from heldout.experiments.building import Remark, Session, Who, open_session
from heldout.experiments.calls_told import calls_body
from heldout.experiments.checks import CONSULTATIONS_FILE, PAIRS_FILE, Checked, check, new_partition
from heldout.experiments.loading import load_config, parse_setting
from heldout.experiments.progress import Progress
from heldout.experiments.provenance import provenance
from heldout.experiments.report.pages import write_report
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.rundir import RunDirectory, existing_run
from heldout.experiments.schema import Config
from heldout.experiments.tracking import TrackingSettings, TrackingWriter, default_uri
from heldout.gepa.campaign import Campaign
from heldout.gepa.events import Event, EventKind, FinishReason
from heldout.gepa.journal import Observer, read_journal
from heldout.gepa.record import Record
from heldout.splits.errors import (
    BadInput,
    CircuitOpen,
    HardCapReached,
    HeldoutError,
    InfrastructureFailure,
    LooksSpent,
    StopRequested,
    StoreUnavailable,
    UserFault,
)
from heldout.splits.hashing import sha256_json
from heldout.splits.looks_file import Buyer, LooksFile
from heldout.splits.manifest import freeze
from heldout.splits.synthetic import write_jsonl
from heldout.students.chat import ChatModel

RAISABLE = "budget"
"""The one section that `resume --set` may change: caps may be raised, nothing else."""


@dataclass(frozen=True)
class Options:
    """What is added to a configuration; `quiet` shows no progress, `doubles` are for tests."""

    acknowledge_reuse: bool = False
    quiet: bool = False
    doubles: Mapping[str, ChatModel] = field(default_factory=dict)

    def who(self, run_id: str, acknowledged: bool = False) -> Who:
        """The identity of a run under these options."""
        return Who(run_id, self.acknowledge_reuse or acknowledged, self.doubles)


@dataclass(frozen=True)
class Ended:
    """How a session ended: its events, the error that stopped it, and the exit status.

    `untracked` says in one line why MLflow did not follow; `heldout sync` makes up for it.
    """

    run: RunDirectory
    events: tuple[Event, ...]
    error: HeldoutError | None
    untracked: str | None = None

    @property
    def exit_status(self) -> int:
        """0 when the campaign finished, whatever the gate said."""
        return 0 if self.error is None else self.error.exit_status


def prepare(config_file: Path, settings: Sequence[str], run_dir: Path) -> Checked:
    """Load and check a configuration for a new run in `run_dir`. Writes nothing."""
    run = RunDirectory(run_dir.resolve())
    if run.path.exists() and (not run.path.is_dir() or any(run.path.iterdir())):
        raise BadInput.one(
            str(run_dir), "already exists; continue it with resume, or give another --run-dir"
        )
    return check(load_config(config_file, settings), run)


def start(checked: Checked, run_dir: Path, options: Options) -> Ended:
    """Begin a run: write what defines it, then work until it ends.

    Raises UserFault, with nothing left behind, for what is found before the first call.
    """
    run = RunDirectory(run_dir.resolve())
    who = options.who(_new_id(checked.config))
    _refuse_spent_looks(checked, who)
    made_here = not run.path.exists()
    try:
        run.path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput.one(str(run_dir), f"cannot be made ({error.strerror})") from error
    with run.locked():
        try:
            _write_definition(checked, run)
            return _work(checked, run, who, options, EventKind.OPENED)
        except UserFault:
            if made_here and not _has_calls(run):
                shutil.rmtree(run.path)
            raise


def resume(run_dir: Path, settings: Sequence[str], options: Options) -> Ended:
    """Continue a run: the same loop again, with its own calls as memo.

    A finished run is left as it is. Raises UserFault where the run cannot be continued.
    """
    run = existing_run(run_dir)
    _only_caps(settings)
    with run.locked():
        events = read_journal(run.journal) if run.journal.exists() else []
        record = Record.of(events)
        # Caps raised before stay raised: the journal remembers them, the configuration does not.
        before = [text for body in record.bodies(EventKind.RESUMED) for text in body["raised"]]
        config = load_config(run.config, [*before, *settings])
        _only_raised(load_config(run.config, before), config)
        if record.last(EventKind.FINISHED):
            return Ended(run, tuple(events), None)
        run.stop_file.unlink(missing_ok=True)
        checked = check(config, run)
        _write_definition(checked, run)
        opened = record.last(EventKind.OPENED)
        if opened is None:
            who = options.who(_new_id(config))
            return _work(checked, run, who, options, EventKind.OPENED)
        who = options.who(opened["run_id"], opened["acknowledge_reuse"])
        return _work(checked, run, who, options, EventKind.RESUMED, tuple(settings))


def _new_id(config: Config) -> str:
    return f"{config.name}-{uuid.uuid4().hex[:12]}"


def _refuse_spent_looks(checked: Checked, who: Who) -> None:
    """End before any call where every planned look was opened by other runs."""
    if who.acknowledge_reuse or checked.is_new_partition:
        return
    looks = LooksFile.beside(checked.manifest, checked.partition)
    standing = looks.standing(Buyer(who.run_id))
    if standing.spent:
        raise LooksSpent(str(checked.manifest), standing.others, standing.planned)


def _write_definition(checked: Checked, run: RunDirectory) -> None:
    """The resolved configuration, the drawn benchmark and the frozen partition, where absent."""
    if not run.config.exists():
        run.config.write_text(resolved_yaml(checked.config), encoding="utf-8")
    if checked.made is not None:
        run.benchmark.mkdir(exist_ok=True)
        write_jsonl(checked.made, run.benchmark / PAIRS_FILE, run.benchmark / CONSULTATIONS_FILE)
    if checked.is_new_partition:
        # Drawn again from the files, so that the manifest names their digests.
        freeze(new_partition(checked.config, checked.load(), checked.exclude), checked.manifest)


def resolved_yaml(config: Config) -> str:
    """The configuration with every default filled in, seed blocks included."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def _work(
    checked: Checked,
    run: RunDirectory,
    who: Who,
    options: Options,
    kind: EventKind,
    raised: Sequence[str] = (),
) -> Ended:
    progress = Progress(checked.config.search.iterations)
    with ExitStack() as stack:
        observers: list[Observer] = []
        if not options.quiet:
            stack.enter_context(progress)
            observers.append(progress.observe)
        writer = _tracking(checked, run)
        if writer is not None:
            stack.callback(writer.close)
            observers.append(writer.observe)
        stop = stack.enter_context(_stop_requests(run))
        session = stack.enter_context(
            open_session(
                checked,
                run,
                who,
                observers=tuple(observers),
                stop=stop,
                first=Remark(kind, _opening(checked, who, raised)),
            )
        )
        progress.totals = lambda: session.ledger.totals
        error: HeldoutError | None = None
        try:
            Campaign(session.parts).run()
        except HeldoutError as stopped:
            error = stopped
        _remark_end(session, error)
        if isinstance(error, UserFault):
            raise error
        if error is None:
            write_report(run.path)
    return Ended(run, tuple(read_journal(run.journal)), error, writer.failure if writer else None)


def _tracking(checked: Checked, run: RunDirectory) -> TrackingWriter | None:
    """What follows the run into MLflow on a thread of its own, unless it is switched off."""
    section = checked.config.tracking
    if not section.enabled:
        return None
    text = TextPolicy(text_policy(checked))
    return TrackingWriter(
        run.path, TrackingSettings(default_uri(section.uri), section.experiment, text)
    )


def _remark_end(session: Session, error: HeldoutError | None) -> None:
    """Put on record what the session asked of models, and why it stopped if it did."""
    journal = session.parts.journal
    # A full disk takes no remark either; the error that stopped the run is told all the same.
    with suppress(StoreUnavailable):
        journal.remark(EventKind.CALLS, calls_body(session.caller))
        if error is not None:
            journal.remark(
                EventKind.STOPPED,
                {
                    "finish_reason": _finish_reason(error),
                    "exit_status": error.exit_status,
                    "message": str(error),
                },
            )


def _finish_reason(error: HeldoutError) -> str:
    match error:
        case HardCapReached():
            return FinishReason.HARD_CAP
        case StopRequested():
            return FinishReason.STOP_REQUESTED
        case CircuitOpen() | InfrastructureFailure():
            return FinishReason.CIRCUIT_OPEN
        case StoreUnavailable():
            return FinishReason.STORE_UNAVAILABLE
    return FinishReason.FAULT


def _opening(checked: Checked, who: Who, raised: Sequence[str]) -> dict[str, Any]:
    """What the first event of a session holds."""
    config = checked.config
    return {
        "run_id": who.run_id,
        "name": config.name,
        "seed": config.seed,
        "acknowledge_reuse": who.acknowledge_reuse,
        "config_sha256": sha256_json(config.model_dump(mode="json")),
        "raised": list(raised),
        "student": {
            "design": config.student.design,
            "model": checked.student.pin.id,
            "temperature": checked.student.pin.temperature,
            "parameters": dict(checked.student.pin.parameters),
            "budget": config.student.budget.model_dump(),
        },
        "reflector": {
            "model": checked.reflector.pin.id,
            "temperature": checked.reflector.pin.temperature,
            "budget": config.reflector.budget.model_dump(),
        },
        "reuse": config.store.reuse,
        "tracking_text": text_policy(checked),
        "simulated": checked.simulated,
        "notices": list(checked.notices),
        **provenance(),
    }


def text_policy(checked: Checked) -> str:
    """`tracking.text`: hashes unless the benchmark declares itself public."""
    configured = checked.config.tracking.text
    public = checked.made is not None or checked.source.public
    return configured or ("full" if public else "hashes")


def _only_caps(settings: Sequence[str]) -> None:
    """The `resume --set` options may name budgets only."""
    for text in settings:
        path, _ = parse_setting(text)
        if path[0] != RAISABLE:
            where = f"--set {'.'.join(map(str, path))}"
            raise BadInput.one(where, "resume may raise budget.… and change nothing else")


def _only_raised(before: Config, after: Config) -> None:
    """A cap may be raised or lifted, never lowered or newly set."""
    for name, old in before.budget.model_dump().items():
        new = getattr(after.budget, name)
        if new != old and (old is None or (new is not None and new < old)):
            was = "no cap" if old is None else f"{old:g}"
            raise BadInput.one(f"--set budget.{name}", f"may only be raised, it was {was}")


def _has_calls(run: RunDirectory) -> bool:
    """True once anything was bought or decided: such a directory is never removed."""
    if not run.journal.exists():
        return False
    return any(event.kind is EventKind.EVALUATION for event in read_journal(run.journal))


@contextmanager
def _stop_requests(run: RunDirectory) -> Iterator[Callable[[], str | None]]:
    """A stop condition: the first Ctrl-C or SIGTERM, or the stop file.

    The first signal lets calls in flight finish; a second one is the default again.
    """
    seen: list[str] = []
    previous: dict[int, Any] = {}

    def note(number: int, _frame: FrameType | None) -> None:
        seen.append(signal.Signals(number).name)
        signal.signal(number, previous[number])

    for caught in (signal.SIGINT, signal.SIGTERM):
        previous[caught] = signal.signal(caught, note)
    try:
        yield lambda: seen[0] if seen else ("gepa.stop" if run.stop_file.exists() else None)
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
