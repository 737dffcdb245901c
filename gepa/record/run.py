"""The record of a run, computed from its journal: what every projection starts from.

Reports, tracking, `status` and the lineage hash read a run through this module and never keep
state of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from heldout.gepa.evaluation import Purpose
from heldout.gepa.record.events import Event, EventKind
from heldout.splits.hashing import sha256_json

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """Events of a run, oldest first."""

    events: tuple[Event, ...]

    @classmethod
    def of(cls, events: Iterable[Event]) -> Record:
        """The record of `events`."""
        return cls(tuple(events))

    def bodies(self, kind: EventKind) -> list[Body]:
        """Bodies of all events of one kind, oldest first."""
        return [event.body for event in self.events if event.kind == kind]

    def last(self, kind: EventKind) -> Body | None:
        """Body of the newest event of one kind, or None."""
        return next((e.body for e in reversed(self.events) if e.kind == kind), None)

    @cached_property
    def candidates(self) -> dict[str, Body]:
        """Candidate bodies by id, in commit order."""
        return {body["id"]: body for body in self.bodies(EventKind.CANDIDATE)}

    @cached_property
    def accept_scores(self) -> dict[str, Mapping[str, float | None]]:
        """Scores on accept by candidate id, for the candidates that entered."""
        scored = {
            body["candidate"]: body["scores"]
            for body in self.bodies(EventKind.EVALUATION)
            if body["purpose"] in (Purpose.SEED, Purpose.ACCEPT)
        }
        return {id_: scored[id_] for id_ in self.candidates if id_ in scored}

    def heldout(self, purpose: Purpose) -> list[Body]:
        """Held-out evaluations of the baseline or of the winner, one a replicate."""
        return [
            body
            for body in self.bodies(EventKind.EVALUATION)
            if body["purpose"] == purpose and body["split"] == "heldout"
        ]

    @property
    def decision(self) -> str | None:
        """`emitted`, `refused`, `not_confirmed`, or None while there is none."""
        gate = self.last(EventKind.GATE)
        return None if gate is None else gate["decision"]

    @property
    def lineage_sha256(self) -> str:
        """Hash of ids, texts, parents, statuses, scores (9 decimals) and the decision.

        Times, costs, intervals and whatever happened to the process are not part of it: two runs
        with equal lineage found the same things.
        """
        candidates = [
            [
                body["id"],
                body["kind"],
                body["sha256"],
                body["parents"],
                body["iteration"],
                body["status"],
                body["reason"],
                body["minibatch"],
                self.accept_scores.get(id_),
            ]
            for id_, body in self.candidates.items()
        ]
        heldout = [
            [body["scores"] for body in self.heldout(purpose)]
            for purpose in (Purpose.BASELINE, Purpose.CONFIRM)
        ]
        return sha256_json([candidates, heldout, self.decision])
