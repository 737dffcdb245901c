"""The looks file: an append-only, hash-chained list of lines, safe for several processes.

A line is canonical JSON with `n` (1, 2, …), `previous` (the hash of the line before; of the first
line the manifest's digest) and `hash` (SHA-256 of the rest of the line). Appending takes a file
lock, reads and checks the whole chain, and is on disk when it returns. A kill may leave a torn
last line: under the lock it is completed if only its line end is missing, else cut off, which is
safe because no call is made before an append has returned.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.splits.chain import UNREADABLE, ChainFile
from heldout.splits.errors import BadInput, JournalBroken, LooksSpent
from heldout.splits.heldout.lines import HashedLines, Line, appending, trusted
from heldout.splits.heldout.looks import (
    LOOK,
    Family,
    Look,
    LookRequest,
    LookResult,
    NoteResult,
    Standing,
    look_line,
    slots,
    standing,
)
from heldout.splits.heldout.registry import (
    Digests,
    LooksRegistry,
    RegisteredLook,
    Seen,
    together,
)
from heldout.splits.partition.manifest import Partition


@dataclass(frozen=True, slots=True)
class Buyer:
    """Who looks: the run's id, its declared family, and whether it may exceed the plan.

    `seeds` are the hashes of the blocks that the run begins with.
    """

    run: str
    family: Family | None = None
    acknowledge_reuse: bool = False
    seeds: frozenset[str] = frozenset()


@dataclass(frozen=True)
class HeldoutSet:
    """The consultations of a held-out set as the registry knows them."""

    registry: LooksRegistry
    consultations: tuple[Digests, ...]


@dataclass(frozen=True, slots=True)
class LooksFile:
    """The looks of one manifest. `genesis` is the manifest's digest, `planned` its K.

    `known` is where its consultations are registered, None for a drawn benchmark: a look that only
    one of file and registry holds counts, and is written to the other with the next look.
    """

    path: Path
    genesis: str
    heldout_sha256: str
    planned: int
    known: HeldoutSet | None = None

    @classmethod
    def beside(
        cls, manifest: Path, partition: Partition, known: HeldoutSet | None = None
    ) -> LooksFile:
        """The looks file that belongs to `manifest`."""
        path = manifest.with_name(f"{manifest.stem}.looks.jsonl")
        heldout = partition.heldout_sha256
        return cls(path, partition.sha256, heldout, partition.planned_looks, known)

    def looks(self) -> tuple[Look, ...]:
        """Every look on record, in order of opening. Raises BadInput where the chain breaks."""
        with trusted():
            there = self.verify()
        return (*there, *self._registered(there))

    def seen(self, buyer: Buyer) -> Seen:
        """What the registry knows of these consultations beyond this manifest."""
        if self.known is None:
            return Seen()
        own = {look.run for look in self.looks() if _of_family(look, buyer)}
        return self.known.registry.seen(
            self.known.consultations,
            genesis=self.genesis,
            runs={buyer.run, *own},
            seeds=buyer.seeds,
        )

    def verify(self) -> tuple[Look, ...]:
        """The looks. Raises JournalBroken with the number of the first bad line."""
        try:
            return self._looks(ChainFile(self.path, self._layout).read())
        except FileNotFoundError:
            return ()

    def standing(self, buyer: Buyer) -> Standing:
        """How the plan stands for `buyer`."""
        return self._standing(self.looks(), buyer)

    def _standing(self, looks: tuple[Look, ...], buyer: Buyer) -> Standing:
        here = standing(looks, self.planned, buyer.run, buyer.family)
        return replace(here, elsewhere=self.seen(buyer).runs)

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
            if own:
                return own[0]
            if bought := [look for look in same if look.result is not None]:
                # A second decision from one and the same data is no confirmation.
                beyond = bought[0].exploratory or buyer.acknowledge_reuse
                return replace(bought[0], exploratory=beyond)
            look = replace(wanted, exploratory=self._beyond_plan(wanted, buyer, looks))
            targets = [] if buyer.family is None else list(buyer.family.targets)
            file.append({**look_line(look), "targets": targets})
            self._register([look])
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
        now = self._standing(looks, buyer)
        if slots((*looks, wanted)) <= self.planned and not now.spent:
            return False
        if buyer.acknowledge_reuse:
            return True
        opened_by = (*now.others, *now.elsewhere) or (buyer.run,)
        raise LooksSpent(str(self.path), opened_by, self.planned)

    def _looks(self, lines: Sequence[Line]) -> tuple[Look, ...]:
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

    def _take(self, line: Line, found: dict[tuple[str, str], Look]) -> None:
        key = (line["look"], line["run"])
        if line["event"] == "opened":
            look = LOOK.validate_python(line)
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

    def _registered(self, there: Sequence[Look]) -> tuple[Look, ...]:
        """Looks by this manifest that the registry alone holds: the file was lost or copied."""
        if self.known is None:
            return ()
        here = {(look.id, look.run) for look in there}
        registered = [e for e in self.known.registry.entries() if isinstance(e, RegisteredLook)]
        looks = [entry.look for entry in registered if entry.genesis == self.genesis]
        return tuple(look for look in looks if (look.id, look.run) not in here)

    def _register(self, looks: Sequence[Look]) -> None:
        """Write looks to the registry that it does not hold."""
        if self.known is not None and looks:
            held = frozenset(together(self.known.consultations))
            self.known.registry.register([RegisteredLook(x, self.genesis, held) for x in looks])

    @property
    def _layout(self) -> HashedLines:
        return HashedLines(self.genesis, "this manifest")

    @contextmanager
    def _writing(self) -> Iterator[tuple[ChainFile[Line, Line], tuple[Look, ...]]]:
        """The file, locked and open for appending, and the looks it holds."""
        with appending(self.path, self._layout) as (chain, lines):
            there = self._looks(lines)
            missing = self._registered(there)
            for look in missing:
                chain.append({**look_line(look), "targets": []})
            self._register(there)
            yield chain, (*there, *missing)


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


def _of_family(look: Look, buyer: Buyer) -> bool:
    """True if the buyer or its declared family opened the look."""
    family = None if buyer.family is None else buyer.family.id
    return look.run == buyer.run or (family is not None and look.family == family)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
