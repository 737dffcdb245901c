"""What a run of MLflow should hold, as plain values: the projection before it meets a server."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, field
from functools import cached_property

from heldout.splits.errors import HeldoutError
from heldout.splits.hashing import sha256_json, sha256_text
from heldout.splits.visible import visible

CAMPAIGN = "campaign"
"""Key of the parent run; a child's key is its candidate id."""

TAG = "heldout."
"""Prefix of every tag that is ours. Others belong to the reviewer and are never touched."""

RUN_TAG, KEY_TAG = f"{TAG}run_id", f"{TAG}candidate_id"
"""What a run is found by."""

NOTE = "mlflow.note.content"
"""The tag that MLflow shows as description."""

Figures = Iterable[tuple[str, float | None]]
"""Metrics by name, in the order in which they are logged; None stands for none."""


class TrackingFailed(HeldoutError):
    """The tracking store did not take or give something; the run itself is not concerned."""


@dataclass(frozen=True, slots=True)
class MetricPoint:
    """One value of a metric. `step` is budget spent, in calls; the time is the journal's."""

    key: str
    value: float
    time_ms: int
    step: int


@dataclass(frozen=True, slots=True)
class SplitInput:
    """A split as a dataset input: one name a role, its digest, and counts as the profile."""

    name: str
    digest: str
    role: str
    profile: str


@dataclass(frozen=True)
class RunContent:
    """Everything we say of one run. Equal contents have equal `sha256`."""

    key: str
    name: str
    status: str
    start_ms: int
    end_ms: int | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, str] = field(default_factory=dict)
    points: tuple[MetricPoint, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    inputs: tuple[SplitInput, ...] = ()
    note: str = ""

    @cached_property
    def file_hashes(self) -> dict[str, str]:
        """First 16 digits of SHA-256 by artifact path."""
        return {path: sha256_text(text)[:16] for path, text in sorted(self.files.items())}

    @cached_property
    def sha256(self) -> str:
        """Digest of the content, without times of the process that wrote it."""
        said = [self.name, self.status, self.end_ms, dict(self.tags), dict(self.params)]
        points = [[p.key, p.value, p.time_ms, p.step] for p in self.points]
        inputs = [[d.name, d.digest, d.role] for d in self.inputs]
        return sha256_json([*said, points, self.file_hashes, inputs, self.note])


@dataclass(frozen=True)
class PromptContent:
    """An emitted prompt as a registry version. `identity` are the tags it is found again by."""

    name: str
    text: str
    summary: str
    identity: Mapping[str, str]
    tags: Mapping[str, str]
    aliases: tuple[str, ...]


@dataclass
class SyncCounts:
    """What a projection wrote; all zero when everything was there already."""

    runs_created: int = 0
    runs_updated: int = 0
    metrics: int = 0
    artifacts: int = 0
    datasets: int = 0
    prompt_versions: int = 0
    deleted_by_reviewer: int = 0

    @property
    def changes(self) -> int:
        """Everything written."""
        written: int = sum(astuple(self)) - self.deleted_by_reviewer
        return written


def tag_texts(values: Mapping[str, object]) -> dict[str, str]:
    """Tags by name with our prefix; None is left out, a truth is `yes` or `no`."""
    words = {True: "yes", False: "no"}
    return {
        f"{TAG}{name}": words[value] if isinstance(value, bool) else visible(str(value))
        for name, value in values.items()
        if value is not None
    }


def points_at(figures: Figures, time_ms: int, calls: int) -> tuple[MetricPoint, ...]:
    """The figures there are as points at a time (milliseconds) and a budget spent (calls)."""
    return tuple(
        MetricPoint(key, float(value), time_ms, calls)
        for key, value in figures
        if value is not None
    )
