"""What the gate goes by; chosen before the run and journalled."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from annotated_types import Gt
from annotated_types import Interval as Within

from heldout.gepa.settings import Primary, RuleName
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP
from heldout.gepa.statistics.selection import PairKind

PreGateName = Literal["above", "study", "off"]
Goal = Literal["superior", "non_inferior", "equivalent"]
SidesRule = Literal["refuse_on_harm", "require_cleared"]
Margin = Annotated[float, Within(ge=0, le=1)]

STUDY_PRE_GATE = 0.02
"""The study bought the held-out look only for more than two points on both measures."""


@dataclass(frozen=True, kw_only=True)
class SideMargins:
    """How much worse a side measure may be; `omissions` counts where commissions are primary."""

    commissions: Margin = 0.05
    omissions: Margin = 0.05
    false_alarms: Margin = 0.05
    violations: Margin = 0.05
    detection: Margin = 0.05

    def by_measure(self) -> dict[str, float]:
        """Margin by measure name."""
        return {name: float(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True, kw_only=True)
class GateSettings:
    """What the gate goes by.

    `alpha` is one-sided and is divided by the planned looks. `goal`: the primary difference must
    exceed `margin` (superior), exceed minus `margin` (non_inferior), or lie within it on either
    side (equivalent). `sides`: a side condition refuses where harm is shown, or wherever it is not
    excluded. `require_usable`: the winner must be of use as a flag. `min_effective`: effective
    consultations below which nothing is decided. `cap` is the false-alarm cap of swept figures;
    `hoped_gain` is the difference the experimenter hopes for, used only to say what the data could
    have seen. Raises ValueError for a goal that needs a margin above 0 and has none.
    """

    rule: RuleName = "studentised"
    margin: Annotated[float, Within(ge=-1, le=1)] = 0.0
    alpha: Annotated[float, Within(gt=0, lt=0.5)] = 0.025
    side_margins: SideMargins = field(default_factory=SideMargins)
    pre_gate: PreGateName = "above"
    cap: Annotated[float, Within(ge=0, le=1)] = DEFAULT_CAP
    hoped_gain: Annotated[float, Gt(0)] = 0.05
    goal: Goal = "superior"
    sides: SidesRule = "refuse_on_harm"
    require_usable: bool = False
    min_effective: Annotated[float, Within(ge=0, le=1_000_000)] = 12.0

    def __post_init__(self) -> None:
        if self.goal != "superior" and self.margin <= 0:
            raise ValueError(f"goal {self.goal} needs a margin above 0, not {self.margin:g}")

    @property
    def bar(self) -> float:
        """What the primary difference must exceed."""
        return self.margin if self.goal == "superior" else -self.margin


def primary_pairs(primary: Primary) -> PairKind:
    """The pairs that a primary measure is about."""
    return "commission" if primary == "paired_commissions" else "omission"
