"""Malformed tables in number: a fault that names the file, or rows with their own text only."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tests.support.malformed_tables import examine, made_table

EACH = 30
"""Tables of one job."""


def malformed(folder: Path, number: int) -> dict[str, Any]:
    """What reading `EACH` tables came to; `wrong` names every claim that did not hold."""
    seen = [examine(made_table(number * EACH + k), folder) for k in range(EACH)]
    return {
        "tables": len(seen),
        "refused": sum(one.refused for one in seen),
        "kinds": dict(Counter(one.kind for one in seen)),
        "wrong": [f"{one.kind}: {wrong}" for one in seen for wrong in one.wrong],
    }
