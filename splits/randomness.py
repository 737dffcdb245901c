"""Counter-based randomness: every draw is a pure function of the path that names it.

A path is a tuple such as `(campaign seed, "minibatch", iteration, consultation id)`. There is no
generator to save, so resuming, reordering and concurrency cannot change a draw. BLAKE2b is the
mixing function (RFC 7693); the idea is that of Salmon et al. 2011, «Parallel random numbers: as
easy as 1, 2, 3».
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar

Part = str | int
T = TypeVar("T")


def bits(*path: Part, width: int = 64) -> int:
    """An integer in [0, 2**width), `width` at most 512."""
    digest = hashlib.blake2b("\x1f".join(f"{part}" for part in path).encode(), digest_size=64)
    return int.from_bytes(digest.digest(), "big") >> (512 - width)


def uniform(*path: Part) -> float:
    """A float in [0, 1) with 53 random bits."""
    return bits(*path, width=53) / (1 << 53)


def call_seed(run_seed: int, item: str, stage: str, sample: int) -> int:
    """The seed sent with a model call: 31 bits, so that every provider takes it."""
    return bits(run_seed, item, stage, sample, width=31)


def integer(low: int, high: int, *path: Part) -> int:
    """An integer in [low, high], both ends included."""
    if high < low:
        raise ValueError(f"empty range [{low}, {high}]")
    return low + int(uniform(*path) * (high - low + 1))


def choice(items: Sequence[T], *path: Part) -> T:
    """One of `items`, each equally likely. Raises ValueError when there are none."""
    if not items:
        raise ValueError("choice from no items")
    return items[int(uniform(*path) * len(items))]


def weighted_choice(items: Sequence[T], weights: Sequence[float], *path: Part) -> T:
    """One of `items` in proportion to `weights` (all >= 0, their sum > 0)."""
    total = list(accumulate(weights))
    if len(items) != len(weights) or not total or total[-1] <= 0 or min(weights) < 0:
        raise ValueError("weights must be one an item, none negative, with a positive sum")
    point = uniform(*path) * total[-1]
    return next(item for item, edge in zip(items, total, strict=True) if point < edge)


def shuffled(items: Sequence[T], *path: Part) -> list[T]:
    """`items` in an order drawn from `path`; equal items keep no relation to their positions."""
    keyed = sorted(range(len(items)), key=lambda index: bits(*path, index))
    return [items[index] for index in keyed]
