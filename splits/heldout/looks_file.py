"""The looks file: an append-only, hash-chained list of lines, safe for several processes.

A line is canonical JSON with `n` (1, 2, …), `previous` (the hash of the line before; of the first
line the manifest's digest) and `hash` (SHA-256 of the rest of the line). Appending takes a file
lock, reads and checks the whole chain, and is on disk when it returns. A kill may leave a torn
last line: under the lock it is completed if only its line end is missing, else cut off, which is
safe because no call is made before an append has returned.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from heldout.splits.chain import UNREADABLE, ChainedLine, ChainFile, LineChanged
from heldout.splits.errors import BadInput, JournalBroken, LooksSpent
from heldout.splits.hashing import canonical_json, sha256_json
from heldout.splits.heldout.looks import (
    Family,
    Look,
    LookKind,
    LookRequest,
    LookResult,
    NoteResult,
    Standing,
    slots,
    standing,
)
from heldout.splits.partition.manifest import Partition

_Json = dict[str, Any]
_LOOK = TypeAdapter(Look)

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
        heldout = partition.heldout_sha256
        return cls(path, partition.sha256, heldout, partition.planned_looks)

    def looks(self) -> tuple[Look, ...]:
        """Every look on record, in order of opening. Raises BadInput where the chain breaks."""
        with self._as_bad_input():
            return self.verify()

    def verify(self) -> tuple[Look, ...]:
        """The looks. Raises JournalBroken with the number of the first bad line."""
        try:
            return self._looks(self._chain().read())
        except FileNotFoundError:
            return ()

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
        wanted = Look(
            id=request.look_id(self.heldout_sha256),
            run=buyer.run,
            kind=request.kind,
            target=request.target,
            block_sha256=request.block_sha256,
            settings=dict(request.settings),
            family=None if buyer.family is None else buyer.family.id,
            exploratory=False,
            opened_at=_now(),
        )
        with self._writing() as (file, looks):
            same = [look for look in looks if look.id == wanted.id]
            own = [look for look in same if look.run == buyer.run]
            if known := own or [look for look in same if look.result is not None]:
                return known[0]
            look = replace(wanted, exploratory=self._beyond_plan(wanted, buyer, looks))
            targets = [] if buyer.family is None else list(buyer.family.targets)
            line = _LOOK.dump_python(look, mode="json", by_alias=True, exclude={"result"})
            file.append({"event": "opened", "targets": targets, **line})
            return look

    def close(self, look: Look, result: LookResult) -> Look:
        """Record what `look` bought. Closing it again with the same result changes nothing.

        Raises BadInput if it stands closed with another result, ValueError if it is not open.
        """
        with self._writing() as (file, looks):
            known = [x for x in looks if (x.id, x.run) == (look.id, look.run)]
            if not known:
                raise ValueError(f"look {look.id} was not opened by {look.run}")
            if known[0].result is None:
                line = {"event": "closed", "at": _now(), "look": look.id, "run": look.run}
                file.append({**line, **result.to_json()})
                return replace(known[0], result=result)
            if known[0].result != result:
                message = f"look {look.id} was closed by this run with another result"
                raise BadInput.one(str(self.path), message)
            return known[0]

    def _beyond_plan(self, wanted: Look, buyer: Buyer, looks: tuple[Look, ...]) -> bool:
        now = standing(looks, self.planned, buyer.run, buyer.family)
        planned = wanted.kind is LookKind.BASELINE or slots((*looks, wanted)) <= self.planned
        if planned and not now.spent:
            return False
        if buyer.acknowledge_reuse:
            return True
        opened_by = now.others or (buyer.run,)
        raise LooksSpent(str(self.path), opened_by, self.planned)

    def _looks(self, lines: Sequence[_Json]) -> tuple[Look, ...]:
        found: dict[tuple[str, str], Look] = {}
        for number, line in enumerate(lines, start=1):
            try:
                self._take(line, found)
            except ValidationError as error:
                detail = error.errors()[0]
                place = ".".join(map(str, detail["loc"]))
                raise self._unsound(number, f"{place}: {detail['msg']}") from None
            except UNREADABLE as error:
                raise self._unsound(number, str(error)) from None
        return tuple(found.values())

    def _unsound(self, number: int, problem: str) -> JournalBroken:
        return JournalBroken(str(self.path), number, f"no sound look: {problem}")

    def _take(self, line: _Json, found: dict[tuple[str, str], Look]) -> None:
        key = (line["look"], line["run"])
        if line["event"] == "opened":
            look = _LOOK.validate_python(line)
            request = LookRequest(look.kind, look.target, look.block_sha256, look.settings)
            if request.look_id(self.heldout_sha256) != look.id:
                raise ValueError("its id does not fit its content and this held-out set")
            if key in found:
                raise ValueError("opened twice by one run")
            found[key] = look
        elif line["event"] == "closed":
            if key not in found or found[key].result is not None:
                raise ValueError("closed, but not open")
            found[key] = replace(found[key], result=_Closed.model_validate(line).result())
        else:
            raise ValueError(f"unknown event {line['event']!r}")

    def _chain(self) -> ChainFile[_Json, _Json]:
        return ChainFile(self.path, _LookLines(self.genesis))

    @contextmanager
    def _writing(self) -> Iterator[tuple[ChainFile[_Json, _Json], tuple[Look, ...]]]:
        """The file, locked and open for appending, and the looks it holds."""
        chain = self._chain()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with (
                FileLock(f"{self.path}.lock", timeout=LOCK_SECONDS),
                self._as_bad_input(),
                closing(chain),
            ):
                yield chain, self._looks(chain.open())
        except Timeout:
            message = f"locked by another process for {LOCK_SECONDS:g} s"
            raise BadInput.one(str(self.path), message) from None
        except OSError as error:
            raise BadInput.one(str(self.path), f"cannot be written: {error.strerror}") from error

    @contextmanager
    def _as_bad_input(self) -> Iterator[None]:
        try:
            yield
        except JournalBroken as error:
            message = f"{error.detail}; the looks on record cannot be trusted"
            raise BadInput.one(f"{error.path}:{error.line}", message) from error


class _LookLines:
    """How a look stands on its line; see `LineFormat`."""

    first, noun, origin, completes = 1, "line of JSON", "this manifest", True

    def __init__(self, genesis: str) -> None:
        self.genesis = genesis

    def parse(self, raw: bytes) -> ChainedLine[_Json]:
        line = json.loads(raw)
        own = line.pop("hash")
        if sha256_json(line) != own:
            raise LineChanged
        return ChainedLine(line["n"], line["previous"], own, line)

    def compose(
        self, number: int, previous: str, content: _Json
    ) -> tuple[bytes, ChainedLine[_Json]]:
        line = {"n": number, "previous": previous, **content}
        own = sha256_json(line)
        raw = canonical_json({**line, "hash": own}).encode() + b"\n"
        return raw, ChainedLine(number, previous, own, line)


class _Columns(BaseModel):
    """Results as `LookResult.to_json` wrote them; strict, so that a number in quotes is none."""

    model_config = ConfigDict(strict=True)

    scores: dict[str, list[int | float | None]]
    flags: dict[str, list[bool | None]]
    outcomes: dict[str, list[str]]

    def notes(self) -> dict[str, tuple[NoteResult, ...]]:
        return {
            name: tuple(
                NoteResult(*parts)
                for parts in zip(scores, self.flags[name], self.outcomes[name], strict=True)
            )
            for name, scores in self.scores.items()
        }


class _Closed(_Columns):
    """A closed look."""

    calls_sha256: str
    figures: dict[str, int | float | None]
    decision: str | None
    baseline: _Columns | None = None

    def result(self) -> LookResult:
        baseline = None if self.baseline is None else self.baseline.notes()
        return LookResult(self.notes(), self.calls_sha256, self.figures, self.decision, baseline)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
