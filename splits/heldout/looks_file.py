"""The looks file: an append-only, hash-chained list of lines, safe for several processes.

A line is canonical JSON with `n` (1, 2, …), `previous` (the hash of the line before; of the first
line the manifest's digest) and `hash` (SHA-256 of the rest of the line). Appending takes a file
lock, reads and checks the whole chain, and is on disk when it returns. A kill may leave a torn
last line: under the lock it is completed if only its line end is missing, else cut off, which is
safe because no call is made before an append has returned.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from heldout.splits.errors import BadInput, JournalBroken, LooksSpent
from heldout.splits.hashing import canonical_json, sha256_json
from heldout.splits.heldout.looks import (
    Family,
    Look,
    LookKind,
    LookRequest,
    LookResult,
    Standing,
    slots,
    standing,
)
from heldout.splits.partition.manifest import Partition, sync_folder

LOCK_SECONDS = 30.0
"""How long an append waits for another process."""


@dataclass(frozen=True, slots=True)
class Buyer:
    """Who looks: the run's id, its declared family, and whether it may exceed the plan."""

    run: str
    family: Family | None = None
    acknowledge_reuse: bool = False


@dataclass(frozen=True, slots=True)
class LooksFile:
    """The looks of one manifest. `genesis` is the manifest's digest, `planned` its K."""

    path: Path
    genesis: str
    heldout_sha256: str
    planned: int

    @classmethod
    def beside(cls, manifest: Path, partition: Partition) -> LooksFile:
        """The looks file that belongs to `manifest`."""
        path = manifest.with_name(f"{manifest.stem}.looks.jsonl")
        heldout = partition.split_sha256["heldout"]
        return cls(path, partition.sha256, heldout, partition.planned_looks)

    def looks(self) -> tuple[Look, ...]:
        """Every look on record, in order of opening. Raises BadInput where the chain breaks."""
        with self._as_bad_input():
            return self._looks(self._intact())

    def verify(self) -> None:
        """Check the chain. Raises JournalBroken with the number of the first bad line."""
        self._looks(self._intact())

    def standing(self, buyer: Buyer) -> Standing:
        """How the plan stands for `buyer`."""
        return standing(self.looks(), self.planned, buyer.run, buyer.family)

    def open(self, request: LookRequest, buyer: Buyer) -> Look:
        """The look `request` asks for, on disk as opened when this returns.

        A look the run has opened before comes back as it stands. One that another run has closed
        comes back with its result, and nothing is written. Anything else is a new look: raises
        LooksSpent beyond the plan unless `buyer.acknowledge_reuse`, which makes it exploratory.
        """
        if buyer.family is not None and request.target not in buyer.family.targets:
            raise ValueError("the target is not among those the family declared")
        look_id = request.look_id(self.heldout_sha256)
        with self._writing() as lines:
            looks = self._looks(lines)
            same = [look for look in looks if look.id == look_id]
            own = [look for look in same if look.run == buyer.run]
            if known := own or [look for look in same if look.result is not None]:
                return known[0]
            exploratory = self._beyond_plan(request, buyer, looks)
            line = {
                "event": "opened",
                "look": look_id,
                "run": buyer.run,
                "kind": str(request.kind),
                "target": request.target,
                "block": request.block_sha256,
                "settings": dict(request.settings),
                "family": None if buyer.family is None else buyer.family.id,
                "targets": [] if buyer.family is None else list(buyer.family.targets),
                "exploratory": exploratory,
            }
            return _opened(self._append(lines, line))

    def close(self, look: Look, result: LookResult) -> Look:
        """Record what `look` bought. Closing it again with the same result changes nothing.

        Raises BadInput if it stands closed with another result, ValueError if it is not open.
        """
        with self._writing() as lines:
            known = [x for x in self._looks(lines) if (x.id, x.run) == (look.id, look.run)]
            if not known:
                raise ValueError(f"look {look.id} was not opened by {look.run}")
            if known[0].result is None:
                line = {"event": "closed", "look": look.id, "run": look.run, **result.to_json()}
                self._append(lines, line)
                return replace(known[0], result=result)
            if known[0].result.to_json() != result.to_json():
                message = f"look {look.id} was closed by this run with another result"
                raise BadInput.one(str(self.path), message)
            return known[0]

    def _beyond_plan(self, request: LookRequest, buyer: Buyer, looks: tuple[Look, ...]) -> bool:
        now = standing(looks, self.planned, buyer.run, buyer.family)
        wanted = _wanted(request, buyer, self.heldout_sha256)
        planned = wanted.kind is LookKind.BASELINE or slots((*looks, wanted)) <= self.planned
        if planned and not now.spent:
            return False
        if buyer.acknowledge_reuse:
            return True
        opened_by = now.others or (buyer.run,)
        raise LooksSpent(str(self.path), opened_by, self.planned)

    def _looks(self, lines: list[dict[str, Any]]) -> tuple[Look, ...]:
        found: dict[tuple[str, str], Look] = {}
        for number, line in enumerate(lines, start=1):
            try:
                self._take(line, found)
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise JournalBroken(str(self.path), number, f"no sound look: {error}") from None
        return tuple(found.values())

    def _take(self, line: dict[str, Any], found: dict[tuple[str, str], Look]) -> None:
        key = (line["look"], line["run"])
        if line["event"] == "opened":
            look = _opened(line)
            request = LookRequest(look.kind, look.target, look.block_sha256, look.settings)
            if request.look_id(self.heldout_sha256) != look.id:
                raise ValueError("its id does not fit its content and this held-out set")
            if key in found:
                raise ValueError("opened twice by one run")
            found[key] = look
        elif line["event"] == "closed":
            if key not in found or found[key].result is not None:
                raise ValueError("closed, but not open")
            found[key] = replace(found[key], result=LookResult.from_json(line))
        else:
            raise ValueError(f"unknown event {line['event']!r}")

    def _intact(self) -> list[dict[str, Any]]:
        return self._chain(self._read())[0]

    def _read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except FileNotFoundError:
            return b""

    def _chain(self, data: bytes) -> tuple[list[dict[str, Any]], bytes]:
        """The checked lines, and the torn rest after the last line end."""
        *whole, rest = data.split(b"\n")
        lines: list[dict[str, Any]] = []
        for number, raw in enumerate(whole, start=1):
            lines.append(self._line(raw, number, lines))
        try:
            lines.append(self._line(rest, len(lines) + 1, lines))
        except JournalBroken:
            return lines, rest
        return lines, b""

    def _line(self, raw: bytes, number: int, before: list[dict[str, Any]]) -> dict[str, Any]:
        try:
            line = json.loads(raw)
            stated = line.pop("hash")
            actual = sha256_json(line)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise JournalBroken(str(self.path), number, f"not a line of JSON: {error}") from None
        if stated != actual:
            raise JournalBroken(str(self.path), number, "its hash does not fit its content")
        previous = before[-1]["hash"] if before else self.genesis
        if (line.get("n"), line.get("previous")) != (number, previous):
            detail = "does not follow from " + ("the line before" if before else "this manifest")
            raise JournalBroken(str(self.path), number, detail)
        return {**line, "hash": stated}

    @contextmanager
    def _writing(self) -> Iterator[list[dict[str, Any]]]:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS), self._as_bad_input():
                data = self._read()
                lines, torn = self._chain(data)
                self._mend(data, torn)
                yield lines
        except Timeout:
            message = f"locked by another process for {LOCK_SECONDS:g} s"
            raise BadInput.one(str(self.path), message) from None
        except OSError as error:
            raise BadInput.one(str(self.path), f"cannot be written: {error.strerror}") from error

    def _mend(self, data: bytes, torn: bytes) -> None:
        if not data or data.endswith(b"\n"):
            return
        with self.path.open("r+b") as stream:
            if torn:
                stream.truncate(len(data) - len(torn))
            else:
                stream.seek(0, os.SEEK_END)
                stream.write(b"\n")
            stream.flush()
            os.fsync(stream.fileno())

    def _append(self, lines: list[dict[str, Any]], content: Mapping[str, Any]) -> dict[str, Any]:
        line = {
            "n": len(lines) + 1,
            "previous": lines[-1]["hash"] if lines else self.genesis,
            "at": datetime.now(UTC).isoformat(timespec="seconds"),
            **content,
        }
        line["hash"] = sha256_json(line)
        created = not self.path.exists()
        with self.path.open("ab") as stream:
            stream.write(canonical_json(line).encode() + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
        if created:
            sync_folder(self.path.parent)
        return line

    @contextmanager
    def _as_bad_input(self) -> Iterator[None]:
        try:
            yield
        except JournalBroken as error:
            message = f"{error.detail}; the looks on record cannot be trusted"
            raise BadInput.one(f"{error.path}:{error.line}", message) from error


def _opened(line: Mapping[str, Any]) -> Look:
    return Look(
        id=line["look"],
        run=line["run"],
        kind=LookKind(line["kind"]),
        target=line["target"],
        block_sha256=line["block"],
        settings=line["settings"],
        family=line["family"],
        exploratory=line["exploratory"],
        opened_at=line["at"],
    )


def _wanted(request: LookRequest, buyer: Buyer, heldout_sha256: str) -> Look:
    return Look(
        id=request.look_id(heldout_sha256),
        run=buyer.run,
        kind=request.kind,
        target=request.target,
        block_sha256=request.block_sha256,
        settings=request.settings,
        family=None if buyer.family is None else buyer.family.id,
        exploratory=False,
        opened_at="",
    )
