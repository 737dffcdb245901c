"""Score tables from files: what `heldout compare` is given.

Three forms: a JSON object of note key to score, a CSV of note key and score (with or without a
header line), and `FILE.json#NAME` for a candidate of a campaign file in the published layout, its
held-out scores with `FILE.json#NAME@heldout`. null and an empty cell are a note without a score.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.experiments.analysis.note_keys import id_of_key, ids_by_key, labels_of_keys
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import Benchmark, NoteLabel
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.csv_rows import raw_rows
from heldout.splits.loading.text_files import Faults, InputFile, read_input, suggestion, whole_text

HELDOUT_MARK = "@heldout"


@dataclass(frozen=True)
class ScoreFile:
    """Scores as a file states them; `levels` are trace levels of plain omission keys."""

    name: str
    scores: Mapping[str, float | None]
    levels: Mapping[str, str] = field(default_factory=dict)


def read_scores(source: str) -> ScoreFile:
    """The scores that `source` names. Raises BadInput with every fault found."""
    path, _, name = source.partition("#")
    file = read_input(Path(path))
    if name:
        return _published(source, file, name)
    if file.kind == ".csv":
        return ScoreFile(source, _csv_scores(file))
    return ScoreFile(source, _scores(str(file.path), _json_object(file)))


def score_tables(
    candidate: ScoreFile, baseline: ScoreFile, benchmark: Benchmark | None = None
) -> tuple[ScoreTable, ScoreTable]:
    """Both files as tables over the same notes, labels from the benchmark or from the keys.

    Raises BadInput where a key is not known, a twin is missing, or the files are about different
    notes.
    """
    files = (candidate, baseline)
    if benchmark is None:
        _same_keys(candidate.scores, baseline.scores, files)
        levels = {**candidate.levels, **baseline.levels}
        labels = list(labels_of_keys(candidate.name, list(candidate.scores), levels))
        ours, theirs = dict(candidate.scores), dict(baseline.scores)
    else:
        ours, theirs = (_renamed(file, benchmark) for file in files)
        _same_keys(ours, theirs, files)
        labels = _benchmark_labels(candidate.name, ours, benchmark)
    return ScoreTable.of(labels, ours), ScoreTable.of(labels, theirs)


def _published(source: str, file: InputFile, name: str) -> ScoreFile:
    heldout = name.endswith(HELDOUT_MARK)
    wanted = name.removesuffix(HELDOUT_MARK)
    campaign = _json_object(file)
    entries = _entries(source, campaign, heldout=heldout)
    if wanted not in entries:
        part = "held-out scores" if heldout else "candidate"
        known = ", ".join(entries) or "none"
        hint = suggestion(wanted, list(entries))
        raise BadInput.one(source, f"no {part} named {wanted!r}; the file has: {known}{hint}")
    scores = entries[wanted].get("scores")
    if not isinstance(scores, dict):
        raise BadInput.one(source, "scores: an object of note key to score is needed")
    levels = _exceptions(campaign.get("residual_levels"))
    return ScoreFile(source, _scores(source, scores), levels)


def _entries(source: str, campaign: dict[str, Any], *, heldout: bool) -> dict[str, dict[str, Any]]:
    """Entries of the pool, or of the held-out section, by candidate name."""
    pool = campaign.get("pool")
    if not isinstance(pool, list):
        raise BadInput.one(source, "pool: a campaign file holds a list of this name")
    names = {str(p.get("id")): str(p.get("name")) for p in pool if isinstance(p, dict)}
    if not heldout:
        return {str(p.get("name")): p for p in pool if isinstance(p, dict)}
    test = campaign.get("test")
    found = test.items() if isinstance(test, dict) else ()
    return {
        str(entry.get("name", names.get(id_, id_))): entry
        for id_, entry in found
        if isinstance(entry, dict)
    }


def _exceptions(levels: object) -> dict[str, str]:
    """All `exceptions_*` of a file's residual levels, note key to trace level."""
    if not isinstance(levels, dict):
        return {}
    parts = (v for k, v in levels.items() if k.startswith("exceptions") and isinstance(v, dict))
    return {key: level for part in parts for key, level in part.items()}


