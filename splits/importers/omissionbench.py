"""OmissionBench: the released layout, which loads as it stands; importing makes two files of it.

The release is a JSON file of pairs with transcripts at `transcripts/<stratum>/<id>.txt` beside it.
The import validates all of it and writes pairs and consultations as JSON Lines, so that a benchmark
can be handed on as two files.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from heldout.splits.benchmark import Benchmark, Consultation, Note
from heldout.splits.errors import BadInput
from heldout.splits.importers.imported import as_jsonl, write_new
from heldout.splits.importers.sifting import alike, pasted
from heldout.splits.loading.benchmark_files import BenchmarkSource, Loaded, open_benchmark
from heldout.splits.synthetic import consultations_beside


def read_omissionbench(path: Path) -> Loaded:
    """The release at `path`: its JSON file, or the folder that holds one. Raises BadInput."""
    return _told_apart(open_benchmark(BenchmarkSource(_pairs_file(path))))


def _told_apart(loaded: Loaded) -> Loaded:
    """`loaded` without pairs whose notes are alike but for marks or pasted twice; each is named."""
    notices, kept = list(loaded.notices), list[Consultation]()
    for consultation in loaded.benchmark:
        clean = {note.id: note.text for note in consultation.clean}
        errored = []
        for note in consultation.errored:
            twin = clean[note.label.twin]
            why = pasted(twin)
            if why is None and alike(twin, note.text):
                why = "its notes are alike but for punctuation"
            if why is None:
                errored.append(note)
            else:
                notices.append(f"{note.label.pair_id} left out: {why}")
        if errored:
            kept.append(replace(consultation, errored=tuple(errored)))
    benchmark = replace(loaded.benchmark, consultations=tuple(kept))
    return replace(loaded, benchmark=benchmark, notices=tuple(notices))


def write_release(benchmark: Benchmark, out: Path) -> Path:
    """Write pairs to `out` (.jsonl or .jsonl.gz) and consultations beside; returns the latter."""
    beside = consultations_beside(out)
    for file in (out, beside):
        if file.exists():
            raise BadInput.one(str(file), "already exists")
    version = benchmark.version
    write_new(out, as_jsonl(_pair(note, c, version) for c in benchmark for note in c.errored))
    consultations = (
        {"consultation_id": c.id, "stratum": c.stratum, "transcript": c.transcript}
        for c in benchmark
    )
    write_new(beside, as_jsonl(consultations))
    return beside


def _pairs_file(path: Path) -> Path:
    if path.is_file():
        return path
    files = [file for file in sorted(path.glob("*.json")) if _holds_pairs(file)]
    if len(files) != 1:
        found = ", ".join(file.name for file in files) or "none"
        raise BadInput.one(str(path), f"must hold one JSON file with pairs; found: {found}")
    return files[0]


def _holds_pairs(file: Path) -> bool:
    """True for a JSON object with a member `pairs`; faults are the loader's to find."""
    try:
        content = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(content, dict) and "pairs" in content


def _pair(note: Note, consultation: Consultation, version: str) -> dict[str, object]:
    label = note.label
    clean = next(twin for twin in consultation.clean if twin.id == label.twin)
    sites = [
        {"quote": site.quote, "section": site.section, "strength": site.strength}
        for site in note.residual
    ]
    pair: dict[str, object] = {
        "pair_id": label.pair_id,
        "stratum": label.stratum,
        "id": consultation.id.partition("|")[2],
        "consultation_id": consultation.id,
        "class": str(label.note_class),
        "severity": label.severity and str(label.severity),
        "clean": clean.text,
        "errored": note.text,
        "fact": note.fact,
        "dataset_version": version,
    }
    if label.note_class.is_omission:
        pair |= {"residual_level": label.trace and str(label.trace), "residual": {"sites": sites}}
    return {**pair, "source": label.source} if label.source else pair
