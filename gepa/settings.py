"""What a campaign can be told about its search and its confirmation.

Frozen dataclasses: the configuration file is validated into them, the journal records them whole.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from annotated_types import Ge, Interval
from pydantic import AfterValidator, AllowInfNan, Strict

Share = Annotated[float, Interval(ge=0, le=1), AllowInfNan(False)]
Positive = Annotated[int, Interval(ge=1, le=1_000_000_000), Strict()]

ComparedBaseline = Literal["concurrent", "before"]
FrontierKind = Literal["win_tie_loss", "raw_reward"]
FrozenAt = Literal["confirm", "search"]
Denominator = Literal["full", "answered"]
Primary = Literal["paired_omissions", "paired_commissions", "detection_at_cap"]
IMPORT_PATH = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*:[A-Za-z_]\w*")


def is_import_path(name: str) -> bool:
    """True for `package.module:Name`, which names a part that is not built in."""
    return IMPORT_PATH.fullmatch(name) is not None


def one_of(*names: str) -> AfterValidator:
    """Accepts a built-in name or an import path. Raises ValueError for anything else."""

    def check(name: str) -> str:
        if name not in names and not is_import_path(name):
            known = ", ".join(names)
            raise ValueError(f"should be {known} or package.module:Name, got {name!r:.60}")
        return name

    return AfterValidator(check)


BEFORE: Mapping[str, Mapping[str, Any]] = {
    "confirm": {"baseline": "before", "threshold": "search"},
    "gate": {"min_effective": 0.0},
    "search": {"denominator": "answered"},
}
"""What runs meant that began before these settings were there; a new run has the defaults."""
RANKS_PAIRS = ("PairedFirst", "DetectionFirst")
"""Objectives on record that rank by pairs, and so by a denominator."""


def as_meant_before(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by section that an older version wrote down, with what it left unsaid."""
    found = dict(settings)
    for section, values in BEFORE.items():
        if isinstance(found.get(section), Mapping):
            found[section] = {**values, **found[section]}
    objective = found.get("objective")
    if isinstance(objective, Mapping) and objective.get("name") in RANKS_PAIRS:
        found["objective"] = {**BEFORE["search"], **objective}
    return found


ObjectiveName = Annotated[str, one_of("paired_first", "detection_first", "severity_weighted")]
AcceptanceName = Annotated[str, one_of("minibatch", "full_pool")]
MinibatchName = Annotated[str, one_of("consultation_first")]
RuleName = Annotated[str, one_of("studentised", "interval", "bootstrap", "permutation", "point")]
"""Name of a gate rule."""


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How the search goes.

    `samples`: judgings a note while searching. `minibatch`: how reflect notes are drawn;
    `minibatch_*`: consultations, and errored notes of each. `merge_from`: entered candidates
    before merges begin; `max_merges` merge attempts at most, each iteration with
    `merge_probability`. `clean_weight`: weight of a clean note in the mean reward. `objective`:
    what ranks candidates on accept; `acceptance`: what a child must do to enter, on its minibatch
    (by more than `acceptance_margin`) and then on accept. `denominator`: whether a pair without an
    answer counts as a loss when candidates are ranked, or is left out. `stall`: iterations without
    a new best before the search ends. `stop_usd`, `max_judgements`: soft limits, tested between
    iterations.
    """

    iterations: Annotated[int, Interval(ge=0, le=1_000_000), Strict()] = 15
    samples: Positive = 1
    minibatch: MinibatchName = "consultation_first"
    minibatch_consultations: Positive = 4
    minibatch_errored: Positive = 2
    merge_from: Annotated[int, Ge(2)] = 6
    max_merges: Annotated[int, Ge(0)] = 4
    merge_probability: Share = 0.4
    clean_weight: Annotated[float, Interval(ge=0, le=1_000)] = 0.1
    frontier: FrontierKind = "win_tie_loss"
    primary: Primary = "paired_omissions"
    objective: ObjectiveName = "paired_first"
    denominator: Denominator = "full"
    acceptance: AcceptanceName = "minibatch"
    acceptance_margin: Annotated[float, Interval(ge=0, le=1)] = 0.0
    stall: Positive = 8
    stop_usd: Annotated[float, Interval(gt=0, le=1e9)] | None = None
    max_judgements: Positive | None = None


@dataclass(frozen=True, kw_only=True)
class ConfirmSettings:
    """How baseline and winner are judged on held-out.

    `samples` judgings make one score, `replicates` repeat the whole. When the winner is confirmed
    the baseline is judged again in full. `baseline`: the winner is compared with that second
    judging, made beside its own call by call (concurrent), or with the one before the search, and
    the second shows drift alone (before). `threshold`: whether thresholds are frozen on accept at
    these settings or at those of the search.
    """

    samples: Positive = 1
    replicates: Positive = 1
    baseline: ComparedBaseline = "concurrent"
    threshold: FrozenAt = "confirm"


def freezes_again(search: SearchSettings, confirm: ConfirmSettings) -> bool:
    """True where accept is judged again for its thresholds, as confirmation judges otherwise."""
    alike = (confirm.samples, confirm.replicates) == (search.samples, 1)
    return confirm.threshold == "confirm" and not alike
