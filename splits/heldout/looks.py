"""Looks at a held-out set: on record before they happen, counted for everyone, stored for reuse.

A look is one judging of one block for one target on one held-out set, with its settings. Looks
stand in `<manifest stem>.looks.jsonl` beside the manifest, shared by every campaign on it. A look
is two lines: `opened`, on disk before its first call, from which on it counts; and `closed`, with
the scores. Lines are chained by SHA-256 and the chain starts from the manifest's own digest.

The manifest plans K looks. Baseline looks are counted apart. A declared family of targets (the
configs of one command, tested together with Holm's method) takes one of the K for the first look
of each of its targets. Nobody is kept from copying a manifest elsewhere or deleting this file;
the journals of the runs that looked still name their looks.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import ConfigDict, Field, TypeAdapter
from pydantic.dataclasses import dataclass as validated_dataclass

from heldout.splits.hashing import canonical_json, sha256_json

_SHA256 = re.compile(r"[0-9a-f]{64}")
_SLUG = re.compile(r"[A-Za-z0-9_.:|+-]{1,120}")


class LookKind(StrEnum):
    """What a look is for; only `baseline` does not count towards the plan."""

    BASELINE = "baseline"
    WINNER = "winner"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Family:
    """Targets declared together before the first look; `id` names the command that did so."""

    id: str
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LookRequest:
    """A look someone wants.

    `target` comes from `target_id`. `settings` is everything beside block and target that moves a
    score, such as samples, replicates and the seed of the calls: plain values, no text.
    """

    kind: LookKind
    target: str
    block_sha256: str
    settings: Mapping[str, Any]

    def __post_init__(self) -> None:
        for name in ("target", "block_sha256"):
            if not _SHA256.fullmatch(getattr(self, name)):
                raise ValueError(f"{name} must be a lower-case SHA-256")
        canonical_json(self.settings)

    def look_id(self, heldout_sha256: str) -> str:
        """What makes two looks the same; the kind and the run are not part of it."""
        return sha256_json([heldout_sha256, self.target, self.block_sha256, self.settings])


@dataclass(frozen=True, slots=True)
class NoteResult:
    """What one judging of a note came to, without its words.

    `score` None: no score; `outcome` says why, in one word such as `ok` or `truncated`.
    """

    score: float | None
    flag: bool | None = None
    outcome: str = "ok"

    def __post_init__(self) -> None:
        if self.score is not None and not math.isfinite(self.score):
            raise ValueError(f"a score must be a finite number or None, not {self.score}")
        _slug("outcome", self.outcome)


@dataclass(frozen=True, slots=True)
class LookResult:
    """What a look bought: per note id one result a replicate.

    `calls_sha256` is the digest of the calls used; `figures` are summary numbers by name;
    `decision` is the gate's word where it is known. `baseline`: the same of the baseline, judged
    beside the winner. No text has a place here.
    """

    notes: Mapping[str, tuple[NoteResult, ...]]
    calls_sha256: str
    figures: Mapping[str, float | int | None] = field(default_factory=dict)
    decision: str | None = None
    baseline: Mapping[str, tuple[NoteResult, ...]] | None = None

    def __post_init__(self) -> None:
        names = (*self.notes, *self.figures, *(self.baseline or ()))
        for name in (*names, *([self.decision] if self.decision else [])):
            _slug("name", name)
        if not _SHA256.fullmatch(self.calls_sha256):
            raise ValueError("calls_sha256 must be a lower-case SHA-256")

    def to_json(self) -> dict[str, Any]:
        """The members of a `closed` line."""
        return {
            **_columns(self.notes),
            "calls_sha256": self.calls_sha256,
            "figures": dict(self.figures),
            "decision": self.decision,
            **({} if self.baseline is None else {"baseline": _columns(self.baseline)}),
        }


@validated_dataclass(config=ConfigDict(populate_by_name=True), frozen=True, slots=True)
class Look:
    """A look on record, opened by `run`; `result` is None while it is not closed.

    An alias is the member of its line in the looks file. `exploratory`: bought beyond the plan, so
    nothing that rests on it may be emitted.
    """

    id: Annotated[str, Field(alias="look")]
    run: str
    kind: LookKind
    target: str
    block_sha256: Annotated[str, Field(alias="block")]
    settings: Mapping[str, Any]
    family: str | None
    exploratory: Annotated[bool, Field(strict=True)]
    opened_at: Annotated[str, Field(alias="at")]
    result: LookResult | None = None


LOOK = TypeAdapter(Look)
"""Reads the line of an opened look."""


def look_line(look: Look) -> dict[str, Any]:
    """The line of an opened look, without its result."""
    line = LOOK.dump_python(look, mode="json", by_alias=True, exclude={"result"})
    return {"event": "opened", **line}


@dataclass(frozen=True, kw_only=True)
class LookEvent:
    """A look at held-out was bought, or taken from the run that had bought it before."""

    event_kind: ClassVar[str] = "look"

    look: str
    """Digest of held-out set, target, block and settings."""
    kind: LookKind
    heldout: str
    """Digest of the held-out set."""
    target: str
    """Digest of what is judged with: design, frame, model pin, settings."""
    block: str
    """Hash of the block."""
    settings: Mapping[str, Any]
    planned_looks: int
    exploratory: bool
    """True where the look is beyond the plan."""
    bought_by: str | None
    """The run that bought it before; None for this one."""


class LookJournal(Protocol):
    """A run's record of what happened, as far as the vault needs it."""

    def append(self, event: LookEvent, /) -> None:
        """Record one event, on disk when the call returns.

        Raises JournalMismatch when a resumed run computes another event than it recorded before.
        """


