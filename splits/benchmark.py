"""The data a campaign runs on: consultations, clean twins and errored notes.

A consultation is the group that shares structure: one transcript, its clean notes and their
errored notes, each errored note exactly one edit away from its own clean twin. Other domains map
their group on it (a source article and its summaries). Ids are content hashes, except that a
consultation keeps its name, `stratum|id`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from heldout.splits.hashing import content_id, sha256_json


class NoteClass(StrEnum):
    """What was done to a note."""

    CLEAN = "clean"
    OMIT_COMPLETE = "omit-complete"
    OMIT_PARTIAL = "omit-partial"
    ADD = "add"
    CHANGE = "change"

    @property
    def is_omission(self) -> bool:
        """True where a fact was removed."""
        return self in (NoteClass.OMIT_COMPLETE, NoteClass.OMIT_PARTIAL)

    @property
    def is_commission(self) -> bool:
        """True where a fact was added or altered."""
        return self in (NoteClass.ADD, NoteClass.CHANGE)


class TraceLevel(StrEnum):
    """What survives of a removed fact: nothing, a fragment, a restatement elsewhere."""

    COMPLETE = "complete"
    PARTIAL_WEAK = "partial-weak"
    PARTIAL_STRONG = "partial-strong"


class Severity(StrEnum):
    """How much the edited fact matters for care."""

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    PERIPHERAL = "peripheral"


class CleanMeans(StrEnum):
    """What a benchmark promises of its clean notes; figures on them are worded accordingly."""

    VERIFIED = "verified"
    UNEDITED = "unedited"


@dataclass(frozen=True, slots=True)
class Site:
    """A surviving mention of a removed fact: the note's own words, section, strong or weak."""

    quote: str
    section: str
    strength: str


@dataclass(frozen=True, slots=True)
class NoteLabel:
    """Everything statistics need to know of a note; it holds no clinical text.

    `twin` is the id of the clean twin (its own id for a clean note); `trace` is None unless the
    note is an omission, `severity` None for clean notes; `source` says how the pair was made.
    """

    id: str
    consultation: str
    stratum: str
    note_class: NoteClass
    twin: str
    trace: TraceLevel | None = None
    severity: Severity | None = None
    source: str = ""
    pair_id: str | None = None

    @property
    def is_clean(self) -> bool:
        """True for an unedited note."""
        return self.note_class is NoteClass.CLEAN


@dataclass(frozen=True, slots=True)
class Note:
    """One note to judge, with the transcript it is judged against.

    `siblings` holds the text of every note of the consultation (the transcript-only stages check
    that none leaked into their prompts). `fact` is what was removed, added or altered; gold data
    that no judge is shown, and the reflector only for notes of reflect.
    """

    label: NoteLabel
    text: str
    transcript: str
    fact: str | None = None
    residual: tuple[Site, ...] = ()
    siblings: tuple[str, ...] = field(default=(), repr=False)

    @property
    def id(self) -> str:
        """Content id, see `note_id`."""
        return self.label.id

    @property
    def consultation(self) -> str:
        """Name of the consultation, `stratum|id`."""
        return self.label.consultation


@dataclass(frozen=True)
class Consultation:
    """The group: a transcript with its clean notes and their errored notes."""

    id: str
    stratum: str
    transcript: str
    clean: tuple[Note, ...]
    errored: tuple[Note, ...]

    @property
    def notes(self) -> tuple[Note, ...]:
        """Clean notes first, then the errored ones."""
        return self.clean + self.errored

    @cached_property
    def has_partial_omissions(self) -> bool:
        """True if a removed fact survives in part in one of the errored notes."""
        return any(note.label.note_class is NoteClass.OMIT_PARTIAL for note in self.errored)

    @cached_property
    def digest(self) -> str:
        """SHA-256 over everything a judge or a statistic can read of this consultation."""
        return sha256_json(
            [
                self.id,
                self.transcript,
                [
                    [n.text, n.label.note_class, n.label.trace, n.label.severity, n.label.twin]
                    for n in self.notes
                ],
            ]
        )


@dataclass(frozen=True)
class Benchmark:
    """All consultations of one data set, in order of id.

    `public` says that texts may leave the run directory (tracking); `has_transcripts` is False
    where a placeholder stands in the transcript slot.
    """

    name: str
    version: str
    consultations: tuple[Consultation, ...]
    clean_means: CleanMeans = CleanMeans.UNEDITED
    public: bool = False
    has_transcripts: bool = True

    def __iter__(self) -> Iterator[Consultation]:
        return iter(self.consultations)

    @cached_property
    def by_id(self) -> dict[str, Consultation]:
        """Consultations by name."""
        return {consultation.id: consultation for consultation in self.consultations}

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the digests of all consultations."""
        return sha256_json([self.version, [c.digest for c in self.consultations]])


def note_id(consultation: str, text: str, note_class: NoteClass, twin_text: str) -> str:
    """Content id of a note: consultation, text, class and the text of its clean twin.

    The class and the twin are part of it because the same words may stand as an errored note of
    one twin and, in another data set, as the clean note of another.
    """
    return content_id("note", consultation, text, note_class, twin_text)
