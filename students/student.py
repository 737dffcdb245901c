"""The student protocol: a judge under optimisation, and what one judging yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from heldout.splits.benchmark import Note
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget


class Outcome(StrEnum):
    """How one judging ended: answered, unreadable after its one retry, refused, or cut at the cap.

    Infrastructure failures raise, are never scored and never stored; `unanswered` stands where one
    item is set aside because of them while the rest goes on. No student gives it.
    """

    OK = "ok"
    CONTRACT_VIOLATION = "contract_violation"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class ReportedGap:
    """Something a judge names as missing from a note, with what it says of its weight.

    `severity` is empty where the judge does not grade; `evidence` are words of the transcript.
    """

    text: str
    severity: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a student says of one note; the same calls always give the same judgement."""

    score: float | None
    """Higher is better, within `Student.score_range`; None unless `outcome` is `ok`."""
    outcome: Outcome
    calls: tuple[str, ...]
    """Keys of the stored calls it was computed from; empty for a student that asks no model."""
    assessment: str = ""
    """The judge's own words, which the reflector reads."""
    flag: bool | None = None
    """True: called faulty by the design's own rule; None where it has none, or no score."""
    verdicts: Mapping[str, str] | None = None
    """Fact id to verdict, for designs that check facts."""
    facts: Mapping[str, str] | None = None
    """Fact id to the fact's text."""
    facts_digest: str | None = None
    """SHA-256 of what was made once a consultation; other digests are never compared with it."""
    findings: tuple[ReportedGap, ...] = ()
    """What it names as missing from the note."""
    figures: Mapping[str, float] | None = None
    """Other numbers of the design, by name."""
    frame_sha256: str = ""
    """SHA-256 of the frame that held the block."""


def unanswered(frame: Frame) -> Judgement:
    """What stands for a note that was set aside: no score, no call."""
    return Judgement(None, Outcome.UNANSWERED, (), frame_sha256=frame.sha256)


class Student(Protocol):
    """A judge whose instruction block can be exchanged; frozen, and built once with a caller.

    Heldout builds it from a `DesignContext`, which holds the pinned models, the caller and the run
    seed. `heldout.testing` checks that an own one keeps what is said here.
    """

    @property
    def design(self) -> str:
        """Name of the design, as in `student.design`."""

    @property
    def frame(self) -> Frame:
        """The frame that holds the evolving block, in a slot `{{block}}`; empty text: no model."""

    @property
    def score_range(self) -> tuple[float, float]:
        """Lowest and highest score it can give, (low, high) with low < high, in its own unit."""

    @property
    def calls_per_judgement(self) -> int:
        """The largest number of calls one judging can make (>= 0), retries and shared stages too.

        Caps and the estimate before a run rest on it.
        """

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note` (its text, its transcript, never its label) under the instructions `block`.

        `budget` bounds the calls about the note: tokens of a reply, effort. `sample` counts
        independent repetitions from 0; equal arguments ask equal calls, so they are bought once.
        Several notes are judged at the same time. A reply that cannot be used after one retry is
        an outcome with score None, never a made-up score. Raises what the caller raises:
        InfrastructureFailure, CircuitOpen, CallRefused, CallMissing or a `Stopped`.
        """
