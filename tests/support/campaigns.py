"""Whole campaigns in a temporary folder, small enough for a test."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.campaigns.running import prepare, resume, start
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.students.models.chat import ChatModel

SMALL: dict[str, Any] = {
    "name": "small",
    "seed": 5,
    "benchmark": {"synthetic": {"consultations": 16}, "clean_means": "verified", "public": True},
    "student": {
        "design": "whole_note",
        "model": "sim/judge",
        "temperature": 0.7,
        "budget": {"max_tokens": 1500},
    },
    "reflector": {"model": "sim/reflector"},
    "seeds": [
        {"name": "plain", "text": "Read the transcript, then the note, and score the note."},
        {
            "name": "values",
            "text": "Compare every dose, number and side in the note with the transcript.",
        },
    ],
    "search": {"iterations": 5, "stall": 100, "merge_from": 3, "merge_probability": 1.0},
    "gate": {"min_effective": 0},  # a handful of consultations decides nothing otherwise
    "tracking": {"enabled": False},
}


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`base` with `changes` put over it, section by section."""
    result = dict(base)
    for key, value in changes.items():
        old = result.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        result[key] = merged(old, value) if both else value
    return result


def write_config(folder: Path, changes: Mapping[str, Any] | None = None) -> Path:
    """A configuration file in `folder`: SMALL with `changes`."""
    path = folder / "campaign.yaml"
    path.write_text(yaml.safe_dump(merged(SMALL, changes or {})), encoding="utf-8")
    return path


def run_small(
    folder: Path,
    changes: Mapping[str, Any] | None = None,
    *,
    settings: tuple[str, ...] = (),
    acknowledge_reuse: bool = False,
    doubles: Mapping[str, ChatModel] | None = None,
    run: str = "run",
) -> SessionResult:
    """Run the small campaign in `folder/run`."""
    checked = prepare(write_config(folder, changes), settings, folder / run)
    options = RunOptions(acknowledge_reuse, quiet=True, doubles=doubles or {})
    return start(checked, folder / run, options)


def resume_small(
    run_dir: Path,
    *,
    settings: tuple[str, ...] = (),
    doubles: Mapping[str, ChatModel] | None = None,
    leave_out: tuple[str, ...] = (),
) -> SessionResult:
    """Continue a run."""
    return resume(run_dir, settings, RunOptions(quiet=True, doubles=doubles or {}), leave_out)


def summary(ended: SessionResult) -> dict[str, Any]:
    """The JSON object of a run, through JSON and back."""
    return json.loads(json.dumps(ended.run.to_json()))