@dataclass(frozen=True, slots=True)
class Standing:
    """How the plan stands for one run: `used` of `planned`, `by_others` of them by other runs.

    `others` names those runs; `elsewhere` the runs that looked at some of the same consultations by
    another manifest. `spent` is True when nothing is left for this one.
    """

    planned: int
    used: int
    by_others: int
    others: tuple[str, ...]
    elsewhere: tuple[str, ...] = ()

    @property
    def spent(self) -> bool:
        """True if every planned look was opened by other runs, or a consultation was seen."""
        return self.by_others >= self.planned or bool(self.elsewhere)


def target_id(
    design: str, frame_sha256: str, model_pin: Mapping[str, Any], settings: Mapping[str, Any]
) -> str:
    """The digest of a target: judge design, frame, model pin and the settings of the judge."""
    return sha256_json([design, frame_sha256, model_pin, settings])


def slots(looks: Sequence[Look]) -> int:
    """How many of the planned looks are used up by `looks`.

    The first judging of a baseline uses none. Every other judging of the same block for the same
    target does, whatever its seed: the lowest of several would be chosen.
    """
    counted: dict[str, dict[str, set[str]]] = {}
    first: dict[tuple[str, str], str] = {}
    for look in looks:
        again = first.setdefault((look.target, look.block_sha256), look.id) != look.id
        if look.kind is not LookKind.BASELINE or again:
            key = look.family or f"{look.run}|{look.target}"
            counted.setdefault(key, {}).setdefault(look.target, set()).add(look.id)
    return sum(max(map(len, targets.values())) for targets in counted.values())


def standing(looks: Sequence[Look], planned: int, run: str, family: Family | None) -> Standing:
    """How the plan stands for `run`, whose declared family counts as its own."""
    own_family = None if family is None else family.id
    others = [
        look
        for look in looks
        if look.run != run and (look.family is None or look.family != own_family)
    ]
    names = dict.fromkeys(look.run for look in others if look.kind is not LookKind.BASELINE)
    return Standing(planned, slots(looks), slots(others), tuple(names))


def _columns(notes: Mapping[str, tuple[NoteResult, ...]]) -> dict[str, Any]:
    """Results by note as columns of lists, one entry a replicate."""
    ordered = sorted(notes.items())
    return {
        "scores": {k: [r.score for r in rs] for k, rs in ordered},
        "flags": {k: [r.flag for r in rs] for k, rs in ordered},
        "outcomes": {k: [r.outcome for r in rs] for k, rs in ordered},
    }


def _slug(name: str, value: str) -> None:
    if not _SLUG.fullmatch(value):
        raise ValueError(f"{name} must be one word, not {value[:40]!r}")
