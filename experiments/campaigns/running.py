"""Starting and resuming runs: the order of checks, what is written when, how a run ends."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.campaigns.checks import (
    ASKING,
    BEGINNING,
    PLANNING,
    STARTING,
    check,
)
from heldout.experiments.campaigns.examination import Checked, Examination, new_partition
from heldout.experiments.campaigns.first_calls import StartRefused
from heldout.experiments.campaigns.leaving_out import left_out_of
from heldout.experiments.campaigns.parts import refuse_changed
from heldout.experiments.campaigns.session import (
    CampaignSession,
    RunOptions,
    SessionResult,
    write_pages,
)
from heldout.experiments.checking.checklist import demand
from heldout.experiments.report.pages import note_pages
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import (
    ConfigSource,
    config_digest,
    load_config,
    parse_setting,
)
from heldout.experiments.runs.run_data import CONSULTATIONS_FILE, PAIRS_FILE
from heldout.experiments.runs.run_directory import RunDirectory, existing_run, is_free, resolved
from heldout.gepa.record.files import write_whole
from heldout.gepa.record.remarks import ResumedEvent
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, HeldoutError, UserFault
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.looks import Family
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.partition.manifest import freeze
from heldout.splits.private_files import private_files
from heldout.splits.synthetic import write_jsonl
from heldout.students.calls.transfer import read_rows

RAISABLE = "budget"
"""The one section that `resume --set` may change: caps may be raised, nothing else."""


def prepare(
    source: ConfigSource, settings: Sequence[str], run_dir: Path, options: RunOptions | None = None
) -> Checked:
    """Load and check a configuration for a new run in `run_dir`. Writes nothing.

    With the `options` of the run everything that a start needs is checked with the rest; without
    them `start` checks it. Raises BadInput with every fault.
    """
    run = RunDirectory(resolved(run_dir))
    config = load_config(source, settings)
    if options is None:
        return check(config, run, PLANNING)
    return check(config, run, BEGINNING, new_buyer(config, options))


def start(checked: Checked, run_dir: Path, options: RunOptions) -> SessionResult:
    """Begin a run: write what defines it, then work until it ends.

    Raises UserFault, with nothing left behind, for what is found before the first call.
    """
    run = RunDirectory(run_dir.resolve())
    buyer = new_buyer(checked.config, options)
    demand(Examination.of(checked, run, buyer), STARTING)
    made = new_folder(run.path)
    with run.locked():
        # Whoever came second finds the lock taken, or the run that the first one has made.
        if not is_free(run.path):
            raise BadInput.one(str(run_dir), "already exists; another process began a run there")
        with nothing_left_of(run.path, made, lambda: has_calls(run)):
            write_definition(checked, run)
            session = CampaignSession(checked=checked, directory=run, buyer=buyer, options=options)
            return session.work()


def new_folder(path: Path) -> list[Path]:
    """Make `path`; which folders were made for it, innermost first. Raises BadInput."""
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        with private_files():
            path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput.one(str(path), f"cannot be made ({error.strerror})") from error
    return made


@contextmanager
def nothing_left_of(
    path: Path, made: Sequence[Path], has_calls: Callable[[], bool]
) -> Iterator[None]:
    """Take back what stands in `path`, and the folders `made`, where a start fails early.

    Early is before its first call, or where a model refused that; what can be resumed is left. A
    folder that was there before stays, empty. To be used by whoever holds the folder's lock: what
    others wrote is not ours.
    """
    keep = refused = False
    try:
        yield
        keep = True
    except HeldoutError as error:
        keep, refused = not isinstance(error, UserFault), isinstance(error, StartRefused)
        raise
    finally:
        # Whatever else ends a start, an interrupt among it, must leave no half of a run either.
        if not keep and (refused or not has_calls()):
            for item in path.iterdir():
                shutil.rmtree(item) if item.is_dir() else item.unlink()
            for folder in made:
                with suppress(OSError):  # another run may have come to lie beside this one
                    folder.rmdir()


def run_in(source: ConfigSource, run_dir: Path, options: RunOptions) -> SessionResult:
    """Begin a run in `run_dir`, or go on with the one of the same configuration that is there.

    Raises BadInput, naming what differs, where the run there has another configuration.
    """
    run = RunDirectory(resolved(run_dir))
    if not run.config.is_file():
        return start(prepare(source, (), run_dir, options), run_dir, options)
    asked, there = load_config(source), load_config(run.config, stored=True)
    differs = [name for name in Config.model_fields if getattr(asked, name) != getattr(there, name)]
    # What the same file leaves out may have meant something else when that run began.
    if differs and load_config(source, stored=True) != there:
        raise BadInput.one(
            str(run_dir),
            f"holds a run of another configuration ({', '.join(differs)} differ); give another "
            "run directory, or raise its budget with resume",
        )
    return resume(run_dir, (), options)


def resume(
    run_dir: Path, settings: Sequence[str], options: RunOptions, leave_out: Sequence[str] = ()
) -> SessionResult:
    """Continue a run: the same loop again, with its own calls as memo.

    `leave_out` are notes that the stop named and that may go unanswered. A finished run is left as
    it is. Raises UserFault where the run cannot be continued.
    """
    run = existing_run(run_dir)
    if run.shared is not None:
        message = f"is decided together with others; resume the folder above it: {run.shared}"
        raise BadInput.one(str(run_dir), message)
    only_caps(settings)
    with run.locked():
        so_far = Run.at(run.path)
        # Caps raised before stay raised: the journal remembers them, the configuration does not.
        config = load_config(run.config, [*so_far.raised, *settings], stored=True)
        only_raised(load_config(run.config, so_far.raised, stored=True), config)
        _refuse_edited(run, so_far)
        left_out = left_out_of(so_far, leave_out)
        if so_far.finished:
            if not run.report.is_file():
                write_pages(run)
                note_pages(run.path)
            return SessionResult(run, so_far, None)
        run.stop_file.unlink(missing_ok=True)
        if so_far.has_begun:
            refuse_changed(config, so_far.opened.parts)
        checked = check(config, run, ASKING)
        if checked.is_new_partition and so_far.partition:
            # A partition drawn anew would be a second held-out set, with looks of its own.
            raise BadInput.one(str(checked.manifest), "is gone; the run was begun on it")
        write_definition(checked, run)
        return continuing(checked, run, so_far, options, tuple(settings), left_out).work()


def _refuse_edited(run: RunDirectory, so_far: Run) -> None:
    """A configuration edited after the run began is another experiment."""
    if not so_far.has_begun:
        return
    if config_digest(run.config) != so_far.opened.config_sha256:
        raise BadInput.one(str(run.config), "was edited after the run began; start a new run")


def continuing(
    checked: Checked,
    run: RunDirectory,
    so_far: Run,
    options: RunOptions,
    raised: tuple[str, ...],
    left_out: tuple[str, ...] = (),
    family: Family | None = None,
) -> CampaignSession:
    """The session that goes on with a run, or begins it where only its configuration is there."""
    if not so_far.has_begun:
        buyer = new_buyer(checked.config, options, family)
        return CampaignSession(checked=checked, directory=run, buyer=buyer, options=options)
    opened = so_far.opened
    acknowledged = options.acknowledge_reuse or opened.acknowledge_reuse
    return CampaignSession(
        checked=checked,
        directory=run,
        buyer=Buyer(opened.run_id, family, acknowledged, seeds_of(checked.config)),
        options=options,
        opening=ResumedEvent,
        raised=raised,
        left_out=left_out,
    )


def new_buyer(config: Config, options: RunOptions, family: Family | None = None) -> Buyer:
    """A new run, as the looks file knows it."""
    run_id = f"{config.name}-{uuid.uuid4().hex[:12]}"
    return Buyer(run_id, family, options.acknowledge_reuse, seeds_of(config))


def seeds_of(config: Config) -> frozenset[str]:
    """Hashes of the blocks that a run begins with."""
    return frozenset(sha256_text(seed.text) for seed in config.seeds)


def write_definition(checked: Checked, run: RunDirectory) -> None:
    """The resolved configuration, the drawn benchmark and the frozen partition, where absent."""
    if not run.config.exists():
        write_whole(run.config, resolved_yaml(checked.config))
    if checked.made is not None:
        # Both files or neither: a run killed in between would have half a benchmark.
        part = run.benchmark.with_name(f"{run.benchmark.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir()
        write_jsonl(checked.made, part / PAIRS_FILE, part / CONSULTATIONS_FILE)
        part.replace(run.benchmark)
    if checked.is_new_partition:
        # Drawn again from the files, so that the manifest names their digests.
        freeze(new_partition(checked.config, checked.load(), checked.exclude), checked.manifest)


def resolved_yaml(config: Config) -> str:
    """The configuration with every default filled in, seed blocks included."""
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def only_caps(settings: Sequence[str]) -> None:
    """The `resume --set` options may name budgets only."""
    for text in settings:
        path, _ = parse_setting(text)
        if path[0] != RAISABLE:
            where = f"--set {'.'.join(map(str, path))}"
            raise BadInput.one(where, "resume may raise budget.… and change nothing else")


def only_raised(before: Config, after: Config) -> None:
    """A cap may be raised or lifted, never lowered or newly set."""
    caps = _flat(after.budget.model_dump())
    for name, old in _flat(before.budget.model_dump()).items():
        new = caps[name]
        if new != old and (old is None or (new is not None and new < old)):
            was = "no cap" if old is None else f"{old:g}"
            raise BadInput.one(f"--set budget.{name}", f"may only be raised, it was {was}")


def _flat(caps: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Caps by dotted name, those of single roles included."""
    found: dict[str, Any] = {}
    for name, value in caps.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def has_calls(run: RunDirectory) -> bool:
    """True once anything was bought or decided: such a directory is never removed."""
    if run.store.exists() and next(read_rows(f"sqlite:///{run.store}"), None) is not None:
        return True
    return bool(Run.at(run.path).evaluations)
