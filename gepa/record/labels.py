"""Note labels as the partition event holds them, there and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from heldout.splits.benchmark import NoteClass, NoteLabel, Severity, TraceLevel


def label_body(label: NoteLabel, split: str) -> dict[str, Any]:
    """A label without its id, which is the key it stands under."""
    return {
        "split": split,
        "consultation": label.consultation,
        "stratum": label.stratum,
        "class": label.note_class,
        "twin": label.twin,
        "trace": label.trace,
        "severity": label.severity,
        "source": label.source,
        "pair_id": label.pair_id,
    }


def label_of(id_: str, body: Mapping[str, Any]) -> NoteLabel:
    """The label that `label_body` wrote. Raises KeyError or ValueError for anything else."""
    return NoteLabel(
        id=id_,
        consultation=body["consultation"],
        stratum=body["stratum"],
        note_class=NoteClass(body["class"]),
        twin=body["twin"],
        trace=None if body["trace"] is None else TraceLevel(body["trace"]),
        severity=None if body["severity"] is None else Severity(body["severity"]),
        source=body["source"],
        pair_id=body["pair_id"],
    )
