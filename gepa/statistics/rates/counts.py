"""A count out of a number of cases: the form in which rates are kept until they are printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Count:
    """`k` of `n`, 0 <= k <= n. 0 of 0 has no rate; it is never read as 0 or 1."""

    k: int
    n: int

    def __post_init__(self) -> None:
        if not 0 <= self.k <= self.n:
            raise ValueError(f"{self.k} of {self.n} is not a count")

    @property
    def rate(self) -> float | None:
        """Share in [0, 1], or None for 0 of 0."""
        return self.k / self.n if self.n else None

    def to_json(self) -> dict[str, int]:
        """Exactly `{"k": …, "n": …}`."""
        return {"k": self.k, "n": self.n}
