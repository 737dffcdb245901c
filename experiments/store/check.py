"""Does a store hold every call its journal speaks of? Found out by running the campaign again.

A judgement is a pure function of its calls, and the journal names calls by digest only. So the
campaign is run again on a copy, without models, from the stored calls alone; each event is compared
with the one on record. The run itself is not touched.
"""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.building import open_session
from heldout.experiments.campaigns.checks import check
from heldout.experiments.campaigns.examination import Checked
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, existing_run
from heldout.experiments.store.tools import source_of
from heldout.gepa.record.codec import Event
from heldout.gepa.record.events import DriftEvent, EvaluationEvent
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.remarks import ResumedEvent
from heldout.gepa.record.run import Run
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput, CallMissing, JournalMismatch, Stopped
from heldout.splits.heldout.looks_file import Buyer
from heldout.students.calls.caller import never
from heldout.students.calls.store_rows import StoredCall
from heldout.students.calls.transfer import read_rows, row_fault, write_rows


@dataclass(frozen=True)
class StoreChecked:
    """What was found: stored calls, events compared, and the first fault or None."""

    run: str
    calls: int
    events: int
    fault: str | None

    @property
    def exit_status(self) -> int:
        """0 when the store holds all the journal speaks of, 1 when it does not."""
        return 0 if self.fault is None else 1

    @property
    def text(self) -> str:
        """For a person."""
        if self.fault:
            return self.fault
        return (
            f"{self.run}: {counted(self.calls, 'stored call')} for "
            f"{counted(self.events, 'event')} on record, and all fit"
        )

    def to_json(self) -> dict[str, Any]:
        """`{run_dir, ok, calls, events, fault}`."""
        return {
            "run_dir": self.run,
            "ok": self.fault is None,
            "calls": self.calls,
            "events": self.events,
            "fault": self.fault,
        }


def check_store(path: Path) -> StoreChecked:
    """Check the store of the run at `path` against its journal; writes nothing there.

    Raises UserFault where the run cannot be read.
    """
    run = existing_run(path)
    source = source_of(str(run.path))
    if source.run_id is None:
        raise BadInput.one(str(path), "has not begun: there is nothing to check")
    rows = list(read_rows(source.url, source.run_id))
    compared = sum(not event.is_remark for event in Run.at(run.path).events)
    fault = _first_bad(rows)
    if fault is None:
        with tempfile.TemporaryDirectory() as folder:
            fault = _replay(run, RunDirectory(Path(folder).resolve()), rows)
    told = None if fault is None else f"{source.shown}: {fault}"
    return StoreChecked(str(run.path), len(rows), compared, told)


def _first_bad(rows: list[StoredCall]) -> str | None:
    for row in rows:
        said = row_fault(row)
        if said is not None:
            return f"stored call {row.key}: {said}"
    return None


def _replay(run: RunDirectory, copy: RunDirectory, rows: list[StoredCall]) -> str | None:
    """Run the campaign again in `copy`; what the stored calls do not bear out, or None."""
    checked = _copied(run, copy)
    write_rows(f"sqlite:///{copy.store}", rows)
    so_far = Run.at(copy.path)
    opened = so_far.opened
    buyer = Buyer(opened.run_id, acknowledge_reuse=opened.acknowledge_reuse)
    first = ResumedEvent(**{**vars(opened), "raised": ()})
    with open_session(checked, copy, buyer, observers=(), stop=never, first=first) as session:
        try:
            session.campaign.run()
        except CallMissing as missing:
            # A run that was stopped goes on from here; one that was not has lost a call.
            ahead = session.campaign.journal.ahead
            if ahead is None or _part_judged_again(ahead, so_far.drift):
                return None
            return f"no stored call for {missing.call}"
        except (JournalMismatch, Stopped) as error:
            return str(error)
    return None


def _part_judged_again(event: Event, drift: DriftEvent | None) -> bool:
    """True for the drift check of an older version, which asked a share of the notes alone."""
    body, older = event.body, drift is not None and drift.moved is None
    return older and isinstance(body, EvaluationEvent) and body.purpose is Purpose.DRIFT


def _copied(run: RunDirectory, copy: RunDirectory) -> Checked:
    """The run's files in `copy`, with a store of its own and no caps: nothing will be bought."""
    config = load_config(run.config, stored=True)
    manifest = config.partition.manifest or run.manifest
    for file in (
        run.config,
        run.journal,
        manifest,
        manifest.with_name(f"{manifest.stem}.looks.jsonl"),
    ):
        if file.exists():
            shutil.copy(file, copy.path / file.name)
    if run.benchmark.is_dir():
        shutil.copytree(run.benchmark, copy.benchmark)
    changed = config.model_copy(
        update={
            "store": config.store.model_copy(update={"url": None, "reuse": "replay"}),
            "partition": config.partition.model_copy(
                update={"manifest": copy.path / manifest.name}
            ),
            "budget": type(config.budget)(),
        }
    )
    return replace(check(changed, copy), config=changed)
