"""Which facts a score file rests on: a file `NAME.facts.json` beside `NAME.json`.

Per-fact judges that were handed different facts differ for that reason alone, so their scores are
never compared. A score file without such a file beside it says nothing of facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from heldout.splits.counted import counted
from heldout.splits.errors import BadInput

SUFFIX = ".facts.json"


def facts_path(scores: Path) -> Path:
    """Where the digests of the score file at `scores` stand."""
    return scores.with_suffix(SUFFIX)


def read_facts(source: str) -> dict[str, str]:
    """Facts digest by consultation of the scores that `source` names, empty where none stand.

    Raises BadInput for a file that cannot be read.
    """
    path = facts_path(Path(source.partition("#")[0]))
    if not path.exists():
        return {}
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput.one(str(path), f"cannot be read: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise BadInput.one(str(path), "must map consultations to digests")
    return found


def refuse_other_facts(
    names: tuple[str, str], first: Mapping[str, str], second: Mapping[str, str]
) -> None:
    """Raise BadInput if two results rest on different facts of a consultation both have."""
    other = sorted(name for name in first.keys() & second.keys() if first[name] != second[name])
    if other:
        raise BadInput.one(
            " and ".join(names),
            f"judged on different facts of {counted(len(other), 'consultation')}, "
            f"{other[0]} the first: "
            "their difference is no difference between judges",
        )
