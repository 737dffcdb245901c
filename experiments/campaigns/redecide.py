"""`heldout gate`: a finished run decided again under another rule, from its journal alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from heldout.experiments.campaigns.ending import SIMULATED
from heldout.experiments.campaigns.run_directory import existing_run
from heldout.gepa.evaluation import Purpose
from heldout.gepa.gate.decide import GateSettings, decide
from heldout.gepa.gate.rules import RuleName
from heldout.gepa.record.events import EventKind
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.labels import label_of
from heldout.gepa.record.run import Record
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import NoteLabel
from heldout.splits.errors import BadInput

Body = Mapping[str, Any]


def redecide(run_dir: Path, rule: RuleName) -> dict[str, Any]:
    """What `rule` says of a run that looked at held-out; the decision of the run stays.

    Raises BadInput for a run without a held-out comparison.
    """
    run = existing_run(run_dir)
    record = Record.of(read_journal(run.journal) if run.journal.exists() else [])
    gate, settings = record.last(EventKind.GATE), record.last(EventKind.SETTINGS)
    opened = record.last(EventKind.OPENED)
    if gate is None or settings is None or opened is None or gate["heldout"] is None:
        raise BadInput.one(str(run_dir), "has no held-out comparison to decide again")
    decision = decide(
        _side(record, Purpose.CONFIRM, gate["heldout"]["winner"]),
        _side(record, Purpose.BASELINE, gate["heldout"]["baseline"]),
        replace(TypeAdapter(GateSettings).validate_python(settings["gate"]), rule=rule),
        primary=settings["search"]["primary"],
        planned_looks=gate["planned_looks"],
        seed=opened["seed"],
    )
    body, simulated = decision.to_json(), bool(opened["simulated"])
    told = f"{rule} would say: {decision.decision}"
    because = f" ({decision.reason})" if decision.reason else ""
    return {
        **body,
        "emits": False,
        "simulated": simulated,
        "run_decision": {"rule": gate["rule"], "decision": gate["decision"]},
        "sentences": [
            f"{told}{because}; the run decided by {gate['rule']}: {gate['decision']}",
            *body["sentences"],
            "nothing is emitted by deciding again",
            *([SIMULATED] if simulated else []),
        ],
    }


def _side(record: Record, purpose: Purpose, measures: Body) -> Judged:
    """One side's held-out tables at its frozen threshold."""
    labels = heldout_labels(record)
    tables = tuple(ScoreTable.of(labels, body["scores"]) for body in record.heldout(purpose))
    frozen = measures["at_threshold"]
    return Judged(tables, threshold=None if frozen is None else frozen["threshold"])


def heldout_labels(record: Record) -> Sequence[NoteLabel]:
    """Labels of the held-out notes as the partition event has them."""
    partition = record.last(EventKind.PARTITION)
    assert partition is not None  # every run with a gate event has one
    return [
        label_of(id_, body)
        for id_, body in partition["labels"].items()
        if body["split"] == "heldout"
    ]
