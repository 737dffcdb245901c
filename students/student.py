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
    """How one judging ended.

    Infrastructure failures are not here: they raise, are never scored and never stored.
    """

    OK = "ok"
    CONTRACT_VIOLATION = "contract_violation"
    REFUSED = "refused"
    TRUNCATED = "truncated"


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
    """What a student says of one note.

    `score`: higher is better, in the design's own range; None unless `outcome` is `ok`.
    `flag`: the design's own rule, None where it has none. `verdicts`: fact id to verdict for
    per-fact designs. `calls`: keys of the stored calls it was computed from. `facts_digest`:
    hash of the per-consultation stages it used; figures with different digests are never compared.
    `findings`: what it names as missing. `figures`: other numbers of the design, by name.
    `frame_sha256`: hash of the frame that held the block.
    """

    score: float | None
    outcome: Outcome
    calls: tuple[str, ...]
    assessment: str = ""
    flag: bool | None = None
    verdicts: Mapping[str, str] | None = None
    facts: Mapping[str, str] | None = None
    facts_digest: str | None = None
    findings: tuple[ReportedGap, ...] = ()
    figures: Mapping[str, float] | None = None
    frame_sha256: str = ""


class Student(Protocol):
    """A judge whose instruction block can be exchanged."""

    @property
    def design(self) -> str:
        """Name of the design, as in `student.design`."""

    @property
    def frame(self) -> Frame:
        """The frame that holds the evolving block."""

    @property
    def score_range(self) -> tuple[float, float]:
        """Lowest and highest score the contract allows."""

    @property
    def calls_per_judgement(self) -> int:
        """The largest number of calls one judging can make, retries and shared stages included."""

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note` under `block`; `sample` counts independent repetitions from 0.

        Raises InfrastructureFailure, Stopped or CircuitOpen; never returns a made-up score.
        """
