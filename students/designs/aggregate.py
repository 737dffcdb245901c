"""Several answers about one note made one."""

from __future__ import annotations

from collections.abc import Sequence


def winsorised_mean(values: Sequence[float]) -> float:
    """Mean after the lowest and the highest value were replaced by their nearest kept ones.

    With fewer than three values there is nothing to replace by: the plain mean. Raises ValueError
    for no values.
    """
    if not values:
        raise ValueError("the mean of no values")
    ordered = sorted(values)
    if len(ordered) >= 3:
        ordered[0], ordered[-1] = ordered[1], ordered[-2]
    return sum(ordered) / len(ordered)


def majority(flags: Sequence[bool]) -> bool:
    """True if more than half of `flags` are set; a tie is no majority."""
    return 2 * sum(flags) > len(flags)
