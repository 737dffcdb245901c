"""Consultations handed out to splits, stratum by stratum, near-duplicates together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.splits.benchmark import Consultation
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.partition.manifest import SPLITS, Shares
from heldout.splits.randomness import bits, weighted_choice

LEAST = {"reflect": 2, "accept": 4, "heldout": 6}
"""Fewest consultations of each split. Reflect needs two for minibatches that differ."""

Stratum = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class _Cell:
    stratum: Stratum
    split: str


def sizes(total: int, shares: Shares) -> dict[str, int]:
    """Consultations per split: `total` by `shares`, none under `LEAST`.

    Raises BadInput where `total` is under the sum of `LEAST`.
    """
    least = sum(LEAST.values())
    if total < least:
        parts = ", ".join(f"{count} {name}" for name, count in LEAST.items())
        message = f"{counted(total, 'consultation')}: too few: the minimum is {least} ({parts})"
        raise BadInput.one("partition", message)
    count = {name: max(LEAST[name], round(total * getattr(shares, name))) for name in SPLITS[1:]}
    while total - sum(count.values()) < LEAST["reflect"]:
        largest = max(count, key=lambda name: count[name] - LEAST[name])
        count[largest] -= 1
    return {"reflect": total - sum(count.values()), **count}


def stratum_of(consultation: Consultation) -> Stratum:
    """What a draw is balanced on: the stratum and the presence of partial omissions."""
    return consultation.stratum, consultation.has_partial_omissions


def hand_out(
    strata: Mapping[str, Stratum],
    together: Sequence[Sequence[str]],
    count: Mapping[str, int],
    seed: int,
) -> dict[str, str]:
    """The split of each consultation in `strata`.

    `together` lists groups that must share a split; `count` is the size of each split, kept
    exactly unless a group does not fit.
    """
    placed: dict[str, str] = {}
    room = dict(count)
    for members in sorted(together, key=lambda group: (-len(group), tuple(group))):
        fitting = [name for name in SPLITS if room[name] >= len(members)]
        weights = [float(room[name]) for name in fitting]
        split = (
            weighted_choice(fitting, weights, seed, "partition", "cluster", *members)
            if fitting
            else max(SPLITS, key=lambda name: room[name])
        )
        placed.update(dict.fromkeys(members, split))
        room[split] -= len(members)
    _fit(room, len(strata) - len(placed))
    _fill(strata, placed, room, seed)
    return placed


def _fit(room: dict[str, int], singles: int) -> None:
    # A group larger than every room took more than its split had; the others give way.
    room.update({name: max(0, left) for name, left in room.items()})
    while sum(room.values()) > singles:
        room[max(SPLITS, key=lambda name: room[name])] -= 1


def _fill(
    strata: Mapping[str, Stratum], placed: dict[str, str], room: dict[str, int], seed: int
) -> None:
    free: dict[Stratum, list[str]] = {}
    for name in sorted(strata, key=lambda name: bits(seed, "partition", name)):
        if name not in placed:
            free.setdefault(strata[name], []).append(name)
    wanted = _deficits(strata, placed, room)
    while any(free.values()):
        open_cells = [c for c in wanted if free.get(c.stratum) and room[c.split] > 0]
        cell = max(
            open_cells,
            key=lambda c: (
                wanted[c],
                bits(seed, "partition", "tie", *map(str, c.stratum), c.split),
            ),
        )
        placed[free[cell.stratum].pop()] = cell.split
        wanted[cell] -= 1
        room[cell.split] -= 1


def _deficits(
    strata: Mapping[str, Stratum], placed: Mapping[str, str], room: Mapping[str, int]
) -> dict[_Cell, float]:
    taken = {name: list(placed.values()).count(name) for name in SPLITS}
    share = {name: (room[name] + taken[name]) / len(strata) for name in SPLITS}
    wanted = {
        _Cell(stratum, name): share[name] * list(strata.values()).count(stratum)
        for stratum in sorted(set(strata.values()))
        for name in SPLITS
    }
    for name, split in placed.items():
        wanted[_Cell(strata[name], split)] -= 1
    return wanted
