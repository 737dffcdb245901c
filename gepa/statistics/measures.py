"""The measures that stand for one judge wherever figures are recorded or printed."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.gepa.settings import Primary
from heldout.gepa.statistics.agreement.replicates import paired_spread
from heldout.gepa.statistics.judged import Flags, Judged
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP, AtRule, Swept, swept
from heldout.gepa.statistics.table import BoolArray, ScoreTable


@dataclass(frozen=True, slots=True)
class AtThreshold:
    """`AtRule` at a threshold that was frozen elsewhere: the flag is score < threshold."""

    threshold: float
    detection: Count
    false_alarms: Count


@dataclass(frozen=True, slots=True, kw_only=True)
class Measures:
    """One judge on one set of notes, replicates included.

    Paired figures lie in [0, 1] and are averaged over replicates; flags go by strict majority;
    `violations` counts judgings without an answer. `at_rule` is None for a design without a rule
    of its own, `at_threshold` where no threshold was frozen elsewhere.
    """

    paired_omissions: float | None
    paired_commissions: float | None
    at_rule: AtRule | None
    at_threshold: AtThreshold | None
    swept: Swept
    violations: Count

    def primary(self, measure: Primary) -> float | None:
        """The figure of a primary measure: a paired one, or detection at the frozen threshold.

        Swept detection where nothing was frozen: on accept the sweep is what freezes.
        """
        if measure == "detection_at_cap":
            at = self.swept if self.at_threshold is None else self.at_threshold
            return at.detection.rate
        return self.paired_omissions if measure == "paired_omissions" else self.paired_commissions


def measures_of_table(
    table: ScoreTable, flags: Flags | None = None, *, cap: float = DEFAULT_CAP
) -> Measures:
    """The measures of a single run."""
    return measures(Judged.once(table, flags), cap=cap)


def measures(judge: Judged, *, cap: float = DEFAULT_CAP) -> Measures:
    """The measures of a judge; swept figures at the false-alarm `cap`."""
    runs = judge.tables
    missing = sum(int(table.missing.sum()) for table in runs)
    found = at_fixed_rule(judge)
    frozen = None
    if judge.rule == "threshold" and judge.threshold is not None and found is not None:
        frozen = AtThreshold(judge.threshold, found.detection, found.false_alarms)
    return Measures(
        paired_omissions=paired_spread(runs, "omission").mean,
        paired_commissions=paired_spread(runs, "commission").mean,
        at_rule=found if judge.rule == "design" else None,
        at_threshold=frozen,
        swept=swept(judge.majority, cap),
        violations=Count(missing, len(runs[0].labels) * len(runs)),
    )


def at_fixed_rule(judge: Judged) -> AtRule | None:
    """Detection of omissions and false alarms at the design's rule or the frozen threshold."""
    table = judge.tables[0]
    return _at(table, judge.flagged(table))


def at_frozen(judge: Judged) -> AtRule | None:
    """The same at the frozen threshold, whatever rule the design has."""
    table = judge.tables[0]
    return _at(table, judge.frozen_flags(table))


def _at(table: ScoreTable, flagged: BoolArray | None) -> AtRule | None:
    if flagged is None:
        return None
    return AtRule(
        Count(int(flagged[table.omission].sum()), int(table.omission.sum())),
        Count(int(flagged[table.clean].sum()), int(table.clean.sum())),
    )
