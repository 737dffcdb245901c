"""The frozen partition: which consultation is in which split, and what all of them were.

The manifest is JSON and holds ids, digests and plain numbers, never a text. Its last member is the
SHA-256 of all others, so an edit shows; the looks file beside it starts its hash chain from that
digest.

Manifests of format 1 also hold salted hashes of the word runs of held-out. They are kept as they
stand, for the digest; what the guard needs of held-out is read from the data where it is asked.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from heldout.splits.chain import sync_folder
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_json
from heldout.splits.loading.text_files import Faults, read_input, whole_text
from heldout.splits.randomness import bits

FORMAT = 2
"""Version of the manifest's layout."""

SPLITS = ("reflect", "accept", "heldout")
"""The three splits, in the order in which consultations are handed out."""


@dataclass(frozen=True)
class Shares:
    """Sizes of the splits as shares of the consultations; positive, their sum 1.

    The default is the study's: 45, 20 and 47 of 112 consultations.
    """

    reflect: float = 0.40
    accept: float = 0.18
    heldout: float = 0.42

    def __post_init__(self) -> None:
        faults = Faults()
        for name in SPLITS:
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
                faults.add(f"partition.shares.{name}", f"{share!r} does not lie between 0 and 1")
        total = 0.0 if faults.found else self.reflect + self.accept + self.heldout
        if not faults.found and abs(total - 1) > 1e-6:
            faults.add("partition.shares", f"reflect + accept + heldout is {total:g}, not 1")
        faults.raise_any()


@dataclass(frozen=True)
class Partition:
    """A drawn partition, ready to be frozen, or as read from its manifest.

    `splits` holds the ids of each split in order; `consultations` the digest of each; `files`
    SHA-256 by file name; `excluded` why a consultation of the benchmark is in no split;
    `planned_looks` is K. `warnings` is for people. `recorded` is the digest the manifest states;
    `heldout_runs` are the hashes in a manifest of format 1, None in later ones.
    """

    benchmark: str
    version: str
    benchmark_sha256: str
    seed: int
    shares: Shares
    planned_looks: int
    splits: Mapping[str, tuple[str, ...]]
    consultations: Mapping[str, str]
    files: Mapping[str, str]
    excluded: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    heldout_runs: Mapping[str, Any] | None = field(default=None, repr=False)
    recorded: str | None = field(default=None, compare=False)

    @property
    def reflect(self) -> tuple[str, ...]:
        """Ids of the consultations the reflector learns from."""
        return self.splits["reflect"]

    @property
    def accept(self) -> tuple[str, ...]:
        """Ids of the consultations candidates are ranked on."""
        return self.splits["accept"]

    @property
    def heldout(self) -> tuple[str, ...]:
        """Ids of the consultations only the vault opens."""
        return self.splits["heldout"]

    @cached_property
    def split_sha256(self) -> dict[str, str]:
        """Digest of each split: its ids with the digests of its consultations."""
        return {
            name: sha256_json([[i, self.consultations.get(i)] for i in self.splits[name]])
            for name in SPLITS
        }

    @property
    def heldout_sha256(self) -> str:
        """Digest of held-out alone: what looks are bought for."""
        return self.split_sha256["heldout"]

    @property
    def salt(self) -> str:
        """What the digest of an overlap on record is keyed with: no two partitions share it."""
        return f"{bits(self.seed, 'partition', 'salt', self.benchmark_sha256, width=128):032x}"

    @cached_property
    def sha256(self) -> str:
        """Digest of the whole manifest, as computed from its content."""
        return sha256_json(self._content())

    def to_json(self) -> dict[str, Any]:
        """The manifest as it is written."""
        return {**self._content(), "sha256": self.sha256}

    def _content(self) -> dict[str, Any]:
        old = self.heldout_runs
        return {
            "format": FORMAT if old is None else 1,
            "benchmark": {
                "name": self.benchmark,
                "version": self.version,
                "sha256": self.benchmark_sha256,
                "files": dict(self.files),
            },
            "seed": self.seed,
            "shares": {name: getattr(self.shares, name) for name in SPLITS},
            "planned_looks": self.planned_looks,
            "splits": {name: list(self.splits[name]) for name in SPLITS},
            "split_sha256": self.split_sha256,
            "consultation_sha256": dict(self.consultations),
            "excluded": dict(self.excluded),
            "warnings": list(self.warnings),
            **({} if old is None else {"heldout_runs": dict(old)}),
        }


def freeze(partition: Partition, path: Path) -> None:
    """Write the manifest, whole or not at all; an existing file is never replaced.

    Raises BadInput where the file exists or cannot be written.
    """
    text = json.dumps(partition.to_json(), indent=1, ensure_ascii=False) + "\n"
    if path.exists():
        message = "exists already, and a frozen partition is never replaced: name another file"
        raise BadInput.one(str(path), message)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_new(path, text)
    except OSError as error:
        raise BadInput.one(str(path), f"cannot be written: {error.strerror}") from error


def _write_new(path: Path, text: str) -> None:
    name = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    try:
        with name.open("x", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        # A link, unlike a rename, fails where another process has taken the name meanwhile.
        os.link(name, path)
    finally:
        name.unlink(missing_ok=True)
    sync_folder(path.parent)


def read_manifest(path: Path) -> Partition:
    """The partition in the manifest at `path`, not yet verified against any data.

    Raises BadInput where the file is no manifest; `heldout.splits.partition.draw.verify` is next.
    """
    text = whole_text(read_input(path))
    try:
        written = _Manifest.model_validate_json(text)
    except ValidationError as error:
        raise BadInput([_fault(path, detail) for detail in error.errors()]) from None
    return written.partition()


Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
Hashes = Annotated[str, Field(pattern="^[A-Za-z0-9+/]*={0,2}$")]


class _Written(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class _Benchmark(_Written):
    name: str
    version: str
    sha256: Sha256
    files: dict[str, Sha256]


class _Splits(_Written):
    reflect: tuple[str, ...]
    accept: tuple[str, ...]
    heldout: tuple[str, ...]


class _Runs(_Written):
    words: Literal[8]
    salt: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    guarded: Hashes
    exempt: Hashes


class _Manifest(_Written):
    format: Literal[1, 2]
    benchmark: _Benchmark
    seed: int
    shares: dict[str, float]
    planned_looks: Annotated[int, Field(ge=1)]
    splits: _Splits
    split_sha256: dict[str, Sha256]
    consultation_sha256: dict[str, Sha256]
    excluded: dict[str, str]
    warnings: tuple[str, ...]
    heldout_runs: _Runs | None = None
    sha256: Sha256

    def partition(self) -> Partition:
        return Partition(
            benchmark=self.benchmark.name,
            version=self.benchmark.version,
            benchmark_sha256=self.benchmark.sha256,
            seed=self.seed,
            shares=Shares(**{name: self.shares.get(name, 0.0) for name in SPLITS}),
            planned_looks=self.planned_looks,
            splits={name: getattr(self.splits, name) for name in SPLITS},
            consultations=self.consultation_sha256,
            files=self.benchmark.files,
            excluded=self.excluded,
            warnings=self.warnings,
            heldout_runs=None if self.heldout_runs is None else self.heldout_runs.model_dump(),
            recorded=self.sha256,
        )


def _fault(path: Path, detail: ErrorDetails) -> Fault:
    field = ".".join(map(str, detail["loc"]))
    return Fault(str(path), f"{field}: {detail['msg']}" if field else detail["msg"])
