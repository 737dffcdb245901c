"""`partition.exclude`: consultations of earlier campaigns, which no split may hold."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.text_files import Faults, read_input, text_lines, whole_text


def read_exclusions(paths: Iterable[Path]) -> frozenset[str]:
    """All ids named by `paths`: manifests (every split of them), or lists of ids.

    A list is a JSON list or plain text with one `stratum|id` a line, `#` starting a comment. Ids
    that a benchmark does not have are no fault: earlier campaigns may have used other data.
    Raises BadInput with every fault of every file.
    """
    faults = Faults()
    found: set[str] = set()
    for path in paths:
        found.update(faults.attempt(_ids, path) or ())
    faults.raise_any()
    return frozenset(found)


def _ids(path: Path) -> list[str]:
    file = read_input(path)
    if file.data.lstrip()[:1] in (b"{", b"["):
        return _json_ids(path, whole_text(file))
    faults = Faults()
    ids = []
    for line in text_lines(file, faults):
        name = line.text.partition("#")[0].strip()
        if name and not _is_id(name):
            faults.add(f"{path}:{line.number}", f"{name!r} is not of the form stratum|id")
        elif name:
            ids.append(name)
    faults.raise_any()
    return ids


def _json_ids(path: Path, text: str) -> list[str]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BadInput.one(str(path), f"not JSON: {error}") from None
    if isinstance(value, dict):
        splits = value.get("splits")
        if not isinstance(splits, dict) or not all(isinstance(v, list) for v in splits.values()):
            raise BadInput.one(str(path), "splits: a manifest holds lists of ids under this name")
        value = [name for names in splits.values() for name in names]
    wrong = [name for name in value if not (isinstance(name, str) and _is_id(name))]
    if wrong:
        raise BadInput([Fault(str(path), f"{n!r} is not of the form stratum|id") for n in wrong])
    return list(value)


def _is_id(name: str) -> bool:
    head, bar, tail = name.partition("|")
    return bool(head and bar and tail)
