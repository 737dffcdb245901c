"""A run as pandas tables, for notebooks: candidates, evaluations by note, looks.

pandas is imported when a table is asked for, so that reading a run stays light.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from heldout.gepa.record.events import CandidateEvent, EvaluationEvent
from heldout.gepa.settings import Primary
from heldout.splits.benchmark import NoteLabel
from heldout.splits.heldout.looks import LookEvent

if TYPE_CHECKING:
    import pandas as pd


def candidates_frame(candidates: Iterable[CandidateEvent], primary: Primary) -> pd.DataFrame:
    """A row a candidate, by id, in the order of proposal.

    `reward_gain` is child minus parent on the minibatch; `accept` is the primary figure on accept,
    missing for what did not enter.
    """
    rows = [
        {
            "id": c.id,
            "kind": str(c.kind),
            "name": c.name,
            "parents": ", ".join(c.parents),
            "iteration": c.iteration,
            "status": str(c.status),
            "reason": c.reason,
            "reward_gain": c.minibatch and c.minibatch.child_reward - c.minibatch.parent_reward,
            "accept": c.accept and c.accept.primary(primary),
            "length": c.length,
            "block": c.block,
        }
        for c in candidates
    ]
    names = ("id", "kind", "name", "parents", "iteration", "status", "reason")
    return _frame(rows, (*names, "reward_gain", "accept", "length", "block")).set_index("id")


def evaluations_frame(
    evaluations: Iterable[EvaluationEvent], labels: Mapping[str, NoteLabel]
) -> pd.DataFrame:
    """A row a note of every evaluation: on what occasion it was judged, what it is, its score.

    `flagged` is missing for a design without a rule of its own; `outcome` is `ok`, or why there is
    no score.
    """
    rows = [
        {
            "purpose": str(e.purpose),
            "split": e.split,
            "candidate": e.candidate,
            "iteration": e.iteration,
            "replicate": e.replicate,
            "note": note,
            "consultation": labels[note].consultation,
            "class": str(labels[note].note_class),
            "twin": labels[note].twin,
            "score": score,
            "flagged": None if e.flagged is None else note in e.flagged,
            "outcome": e.violations.get(note, "ok"),
        }
        for e in evaluations
        for note, score in e.scores.items()
    ]
    names = ("purpose", "split", "candidate", "iteration", "replicate", "note", "consultation")
    return _frame(rows, (*names, "class", "twin", "score", "flagged", "outcome"))


def looks_frame(looks: Iterable[LookEvent]) -> pd.DataFrame:
    """A row a look at held-out, baselines included, in order."""
    rows = [
        {
            "look": look.look,
            "kind": str(look.kind),
            "target": look.target,
            "block_sha256": look.block,
            "exploratory": look.exploratory,
            "bought_by": look.bought_by,
        }
        for look in looks
    ]
    return _frame(rows, ("look", "kind", "target", "block_sha256", "exploratory", "bought_by"))


def _frame(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> pd.DataFrame:
    import pandas as pd  # noqa: PLC0415

    return pd.DataFrame(list(rows), columns=list(columns))
