"""A note beside a transcript: what each fact finds in the note, what each statement in the talk.

Everything here is what could be seen; what a judge does see is decided in `working`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from heldout.students.simulated.lexicon import WORDS
from heldout.students.simulated.mentions import Mention
from heldout.students.simulated.reading import (
    NoteReading,
    ReadFact,
    ReadStatement,
    TranscriptReading,
    read_note,
    read_transcript,
)

MEASURED = WORDS.words("measured")
"""Kinds of detail that have to agree exactly: numbers, doses, durations, dates, sides."""


@dataclass(frozen=True, slots=True)
class Sight:
    """One mention of a fact in the note.

    `literal`: in words the speakers used. `reversed`: affirmed where it was denied, or the reverse,
    or with another degree of doubt. `altered`: another number, dose, duration or side.
    `missing`: share of the fact's details that it lacks. `placed`: stands in the fact's section.
    """

    literal: bool
    reversed: bool
    altered: bool
    missing: float
    placed: bool


@dataclass(frozen=True, slots=True)
class Support:
    """What a statement of the note finds in the transcript.

    `alien`: nothing of it was said. `doubtful`: some of it was not. `contrary`: the transcript says
    the opposite, `times` over. `altered`: it gives another number.
    """

    text: str
    alien: bool
    doubtful: bool
    contrary: bool
    times: int
    altered: bool


@dataclass(frozen=True, slots=True)
class FactComparison:
    """Sights by fact, in the order of the transcript's facts, and support by statement."""

    transcript: TranscriptReading
    note: NoteReading
    sights: tuple[tuple[Sight, ...], ...]
    support: tuple[Support, ...]


@lru_cache(maxsize=16384)
def compare(transcript: str, note: str) -> FactComparison:
    """The two texts side by side."""
    said, written = read_transcript(transcript), read_note(note)
    return FactComparison(
        said,
        written,
        tuple(sights_of(fact, written) for fact in said.facts),
        tuple(_support(statement, said) for statement in written.statements),
    )


def sights_of(fact: ReadFact, note: NoteReading) -> tuple[Sight, ...]:
    """Every mention of `fact` in `note`; without headings every place is the right one."""
    return tuple(
        Sight(
            literal=mention.form in fact.forms,
            reversed=is_reversed(fact, mention),
            altered=is_altered(fact, mention),
            missing=missing_share(fact, mention),
            placed=not note.homes or not kinds or fact.home in kinds,
        )
        for mention, kinds in note.mentions.get(fact.key, ())
    )


def is_reversed(fact: ReadFact, mention: Mention) -> bool:
    """True if polarity, effect or certainty of `mention` is none that the fact was stated with."""
    return (
        mention.negated not in fact.denials
        or (mention.effect != 0 and mention.effect not in fact.effects)
        or mention.doubt not in fact.doubts
    )


def is_altered(fact: ReadFact, mention: Mention) -> bool:
    """True if `mention` measures something otherwise than the transcript does."""
    return any(
        kind in MEASURED and kind in fact.details and value not in fact.details[kind]
        for kind, value in mention.details
    )


def missing_share(fact: ReadFact, mention: Mention) -> float:
    """Share of the fact's kinds of detail of which `mention` gives none of the stated values."""
    if not fact.details:
        return 0.0
    lacking = sum(
        1
        for kind, values in fact.details.items()
        if not any((kind, value) in mention.details for value in values)
    )
    return lacking / len(fact.details)


def _support(statement: ReadStatement, said: TranscriptReading) -> Support:
    names = {mention.concept.name for mention in statement.mentions}
    unknown = names - said.concepts
    heard = sum(1 for word in statement.content if word in said.stems)
    if names:
        alien = bool(unknown) and (unknown == names or len(unknown) > len(names) / 2)
    else:
        alien = len(statement.content) > 1 and heard * 3 <= len(statement.content)
    contrary, times, altered = _conflicts(statement, said)
    return Support(
        text=statement.text,
        alien=alien,
        doubtful=alien or bool(unknown),
        contrary=contrary,
        times=times,
        altered=altered,
    )


def _conflicts(statement: ReadStatement, said: TranscriptReading) -> tuple[bool, int, bool]:
    """(contrary to the transcript, how often that says so, gives another number)."""
    times, contrary, altered = 0, False, False
    for mention in statement.mentions:
        for fact in said.by_name.get(mention.concept.name, ()):
            if fact.key != mention.key:
                continue
            if is_reversed(fact, mention):
                contrary, times = True, max(times, fact.mentions)
            altered = altered or is_altered(fact, mention)
    return contrary, times, altered
