"""Note keys of score files, and the labels behind them.

Published score files name a note by its place: `stratum|consultation|suffix|err` for an errored
note, `stratum|consultation|clean|<hash>` for the clean twin. The suffix says what was done; with a
benchmark at hand keys may also be note ids or pair ids, and labels come from the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heldout.splits.benchmark import Benchmark, NoteClass, NoteLabel, TraceLevel
from heldout.splits.errors import BadInput, Fault

SUFFIXES: dict[str, TraceLevel | NoteClass] = {
    "omit": TraceLevel.COMPLETE,
    "omitc": TraceLevel.COMPLETE,
    "omitpw": TraceLevel.PARTIAL_WEAK,
    "omitps": TraceLevel.PARTIAL_STRONG,
    "omit-complete": TraceLevel.COMPLETE,
    "add": NoteClass.ADD,
    "change": NoteClass.CHANGE,
}
"""Third part of a key. A plain `omit` is complete unless the file lists it as an exception."""


def labels_of_keys(
    where: str, keys: Sequence[str], exceptions: Mapping[str, str] | None = None
) -> tuple[NoteLabel, ...]:
    """Labels read from published note keys, in the order of `keys`.

    `exceptions` is note key to trace level for plain `omit` keys. Raises BadInput with every key
    that cannot be read, and every consultation without exactly one clean note.
    """
    levels = exceptions or {}
    faults: list[Fault] = []
    twins: dict[str, list[str]] = {}
    for key in keys:
        parts = key.split("|")
        if len(parts) < 3 or (parts[2] != "clean" and parts[2] not in SUFFIXES):
            faults.append(Fault(where, f"{_KEY_HELP} (got {key!r})"))
        elif parts[2] == "clean":
            twins.setdefault("|".join(parts[:2]), []).append(key)
    if not faults:
        faults = _twin_faults(where, keys, twins)
    if faults:
        raise BadInput(faults)
    return tuple(_label(key, twins, levels) for key in keys)


_KEY_HELP = (
    "a note key is stratum|consultation|suffix|err or stratum|consultation|clean|hash with suffix "
    f"{', '.join(SUFFIXES)}; other keys need --benchmark"
)


def _twin_faults(where: str, keys: Sequence[str], twins: Mapping[str, list[str]]) -> list[Fault]:
    named = dict.fromkeys("|".join(key.split("|")[:2]) for key in keys)
    faults = []
    for consultation in named:
        found = twins.get(consultation, [])
        if not found:
            faults.append(Fault(where, f"{consultation}: the clean twin has no score"))
        elif len(found) > 1:
            message = f"{consultation}: {len(found)} clean notes; their twins need --benchmark"
            faults.append(Fault(where, message))
    return faults


def _label(key: str, twins: Mapping[str, list[str]], levels: Mapping[str, str]) -> NoteLabel:
    stratum, name, suffix = key.split("|")[:3]
    consultation = f"{stratum}|{name}"
    twin = twins[consultation][0]
    if suffix == "clean":
        return NoteLabel(key, consultation, stratum, NoteClass.CLEAN, twin)
    meaning = SUFFIXES[suffix]
    if isinstance(meaning, NoteClass):
        return NoteLabel(key, consultation, stratum, meaning, twin)
    trace = TraceLevel(levels.get(key, meaning))
    complete = trace is TraceLevel.COMPLETE
    note_class = NoteClass.OMIT_COMPLETE if complete else NoteClass.OMIT_PARTIAL
    return NoteLabel(key, consultation, stratum, note_class, twin, trace)


def ids_by_key(benchmark: Benchmark) -> dict[str, str]:
    """Note id by every key that names the note in `benchmark`.

    Ids themselves; for errored notes the pair id, alone or with `|err`; for the clean note of a
    consultation that has one, `stratum|id|clean`.
    """
    found: dict[str, str] = {}
    for consultation in benchmark:
        for note in consultation.notes:
            found[note.id] = note.id
            if note.label.pair_id is not None:
                found[note.label.pair_id] = found[f"{note.label.pair_id}|err"] = note.id
        if len(consultation.clean) == 1:
            found[f"{consultation.id}|clean"] = consultation.clean[0].id
    return found


def id_of_key(key: str, ids: Mapping[str, str]) -> str | None:
    """The note id that `key` names, None for none; the hash of a clean key is not read."""
    parts = key.split("|")
    clean = "|".join(parts[:3]) if len(parts) == 4 and parts[2] == "clean" else key
    return ids.get(key, ids.get(clean))
