"""The JSON object that stands for a run, computed from its journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.calls_told import calls_of
from heldout.gepa.candidates import Kind, Status
from heldout.gepa.record.events import Event, EventKind
from heldout.gepa.record.run import Record
from heldout.gepa.spending import Spent

Json = dict[str, Any]

SESSION_STARTS = (EventKind.OPENED, EventKind.RESUMED)


def summarise(run_dir: Path, events: Sequence[Event]) -> Json:
    """The object printed by `run`, `status` and `resume` with `--json`."""
    record = Record.of(events)
    opened = record.last(EventKind.OPENED) or {}
    finished = record.last(EventKind.FINISHED)
    gate = record.last(EventKind.GATE)
    emission = record.last(EventKind.EMISSION)
    status, reason = _status(record)
    return {
        "run_id": opened.get("run_id"),
        "name": opened.get("name"),
        "run_dir": str(run_dir.resolve()),
        "simulated": opened.get("simulated"),
        "status": status,
        "finish_reason": finished["finish_reason"] if finished else reason,
        "decision": gate["decision"] if gate else None,
        "reason": gate["reason"] if gate else None,
        "rule": _rule(record),
        "primary": _primary(record),
        "winner": _winner(record),
        "accept": _accept(record),
        "heldout": _heldout(gate),
        "caveats": gate["caveats"] if gate else [],
        "prompt_file": str(run_dir.resolve() / emission["prompt_file"]) if emission else None,
        "candidates": _counts(record),
        "budget": _budget(record),
        "calls": calls_of(record),
        "lineage_sha256": finished["lineage_sha256"] if finished else record.lineage_sha256,
    }


def _status(record: Record) -> tuple[str, str | None]:
    """`finished`, `stopped`, `failed` or `running`, and why it stopped."""
    if record.last(EventKind.FINISHED):
        return "finished", None
    for event in reversed(record.events):
        if event.kind is EventKind.STOPPED:
            failed = event.body["exit_status"] not in (3, 4)
            return "failed" if failed else "stopped", event.body["finish_reason"]
        if event.kind in SESSION_STARTS:
            break
    return "running", None


def _rule(record: Record) -> str | None:
    settings = record.last(EventKind.SETTINGS)
    return settings["gate"]["rule"] if settings else None


def _primary(record: Record) -> str:
    settings = record.last(EventKind.SETTINGS)
    return settings["search"]["primary"] if settings else "paired_omissions"


def _winner(record: Record) -> Json | None:
    winner = record.last(EventKind.WINNER)
    return {k: winner[k] for k in ("id", "kind", "iteration", "sha256")} if winner else None


def _accept(record: Record) -> Json | None:
    winner = record.last(EventKind.WINNER)
    return dict(winner["accept"]) if winner else None


def _heldout(gate: Mapping[str, Any] | None) -> Json | None:
    if gate is None or gate["heldout"] is None:
        return None
    heldout = gate["heldout"]
    return {
        "baseline": heldout["baseline"],
        "winner": heldout["winner"],
        "difference": gate["difference"],
        "looks": heldout["looks"],
    }


def _counts(record: Record) -> Json:
    proposals = [b for b in record.candidates.values() if b["kind"] != Kind.SEED]
    entered = sum(b["status"] == Status.ENTERED for b in proposals)
    return {
        "seeds": len(record.candidates) - len(proposals),
        "proposed": len(proposals),
        "entered": entered,
        "rejected": len(proposals) - entered,
        "merges": sum(b["kind"] == Kind.MERGE for b in proposals),
    }


def _budget(record: Record) -> Json:
    total, later = Spent(), Spent()
    for event in record.events:
        if event.kind in (EventKind.FINISHED, EventKind.ITERATION):
            total, later = Spent(**event.body["spent"]), Spent()
        elif event.kind is EventKind.EVALUATION:
            later = later + Spent(**event.body["spent"])
    spent = (total + later).body()
    return {**spent, "wall_s": round(wall_seconds(record.events), 3)}


def wall_seconds(events: Sequence[Event]) -> float:
    """Seconds a run was being worked on, summed over its sessions; a clock set back counts 0."""
    total, start, last = 0.0, None, None
    for event in events:
        now = datetime.fromisoformat(event.time)
        if event.kind in SESSION_STARTS:
            total += _span(start, last)
            start = now
        last = now
    return total + _span(start, last)


def _span(start: datetime | None, end: datetime | None) -> float:
    return 0.0 if start is None or end is None else max(0.0, (end - start).total_seconds())
