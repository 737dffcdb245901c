"""Cards of prompt files: which keys one must have, read with every fault at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.yaml_file import read_yaml

Check = type | tuple[type, ...]

NEEDED: Mapping[tuple[str, ...], Check] = {
    ("campaign",): str,
    ("candidate",): str,
    ("design",): str,
    ("block_sha256",): str,
    ("frame_sha256",): str,
    ("prompt_sha256",): str,
    ("models", "student", "id"): str,
    ("models", "student", "temperature"): (int, float),
    ("student_budget", "max_tokens"): int,
    ("student_budget", "reasoning_effort"): (str, type(None)),
    ("threshold", "value"): (int, float, type(None)),
    ("gate", "decision"): (str, type(None)),
}
"""What a card must hold for its prompt to be used, and of which type."""


def read_card(path: Path) -> dict[str, Any]:
    """The card at `path`. Raises BadInput with everything that is missing or of another type."""
    if not path.is_file():
        raise BadInput.one(str(path), "no such card: a prompt is only used with its card beside it")
    card = read_yaml(path).tree
    if faults := list(_faults(card, str(path))):
        raise BadInput(faults)
    return card


def _faults(card: Mapping[str, Any], where: str) -> Iterator[Fault]:
    for keys, kind in NEEDED.items():
        value: Any = card
        for key in keys:
            value = value.get(key, _Absent) if isinstance(value, Mapping) else _Absent
        if value is _Absent or isinstance(value, bool) or not isinstance(value, kind):
            yield Fault(where, f"{'.'.join(keys)}: is missing or of another type")


class _Absent:
    """Stands for a key that is not there."""