def _json_object(file: InputFile) -> dict[str, Any]:
    """The file as one JSON object. Raises BadInput for anything else, repeated keys included."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            names = [name for name, _ in pairs]
            repeated = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"{repeated}: stands twice in one object")
        return found

    try:
        value = json.loads(whole_text(file), object_pairs_hook=unique)
    except json.JSONDecodeError as error:
        where = f"{file.path}:{error.lineno}"
        raise BadInput.one(where, f"not JSON: {error.msg} at column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput.one(str(file.path), f"not readable as JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput.one(str(file.path), "an object of note key to score is needed")
    return value


def _scores(where: str, values: Mapping[str, Any]) -> dict[str, float | None]:
    faults = [
        Fault(where, f"{key}: a finite number or null is needed, not {value!r}")
        for key, value in values.items()
        if not _is_score(value)
    ]
    if not values:
        faults.append(Fault(where, "holds no scores"))
    if faults:
        raise BadInput(faults)
    return {key: None if value is None else float(value) for key, value in values.items()}


def _is_score(value: object) -> bool:
    if value is None:
        return True
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _csv_scores(file: InputFile) -> dict[str, float | None]:
    faults, found = Faults(), dict[str, float | None]()
    whole_text(file)  # names every line that is no sound text
    for number, row in enumerate(raw_rows(file.data, ","), start=1):
        where, cells = f"{file.path}:{row.number}", row.cells
        if number == 1 and _is_header(cells):
            continue
        if row.problem or len(cells) != 2:
            given = f"two cells are needed, note key and score, not {len(cells)}"
            faults.add(where, row.problem or given)
            continue
        key, text = cells[0].strip(), cells[1].strip()
        if key in found:
            faults.add(where, f"{key}: stands twice in the file")
        found[key] = None
        if text and (value := _number(text)) is None:
            faults.add(where, f"{key}: a finite number or an empty cell is needed, not {text!r}")
        elif text:
            found[key] = value
    if not found:
        faults.add(str(file.path), "holds no scores")
    faults.raise_any()
    return found


def _is_header(cells: Sequence[str]) -> bool:
    return len(cells) == 2 and "|" not in cells[0] and cells[1].strip().lower() == "score"


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _renamed(file: ScoreFile, benchmark: Benchmark) -> dict[str, float | None]:
    """Scores by note id. Raises BadInput for unknown keys and for two keys of one note."""
    ids, faults, found = ids_by_key(benchmark), Faults(), dict[str, float | None]()
    for key, score in file.scores.items():
        note = id_of_key(key, ids)
        if note is None:
            faults.add(file.name, f"{key}: no such note in the benchmark {benchmark.name}")
        elif note in found:
            faults.add(file.name, f"{key}: names a note that another key names too")
        else:
            found[note] = score
    faults.raise_any()
    return found


def _benchmark_labels(
    where: str, scores: Mapping[str, float | None], benchmark: Benchmark
) -> list[NoteLabel]:
    labels = [n.label for c in benchmark for n in c.notes if n.id in scores]
    faults = [
        Fault(where, f"{label.pair_id or label.id}: its clean twin has no score")
        for label in labels
        if label.twin not in scores
    ]
    if faults:
        raise BadInput(faults)
    return labels


def _same_keys(
    ours: Mapping[str, object], theirs: Mapping[str, object], files: tuple[ScoreFile, ScoreFile]
) -> None:
    faults = []
    for here, there, file in ((ours, theirs, files[0]), (theirs, ours, files[1])):
        extra = [key for key in here if key not in there]
        if extra:
            message = (
                f"{counted(len(extra), 'note')} that the other file lacks, the first is {extra[0]}"
            )
            faults.append(Fault(file.name, message))
    if faults:
        raise BadInput(faults)
