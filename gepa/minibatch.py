"""Minibatches: drawn consultation first, so that every errored note comes with its clean twin.

A pool of notes is mostly errored ones; a draw of rows would hold errored notes without anything to
compare them with. As in the study: four consultations, up to three of them with partial omissions;
of each the clean twin and two errored notes, a partial omission first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from heldout.splits.benchmark import Consultation, Note, NoteClass
from heldout.splits.randomness import Part, shuffled


class Minibatch(Protocol):
    """Draws the reflect notes that a parent and its child are compared on."""

    @property
    def largest(self) -> int:
        """The largest number of notes one draw can hold."""

    def draw(self, reflect: Sequence[Consultation], *path: Part) -> list[Note]:
        """Notes of `reflect`, each errored note with its clean twin; a pure function of `path`.

        `path` names the draw: campaign seed, purpose, iteration.
        """


@dataclass(frozen=True, slots=True)
class ConsultationFirst:
    """Draws `consultations` of reflect, at most `partial_consultations` of them chosen
    for partial omissions, and of each `errored` errored notes with their clean twins.

    All three are 1 or more; a pool with fewer gives what it has.
    """

    consultations: int = 4
    errored: int = 2
    partial_consultations: int = 3

    @property
    def largest(self) -> int:
        """The largest number of notes one draw can hold."""
        return self.consultations * 2 * self.errored

    def draw(self, reflect: Sequence[Consultation], *path: Part) -> list[Note]:
        """The notes of one minibatch: per consultation clean twins first, then errored notes."""
        notes: list[Note] = []
        for consultation in self._consultations(reflect, *path):
            chosen = self._errored(consultation, *path)
            twins = {note.label.twin for note in chosen}
            notes += [note for note in consultation.clean if note.id in twins]
            notes += chosen
        return notes

    def _consultations(self, reflect: Sequence[Consultation], *path: Part) -> list[Consultation]:
        usable = {c.id: c for c in reflect if c.errored}
        order = shuffled(sorted(usable), *path, "consultations")
        partial = [id_ for id_ in order if usable[id_].has_partial_omissions]
        chosen = partial[: min(self.partial_consultations, self.consultations)]
        chosen += [id_ for id_ in order if id_ not in chosen][: self.consultations - len(chosen)]
        return [usable[id_] for id_ in chosen]

    def _errored(self, consultation: Consultation, *path: Part) -> list[Note]:
        by_id = {note.id: note for note in consultation.errored}
        order = shuffled(sorted(by_id), *path, consultation.id)
        partial = [i for i in order if by_id[i].label.note_class is NoteClass.OMIT_PARTIAL]
        chosen = partial[:1] + [i for i in order if i not in partial[:1]]
        return [by_id[id_] for id_ in chosen[: self.errored]]
