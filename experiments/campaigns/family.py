"""Several campaigns in one command: one partition, one look plan, one cap, one family of tests.

Each campaign explores in turn, up to its held-out figures. Only when all have them are the
decisions taken, with Holm's method over the targets, so that a second target is not a second
chance. Resuming goes through all of them again.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from heldout.experiments.campaigns.building import Confirmations, target_of
from heldout.experiments.campaigns.checks import ASKING, BEGINNING, check
from heldout.experiments.campaigns.leaving_out import OPTION, left_out_of, named_by_stop
from heldout.experiments.campaigns.parts import refuse_changed
from heldout.experiments.campaigns.running import (
    continuing,
    has_calls,
    new_buyer,
    new_folder,
    nothing_left_of,
    only_caps,
    only_raised,
    write_definition,
)
from heldout.experiments.campaigns.session import (
    CampaignSession,
    OnRecord,
    OpenedSession,
    RunOptions,
    SessionResult,
)
from heldout.experiments.checking.checklist import all_of
from heldout.experiments.report.family_page import write_family
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import (
    FAMILY_FILE,
    RunDirectory,
    is_free,
    read_family,
    working_in,
)
from heldout.gepa.gate.decide import decide_family
from heldout.gepa.gate.outcome import CampaignResult
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, Fault
from heldout.splits.heldout.looks import Family

SHARED = ("benchmark", "partition", "budget")
"""Sections that must be equal in all configurations of a family."""


def prepare_family(
    config_files: Sequence[Path], settings: Sequence[str], folder: Path, options: RunOptions
) -> list[CampaignSession]:
    """Load and check the configurations of a new family in `folder`. Writes nothing."""
    folder = folder.resolve()
    if folder.exists() and not is_free(folder):
        raise BadInput.one(
            str(folder), "already exists; continue it with resume, or give another --run-dir"
        )
    configs = all_of(*(partial(load_config, file, settings) for file in config_files))
    runs = [RunDirectory(folder / config.name, shared=folder) for config in configs]
    return _sessions(configs, runs, [Run(run.path) for run in runs], options=options)


def start_family(sessions: Sequence[CampaignSession], folder: Path) -> list[SessionResult]:
    """Run a family to its decisions, or to what stops it.

    Raises UserFault, with nothing left behind, for what is found before the first call.
    """
    folder = folder.resolve()
    made = new_folder(folder)
    with working_in(folder):
        # Whoever came second finds the lock taken, or the runs that the first one has made.
        if not is_free(folder):
            message = "already exists; another process began a family of runs there"
            raise BadInput.one(str(folder), message)
        with nothing_left_of(folder, made, lambda: any(has_calls(s.directory) for s in sessions)):
            family = sessions[0].buyer.family
            assert family is not None  # `prepare_family` declares one
            names = [session.checked.config.name for session in sessions]
            listed = json.dumps({"id": family.id, "members": names})
            (folder / FAMILY_FILE).write_text(listed + "\n", encoding="utf-8")
            for session in sessions:
                session.directory.path.mkdir(exist_ok=True)
                # The first member writes what all share; the others find it there.
                write_definition(_again(session).checked, session.directory)
            return _work([_again(session) for session in sessions])


def resume_family(
    folder: Path, settings: Sequence[str], options: RunOptions, leave_out: Sequence[str] = ()
) -> list[SessionResult]:
    """Continue a family: every member again, with its own calls as memo.

    `leave_out` are notes that the stop of a member named; they may go unanswered in that member.
    """
    folder = folder.resolve()
    only_caps(settings)
    with working_in(folder):
        return _resumed(folder, settings, options, leave_out)


def _resumed(
    folder: Path, settings: Sequence[str], options: RunOptions, leave_out: Sequence[str]
) -> list[SessionResult]:
    listed = read_family(folder)
    runs = [RunDirectory(folder / name, shared=folder) for name in listed.members]
    so_far = [Run.at(run.path) for run in runs]
    before = so_far[0].raised
    configs = [load_config(run.config, [*before, *settings], stored=True) for run in runs]
    for run, config in zip(runs, configs, strict=True):
        only_raised(load_config(run.config, before, stored=True), config)
    left_out = _left_out(so_far, leave_out)
    if all(run.finished for run in so_far):
        return [SessionResult(files, run, None) for files, run in zip(runs, so_far, strict=True)]
    for config, begun in zip(configs, so_far, strict=True):
        if begun.has_begun:
            refuse_changed(config, begun.opened.parts)
    sessions = _sessions(
        configs, runs, so_far, options=options, raised=tuple(settings), id_=listed.id
    )
    sessions = [replace(s, left_out=o) for s, o in zip(sessions, left_out, strict=True)]
    for run in runs:
        run.stop_file.unlink(missing_ok=True)
    return _work(sessions)


def _left_out(so_far: Sequence[Run], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The notes to leave out of each member. Raises BadInput for one that no stop named."""
    named = [set(named_by_stop(run)) for run in so_far]
    unknown = [name for name in names if not any(name in found for found in named)]
    if unknown:
        raise BadInput([Fault(OPTION, f"{name} was not named by any stop") for name in unknown])
    return [
        left_out_of(run, [name for name in names if name in found])
        for run, found in zip(so_far, named, strict=True)
    ]


