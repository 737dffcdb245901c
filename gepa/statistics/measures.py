"""The measures object that stands for one judge wherever JSON is printed."""

from __future__ import annotations

from typing import Any

from heldout.gepa.statistics.agreement.replicates import paired_spread
from heldout.gepa.statistics.judged import Flags, Judged
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.detection import DEFAULT_CAP, AtRule, swept
from heldout.gepa.statistics.table import ScoreTable


def measures_json(
    table: ScoreTable, flags: Flags | None = None, *, cap: float = DEFAULT_CAP
) -> dict[str, Any]:
    """`paired_omissions, paired_commissions, at_rule, swept, violations` of a single run."""
    return judged_json(Judged.once(table, flags), cap=cap)


def judged_json(judge: Judged, *, cap: float = DEFAULT_CAP) -> dict[str, Any]:
    """The measures of a judge, replicates included.

    Paired figures are averaged over replicates, flags go by strict majority; `violations` counts
    judgings. `at_rule` is None for a design without a rule; `at_threshold` stands beside for a
    threshold that was frozen elsewhere.
    """
    runs = judge.tables
    notes = len(runs[0].labels)
    missing = sum(int(table.missing.sum()) for table in runs)
    found = at_fixed_rule(judge)
    found_json = found.to_json() if found else None
    return {
        "paired_omissions": paired_spread(runs, "omission").mean,
        "paired_commissions": paired_spread(runs, "commission").mean,
        "at_rule": found_json if judge.rule == "design" else None,
        "at_threshold": (
            {"threshold": judge.threshold, **(found_json or {})}
            if judge.rule == "threshold"
            else None
        ),
        "swept": swept(judge.majority, cap).to_json(),
        "violations": Count(missing, notes * len(runs)).to_json(),
    }


def at_fixed_rule(judge: Judged) -> AtRule | None:
    """Detection of omissions and false alarms at the design's rule or the frozen threshold."""
    table = judge.tables[0]
    flagged = judge.flagged(table)
    if flagged is None:
        return None
    return AtRule(
        Count(int(flagged[table.omission].sum()), int(table.omission.sum())),
        Count(int(flagged[table.clean].sum()), int(table.clean.sum())),
    )
