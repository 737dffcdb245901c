"""Several tests declared together: Holm's step-down adjustment (1979)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HolmResult:
    """One member of a family: its p, Holm's adjusted p, and whether it is rejected."""

    p: float
    adjusted: float
    rejected: bool


def holm(p_values: Mapping[str, float], *, alpha: float) -> dict[str, HolmResult]:
    """Holm's adjustment over a declared family, member name to result; empty for no members."""
    # statsmodels takes a second to import, and only families of tests need it.
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415

    if not p_values:
        return {}
    rejected, adjusted, _, _ = multipletests(list(p_values.values()), alpha=alpha, method="holm")
    return {
        name: HolmResult(p, float(a), bool(r))
        for (name, p), a, r in zip(p_values.items(), adjusted, rejected, strict=True)
    }