def _sessions(
    configs: Sequence[Config],
    runs: Sequence[RunDirectory],
    so_far: Sequence[Run],
    *,
    options: RunOptions,
    raised: tuple[str, ...] = (),
    id_: str | None = None,
) -> list[CampaignSession]:
    """A session for each member, all checked, with the targets of all declared; `id_` is new
    without one.
    """
    _refuse_unlike(configs)
    new = id_ is None
    checks = BEGINNING if new else ASKING
    members = zip(configs, runs, strict=True)
    checked = all_of(
        *(
            partial(check, config, run, checks, new_buyer(config, options) if new else None)
            for config, run in members
        )
    )
    family = Family(id_ or uuid.uuid4().hex[:12], tuple(map(target_of, checked)))
    return [
        continuing(found, run, begun, options, raised, family=family)
        for found, run, begun in zip(checked, runs, so_far, strict=True)
    ]


def _refuse_unlike(configs: Sequence[Config]) -> None:
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


def _again(session: CampaignSession) -> CampaignSession:
    """The member checked anew, now that the first one may have written what all share."""
    return replace(session, checked=check(session.checked.config, session.directory))


def _work(sessions: Sequence[CampaignSession]) -> list[SessionResult]:
    """Explore one after the other, decide together, conclude one after the other."""
    confirmations = Confirmations.of([session.checked for session in sessions])
    opened: list[OpenedSession] = []
    with ExitStack() as stack:
        for session in sessions:
            stack.enter_context(session.directory.locked())
        with OnRecord(opened) as record:
            for session in sessions:
                sharing = replace(session, confirmations=confirmations)
                opened.append(stack.enter_context(sharing.open()))
                opened[-1].answer_first(session.checked)
            # Every model has answered before the first of them is looked at on held-out.
            explored = [member.session.campaign.explore() for member in opened]
            for member, found in zip(opened, _decided(sessions, explored), strict=True):
                member.session.campaign.conclude(found)
    done = [member.result(record.error) for member in opened]
    shared = sessions[0].directory.shared
    if shared is not None and all(ended.run.finished for ended in done) and len(done) > 1:
        write_family(shared)
    rest = sessions[len(done) :]
    return done + [SessionResult(s.directory, Run.at(s.directory.path), record.error) for s in rest]


def _decided(
    sessions: Sequence[CampaignSession], explored: Sequence[CampaignResult]
) -> list[CampaignResult]:
    """Every member under the decision that the family leaves it."""
    names = [session.checked.config.name for session in sessions]
    decisions = {name: found.decision for name, found in zip(names, explored, strict=True)}
    adjusted = decide_family(decisions)
    return [found.decided(adjusted[name]) for name, found in zip(names, explored, strict=True)]
