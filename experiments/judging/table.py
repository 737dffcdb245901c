"""The roster as a table for a person, and as CSV. The title names the set and what `n` is."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from heldout.experiments.judging.roster import DesignFigures, DesignResult
from heldout.experiments.report.csv_text import csv_text
from heldout.gepa.statistics.rates.counts import Count
from heldout.splits.benchmark import CleanMeans
from heldout.splits.counted import counted
from heldout.splits.visible import visible

FLAGS = {CleanMeans.VERIFIED: "false alarms", CleanMeans.UNEDITED: "flags on unedited notes"}
"""What a flag on a clean note is called; only verified clean notes make it a false alarm."""

SIMULATED = "simulated judge"


def title(results: Sequence[DesignResult], *, simulated: bool, words: str = SIMULATED) -> str:
    """The set and its sizes; where something is simulated, `words` say what."""
    notes = results[0].notes
    sizes = notes.sizes
    judge = f"{words}; " if simulated else ""
    return (
        f"{notes.name}: {judge}{sizes.omissions} omissions, {sizes.commissions} commissions, "
        f"{sizes.clean} clean notes ({notes.clean_means}) of "
        f"{counted(sizes.consultations, 'consultation')}; "
        f"{counted(len(results[0].judgements), 'replicate')}"
    )


def columns(clean_means: CleanMeans) -> tuple[str, ...]:
    """Headings; every rate says what it is out of."""
    flags = FLAGS[clean_means]
    return (
        "design", "paired omissions", "complete", "partial-weak", "partial-strong",
        "paired commissions", "at rule: detected omissions", f"at rule: {flags}",
        "swept: detected omissions", f"swept: {flags}", "violations",
        "USD a note, alone in its consultation", "USD a note, consultation shared", "calls a note",
    )  # fmt: skip


def cells(found: DesignFigures) -> tuple[str, ...]:
    """One line of the table."""
    rule, swept = found.at_rule, found.swept
    traces = [found.by_trace.get(level) for level in _TRACES]
    return (
        found.design + (" (experimental)" if found.family == "experimental" else ""),
        _figure(found.paired_omissions),
        *(_figure(part.paired if part else None) for part in traces),
        _figure(found.paired_commissions),
        _count(rule.detection if rule else None),
        _count(rule.false_alarms if rule else None),
        _count(swept.detection),
        _count(swept.false_alarms),
        _count(found.violations),
        _usd(found.cost.usd_per_note),
        _usd(found.cost.usd_per_note_amortised),
        f"{found.calls_per_note:.1f}",
    )


def render(results: Sequence[DesignResult], *, simulated: bool, words: str = SIMULATED) -> Group:
    """All designs of one roster, for a terminal of 80 columns.

    Raises ValueError for results on different sets.
    """
    _one_set(results)
    rows = [cells(result.figures) for result in results]
    flags = FLAGS[results[0].notes.clean_means]
    return Group(
        Text(visible(title(results, simulated=simulated, words=words))),
        _table(PAIRED_HEADS, [(*row[:6], row[10]) for row in rows]),
        _table(RATE_HEADS, [(row[0], *row[6:10], *row[11:13]) for row in rows]),
        Text(
            "paired: share of pairs in the right order, ties half; 0.5 is chance. viol.: judgings "
            f"without a score. det: omissions detected; flags: {flags}; rule: at the design's own "
            "rule (-: it has none); swept: at the most sensitive threshold within the cap. "
            "USD alone: a note alone in its consultation; shared: consultation stages spread over "
            "its notes."
        ),
    )


PAIRED_HEADS = ("paired", "omissions", "complete", "weak", "strong", "commissions", "viol.")
RATE_HEADS = ("flags", "rule det", "flags", "swept det", "flags", "USD alone", "shared")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for place, name in enumerate(heads):
        table.add_column(name, justify="right" if place else "left", no_wrap=True)
    for row in rows:
        short = [cell.replace("no rule", "-") for cell in row[1:]]
        table.add_row(row[0].replace(" (experimental)", "*"), *short)
    if any(row[0].endswith("(experimental)") for row in rows):
        table.caption = "* experimental"
    return table


def to_csv(results: Sequence[DesignResult]) -> str:
    """The same as CSV, with the set in a column of its own and counts as `k/n`."""
    _one_set(results)
    heads = ["set", *columns(results[0].notes.clean_means)]
    return csv_text([heads, *([x.notes.name, *cells(x.figures)] for x in results)])


def to_markdown(results: Sequence[DesignResult], *, simulated: bool, words: str = SIMULATED) -> str:
    """The same as a Markdown table under its title."""
    _one_set(results)
    heads = columns(results[0].notes.clean_means)
    lines = [heads, ("---", *["--:"] * (len(heads) - 1))]
    lines += [cells(result.figures) for result in results]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return visible(f"{title(results, simulated=simulated, words=words)}\n\n{table}\n")


_TRACES = ("complete", "partial-weak", "partial-strong")


def _one_set(results: Sequence[DesignResult]) -> None:
    if len({result.notes.digest for result in results}) != 1:
        raise ValueError("results on different sets of notes never share a table")


def _figure(value: float | None) -> str:
    return "na" if value is None else f"{value:.3f}"


def _count(count: Count | None) -> str:
    return "no rule" if count is None else f"{count.k}/{count.n}"


def _usd(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4f}"
