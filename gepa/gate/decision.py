"""What the gate says: the decision with its figures, as JSON and in sentences."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Literal

from heldout.gepa.gate.rules import Verdict
from heldout.gepa.gate.settings import GateSettings, PreGateName
from heldout.gepa.statistics.agreement.replicates import Spread
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.tests.sides import SideVerdict


class Finding(StrEnum):
    """What the held-out data say of the primary difference, whatever the rule."""

    BETTER = "better"
    WORSE = "worse"
    NO_BETTER = "no_better"
    COULD_NOT_BE_SEEN = "could_not_be_seen"


@dataclass(frozen=True, slots=True)
class PreGate:
    """Whether the held-out look is bought, from accept data: differences winner minus baseline."""

    name: PreGateName
    buys: bool
    primary: float | None
    swept_detection: float | None

    def to_json(self) -> dict[str, Any]:
        """`{rule, buys, primary, swept_detection}`."""
        return {
            "rule": self.name,
            "buys": self.buys,
            "primary": self.primary,
            "swept_detection": self.swept_detection,
        }


@dataclass(frozen=True)
class Decision:
    """What the gate says and why.

    `reason` is None when emitted, `gate` when the rule did not ship, `side:<measure>` when harm is
    shown. `difference` is the cluster-robust t interval of the primary difference at level
    1 - 2 alpha / looks, its upper end the largest gain that the data do not exclude;
    `jointly_answered` is the same over pairs that both sides answered. `needed_*` are consultations
    for 80% power.
    """

    decision: Literal["emitted", "refused"]
    reason: str | None
    settings: GateSettings
    planned_looks: int
    finding: Finding
    difference: Interval | None
    jointly_answered: Interval | None
    winner_minus_baseline: float | None
    consultations: int
    verdicts: tuple[Verdict, ...]
    sides: tuple[SideVerdict, ...]
    spread_candidate: Spread
    spread_baseline: Spread
    needed_observed: int | None
    needed_hoped: int | None

    @property
    def verdict(self) -> Verdict:
        """What the chosen rule says."""
        return next(v for v in self.verdicts if v.rule == self.settings.rule)

    @property
    def largest_gain_not_excluded(self) -> float | None:
        """Upper end of the interval of the primary difference."""
        return self.difference.high if self.difference else None

    def refused(self, reason: str) -> Decision:
        """The same figures with a refusal for a reason that lies outside them, such as `drift`."""
        return replace(self, decision="refused", reason=reason)

    @property
    def sentences(self) -> tuple[str, ...]:
        """The decision for a person, a line each."""
        return (*_primary_sentences(self), *(side.sentence for side in self.sides))

    def to_json(self) -> dict[str, Any]:
        """Stable keys; intervals as `{estimate, low, high, level, method}`."""
        return {
            "decision": self.decision,
            "reason": self.reason,
            "rule": self.settings.rule,
            "margin": self.settings.margin,
            "alpha": self.settings.alpha,
            "planned_looks": self.planned_looks,
            "finding": self.finding.value,
            "difference": _json(self.difference),
            "jointly_answered": _json(self.jointly_answered),
            "winner_minus_baseline": self.winner_minus_baseline,
            "largest_gain_not_excluded": self.largest_gain_not_excluded,
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "sides": [side.to_json() for side in self.sides],
            "run_to_run": {
                "winner": self.spread_candidate.to_json(),
                "baseline": self.spread_baseline.to_json(),
            },
            "consultations": {
                "have": self.consultations,
                "needed_for_observed": self.needed_observed,
                "needed_for_hoped": self.needed_hoped,
                "hoped_gain": self.settings.hoped_gain,
            },
            "sentences": list(self.sentences),
        }


def _json(interval: Interval | None) -> dict[str, object] | None:
    return interval.to_json() if interval else None


def _primary_sentences(decision: Decision) -> list[str]:
    interval, hoped = decision.difference, decision.settings.hoped_gain
    if interval is None:
        return ["no pair of the primary measure was judged: nothing could be seen"]
    figure = f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
    meaning = {
        Finding.BETTER: "shown to be better",
        Finding.WORSE: "shown to be worse",
        Finding.NO_BETTER: f"no better: a gain of {hoped:.3f} is excluded",
        Finding.COULD_NOT_BE_SEEN: f"a gain of {hoped:.3f} could not have been excluded or shown",
    }[decision.finding]
    lines = [
        f"primary difference {figure} over {decision.consultations} consultations: {meaning}",
        f"largest gain not excluded: {interval.high:+.3f}",
        *_need_sentences(decision),
    ]
    plain = decision.winner_minus_baseline
    if plain is not None and abs(plain - interval.estimate) > 5e-10:
        lines.append(
            f"the difference is not winner minus baseline ({plain:+.3f}): pairs that one side did "
            "not answer count as a loss for the winner and a half for the baseline"
        )
    return lines


def _need_sentences(decision: Decision) -> list[str]:
    estimate = decision.difference.estimate if decision.difference else 0.0
    needs = (
        ("observed", estimate, decision.needed_observed),
        ("hoped", decision.settings.hoped_gain, decision.needed_hoped),
    )
    return [
        f"a difference of the {word} size ({size:+.3f}) needs {count} consultations for 80% power"
        for word, size, count in needs
        if count is not None
    ]
