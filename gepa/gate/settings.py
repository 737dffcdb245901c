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

    `alpha` is one-sided and is divided by the planned looks; `margin` is what the primary
    difference must exceed; `cap` is the false-alarm cap of swept figures; `hoped_gain` is the
    difference the experimenter hopes for, used only to say what the data could have seen.
    """

    rule: RuleName = "interval"
    margin: Annotated[float, Within(ge=-1, le=1)] = 0.0
    alpha: Annotated[float, Within(gt=0, lt=0.5)] = 0.025
    side_margins: SideMargins = field(default_factory=SideMargins)
    pre_gate: PreGateName = "above"
    cap: Annotated[float, Within(ge=0, le=1)] = DEFAULT_CAP
    hoped_gain: Annotated[float, Gt(0)] = 0.05


def primary_pairs(primary: Primary) -> PairKind:
    """The pairs that a primary measure is about."""
    return "omission" if primary == "paired_omissions" else "commission"
