"""Writes a synthetic benchmark in the released pair fields, as JSON Lines."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heldout.splits.benchmark import NoteClass
from heldout.splits.errors import BadInput
from heldout.splits.synthetic.generate import VERSION, Draw, Pair, SyntheticDraw

SUFFIXES = (".jsonl", ".jsonl.gz")


def consultations_beside(pairs_path: Path) -> Path:
    """Where the consultations stand by default: `F.consultations.jsonl` beside `F.jsonl`."""
    for suffix in SUFFIXES:
        if pairs_path.name.endswith(suffix):
            stem = pairs_path.name.removesuffix(suffix)
            return pairs_path.with_name(f"{stem}.consultations{suffix}")
    raise BadInput.one(str(pairs_path), f"the name must end in {' or '.join(SUFFIXES)}")


def write_jsonl(
    drawn: SyntheticDraw, pairs_path: Path, consultations_path: Path | None = None
) -> Path:
    """Write pairs and consultations, gzip-compressed where a name ends in `.gz`.

    Returns where the consultations went. The same draw always gives the same bytes. Raises
    BadInput for a name of another form, before anything is written.
    """
    beside = consultations_beside(pairs_path)
    target = beside if consultations_path is None else consultations_path
    consultations_beside(target)
    _write(pairs_path, (_pair(pair, item) for item in drawn.draws for pair in item.pairs))
    _write(target, map(_consultation, drawn.draws))
    return target


def _write(path: Path, records: Iterable[dict[str, Any]]) -> None:
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)
    content = lines.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0) if path.name.endswith(".gz") else content)


def _consultation(item: Draw) -> dict[str, Any]:
    return {
        "consultation_id": item.id,
        "stratum": item.stratum,
        "transcript": item.transcript,
        "note": item.clean,
        "source": {
            "corpus": VERSION,
            "complaint": item.sheet.complaint,
            "narrative": item.sheet.narrative,
        },
    }


def _pair(pair: Pair, item: Draw) -> dict[str, Any]:
    edit, difference = pair.edit, pair.difference
    omission = edit.note_class.is_omission
    sites = [
        {"quote": site.quote, "section": site.section, "strength": site.strength}
        for site in edit.sites
    ]
    return {
        "pair_id": pair.id,
        "stratum": item.stratum,
        "id": item.id.partition("|")[2],
        "type": _TYPES[edit.note_class],
        "class": str(edit.note_class),
        "residual_level": edit.trace and str(edit.trace),
        "severity": str(edit.severity),
        "fact_type": edit.fact_type,
        "fact": edit.description,
        "clean": pair.clean,
        "errored": pair.errored,
        "edit": {
            "start": difference.start,
            "end": difference.end,
            "before": difference.before,
            "after": difference.after,
        },
        "residual": {"n_surviving": len(sites), "sites": sites} if omission else None,
        "key": item.id,
        "eval_set": True,
        "split": "eval",
        "source": VERSION,
        "dataset_version": VERSION,
    }


_TYPES = {
    NoteClass.OMIT_COMPLETE: "omit",
    NoteClass.OMIT_PARTIAL: "omit",
    NoteClass.ADD: "add",
    NoteClass.CHANGE: "change",
}
