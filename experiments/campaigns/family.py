"""Several campaigns in one command: one partition, one look plan, one cap, one family of tests.

Each campaign explores in turn, up to its held-out figures. Only when all have them are the
decisions taken, with Holm's method over the targets, so that a second target is not a second
chance. Resuming goes through all of them again.
"""

from __future__ import annotations

import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from heldout.experiments.campaigns.building import Confirmations, target_of
from heldout.experiments.campaigns.checks import Checked, check
from heldout.experiments.campaigns.parts import refuse_changed
from heldout.experiments.campaigns.running import (
    continuing,
    has_calls,
    identity,
    only_caps,
    only_raised,
    refuse_spent_looks,
    write_definition,
)
from heldout.experiments.campaigns.session import (
    Ended,
    Options,
    Sitting,
    Task,
    close_record,
    ended,
    sitting,
)
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import FAMILY_FILE, RunDirectory
from heldout.gepa.gate.decide import decide_family
from heldout.gepa.gate.decision import Decision
from heldout.gepa.gate.outcome import CampaignResult
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, Fault, HeldoutError, UserFault
from heldout.splits.heldout.looks import Family

SHARED = ("benchmark", "partition", "budget")
"""Sections that must be equal in all configurations of a family."""


@dataclass(frozen=True)
class Member:
    """One campaign of a family."""

    checked: Checked
    run: RunDirectory

    @property
    def name(self) -> str:
        """Name of the campaign and of its folder."""
        return self.checked.config.name


def prepare_family(
    config_files: Sequence[Path], settings: Sequence[str], folder: Path
) -> list[Member]:
    """Load and check the configurations of a new family in `folder`. Writes nothing."""
    folder = folder.resolve()
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise BadInput.one(
            str(folder), "already exists; continue it with resume, or give another --run-dir"
        )
    return _members([load_config(file, settings) for file in config_files], folder)


def start_family(members: Sequence[Member], folder: Path, options: Options) -> list[Ended]:
    """Run a family to its decisions, or to what stops it.

    Raises UserFault, with nothing left behind, for what is found before the first call.
    """
    family = _declared(members, uuid.uuid4().hex[:12])
    folder = folder.resolve()
    tasks = [
        Task(m.checked, m.run, identity(m.checked.config, options, family), options)
        for m in members
    ]
    for task in tasks:
        refuse_spent_looks(task.checked, task.who)
    folder.mkdir(parents=True, exist_ok=True)
    listed = {"id": family.id, "members": [m.name for m in members]}
    (folder / FAMILY_FILE).write_text(json.dumps(listed) + "\n", encoding="utf-8")
    try:
        for member in members:
            member.run.path.mkdir(exist_ok=True)
            # The first member writes what all share; the others find it there.
            write_definition(_again(member).checked, member.run)
        pairs = zip(tasks, members, strict=True)
        return _work([replace(task, checked=_again(member).checked) for task, member in pairs])
    except UserFault:
        if not any(has_calls(member.run) for member in members):
            shutil.rmtree(folder)
        raise


def resume_family(folder: Path, settings: Sequence[str], options: Options) -> list[Ended]:
    """Continue a family: every member again, with its own calls as memo."""
    folder = folder.resolve()
    only_caps(settings)
    listed = json.loads((folder / FAMILY_FILE).read_text(encoding="utf-8"))
    runs = [RunDirectory(folder / name, shared=folder) for name in listed["members"]]
    so_far = [Run.at(run.path) for run in runs]
    before = so_far[0].raised
    configs = [load_config(run.config, [*before, *settings], stored=True) for run in runs]
    for run, config in zip(runs, configs, strict=True):
        only_raised(load_config(run.config, before, stored=True), config)
    if all(run.finished for run in so_far):
        return [Ended(files, run, None) for files, run in zip(runs, so_far, strict=True)]
    for config, begun in zip(configs, so_far, strict=True):
        if begun.has_begun:
            refuse_changed(config, begun.opened.parts)
    members = _members(configs, folder)
    family = _declared(members, listed["id"])
    for run in runs:
        run.stop_file.unlink(missing_ok=True)
    return _work(
        [
            continuing(m.checked, m.run, run, options, tuple(settings), family)
            for m, run in zip(members, so_far, strict=True)
        ]
    )


def _members(configs: Sequence[Config], folder: Path) -> list[Member]:
    faults = [
        Fault(config.name, f"its {section} differs from that of {configs[0].name}; they share one")
        for config in configs[1:]
        for section in SHARED
        if getattr(config, section) != getattr(configs[0], section)
    ]
    if len({config.name for config in configs}) < len(configs):
        faults.append(Fault("name", "two configurations of one command have the same name"))
    # The pre-gate is each campaign's own affair: it decides on accept, before any look.
    if len({replace(config.gate, pre_gate="off") for config in configs}) > 1:
        faults.append(Fault("gate", "a family is decided by one gate, these differ"))
    if len({config.seed for config in configs}) > 1:
        faults.append(Fault("seed", "a family draws one partition, so its seeds must be equal"))
    if faults:
        raise BadInput(faults)
    runs = [RunDirectory(folder / config.name, shared=folder) for config in configs]
    return [Member(check(c, run), run) for c, run in zip(configs, runs, strict=True)]


def _again(member: Member) -> Member:
    """The member checked anew, now that the first one may have written what all share."""
    return replace(member, checked=check(member.checked.config, member.run))


def _declared(members: Sequence[Member], id_: str) -> Family:
    return Family(id_, tuple(target_of(member.checked) for member in members))


def _work(tasks: Sequence[Task]) -> list[Ended]:
    """Explore one after the other, decide together, conclude one after the other."""
    confirmations = Confirmations.of([task.checked for task in tasks])
    error: HeldoutError | None = None
    opened: list[tuple[Task, Sitting]] = []
    with ExitStack() as stack:
        for task in tasks:
            stack.enter_context(task.run.locked())
        try:
            explored = [
                _explore(replace(task, confirmations=confirmations), stack, opened)
                for task in tasks
            ]
            for (_, open_), found in zip(opened, _decided(tasks, explored), strict=True):
                open_.campaign.conclude(found)
        except HeldoutError as stopped:
            error = stopped
        for task, open_ in opened:
            close_record(task, open_, error)
    if isinstance(error, UserFault):
        raise error
    done = [ended(task, open_, error) for task, open_ in opened]
    return done + [Ended(t.run, Run.at(t.run.path), error) for t in tasks[len(done) :]]


def _explore(task: Task, stack: ExitStack, opened: list[tuple[Task, Sitting]]) -> CampaignResult:
    open_ = stack.enter_context(sitting(task))
    opened.append((task, open_))
    return open_.campaign.explore()


def _decided(tasks: Sequence[Task], explored: Sequence[CampaignResult]) -> list[CampaignResult]:
    """Holm over the members that have held-out figures."""
    names = [task.checked.config.name for task in tasks]
    decisions: Mapping[str, Decision] = {
        name: found.decision
        for name, found in zip(names, explored, strict=True)
        if found.decision is not None
    }
    adjusted = decide_family(decisions)
    return [
        found.decided(adjusted[name]) if name in adjusted else found
        for name, found in zip(names, explored, strict=True)
    ]
