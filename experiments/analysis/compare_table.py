"""The comparison for a person: one table of figures, one of slices, and the tests in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.experiments.analysis.compare import Comparison, JudgeSide
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.paired import Paired
from heldout.gepa.statistics.tests.exact import TwoForms
from heldout.splits.benchmark import CleanMeans

ALARMS = {CleanMeans.VERIFIED: "false alarms", CleanMeans.UNEDITED: "flags on unedited notes"}
"""What a flag on a clean note is called: only verified clean notes make it a false alarm."""


def render(result: Comparison, *, clean_means: CleanMeans = CleanMeans.UNEDITED) -> RenderableType:
    """Everything a person needs of `result`, for a rich console."""
    figures = Table(title=_title(result), title_justify="left")
    sides = [result.candidate, result.baseline, *([result.words] if result.words else [])]
    figures.add_column("measure")
    for heading in headings([side.name for side in sides]):
        figures.add_column(heading, justify="right", overflow="fold")
    for name, cells in _rows(sides, ALARMS[clean_means]):
        figures.add_row(name, *cells)
    return Group(figures, _slice_table(result), Text("\n".join(sentences(result))))


def sentences(result: Comparison) -> list[str]:
    """The difference, its tests and what every gate rule says, a line each."""
    return [
        f"difference ({result.settings.primary}): {interval_text(result.difference)}",
        f"  over pairs both sides answered: {interval_text(result.jointly_answered)}",
        *(f"  {i.method}: {interval_text(i)}" for i in result.bootstrap),
        f"difference (commissions): {interval_text(result.commissions)}",
        f"difference (swept detection): {interval_text(result.swept_difference)}",
        _test("sign test", "wins", "losses", result.sign_test),
        _test("McNemar at swept thresholds", "candidate only", "baseline only", result.mcnemar),
        "rules: " + ", ".join(f"{v.rule} {_word(v.ships)}" for v in result.verdicts),
        _control_sentence(result),
    ]


def headings(names: Sequence[str]) -> list[str]:
    """Short names for columns: what stands behind `#`, else the file's name; whole if equal."""
    short = [name.rpartition("#")[2] if "#" in name else PurePath(name).name for name in names]
    return short if len(set(short)) == len(short) else list(names)


def interval_text(interval: Interval | None) -> str:
    """`+0.052 [-0.059, +0.163] (95% cluster-t)`, or `na`."""
    if interval is None:
        return "na (nothing to compare)"
    return (
        f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}] "
        f"({100 * interval.level:g}% {interval.method})"
    )


def _title(result: Comparison) -> str:
    table = result.candidate.table
    counts = f"{int(table.omission.sum())} omissions, {int(table.commission.sum())} commissions"
    groups = len({label.consultation for label in table.labels})
    return f"{counts}, {int(table.clean.sum())} clean notes in {groups} consultations"


def _rows(sides: list[JudgeSide], alarms: str) -> Iterator[tuple[str, list[str]]]:
    yield "paired, omissions", [_paired(s.omissions) for s in sides]
    yield "  win / tie / loss", [_counts(s.omissions) for s in sides]
    yield "  interval", [_plain(s.omissions_interval) for s in sides]
    yield "paired, commissions", [_paired(s.commissions) for s in sides]
    yield "  win / tie / loss", [_counts(s.commissions) for s in sides]
    yield "swept detection", [_rate(s.swept.detection) for s in sides]
    yield "  interval, threshold re-chosen", [_plain(s.swept_interval) for s in sides]
    yield f"  {alarms}", [_rate(s.swept.false_alarms) for s in sides]
    yield "  threshold (score below)", [_number(s.swept.threshold) for s in sides]
    yield "  chance floor", [_number(s.swept.floor) for s in sides]
    for position, found in enumerate(sides[0].figures):
        values = [s.figures[position] for s in sides]
        yield found.measure.name, [_number(v.value) for v in values]
    if sides[0].length is not None:
        yield (
            "follows note length (r)",
            [_number(s.length.correlation if s.length else None) for s in sides],
        )
    yield "notes without a score", [str(int(s.table.missing.sum())) for s in sides]


def _slice_table(result: Comparison) -> Table:
    table = Table(title="paired by slice (descriptive, no tests)", title_justify="left")
    for name in ("slice", "pairs", "consultations", "candidate", "baseline"):
        table.add_column(name, justify="left" if name == "slice" else "right")
    theirs = {(part.axis, part.key): part for part in result.baseline.slices}
    for part in result.candidate.slices:
        other = theirs[part.axis, part.key]
        table.add_row(
            f"{part.axis}: {part.key}",
            str(part.pairs.n),
            str(part.consultations),
            *(
                _counts(side.pairs) if side.interval is None else _slice_cell(side.interval)
                for side in (part, other)
            ),
        )
    return table


def _slice_cell(interval: Interval) -> str:
    return f"{interval.estimate:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def _control_sentence(result: Comparison) -> str:
    if result.words is None:
        return "word-count control: needs the notes' texts, give --benchmark"
    pairs = result.words.omissions
    return f"word-count control: counting words alone scores {_paired(pairs)} on the omissions"


def _test(name: str, ours: str, theirs: str, test: TwoForms) -> str:
    rows, groups = test.rows, test.consultations
    return (
        f"{name}: {ours} {rows.wins}, {theirs} {rows.losses}, exact p = {rows.p:.5f}; "
        f"by consultation {groups.wins} and {groups.losses}, p = {groups.p:.5f}"
    )


def _word(ships: bool) -> str:
    return "ships" if ships else "refuses"


def _paired(pairs: Paired) -> str:
    return "na (0 pairs)" if pairs.value is None else f"{pairs.value:.4f}"


def _counts(pairs: Paired) -> str:
    unanswered = f" (+{pairs.violations} unanswered)" if pairs.violations else ""
    return f"{pairs.wins} / {pairs.ties} / {pairs.losses}{unanswered}"


def _rate(count: Count) -> str:
    return "na (0 notes)" if count.rate is None else f"{count.rate:.3f} ({count.k}/{count.n})"


def _plain(interval: Interval | None) -> str:
    return "na" if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _number(value: float | None) -> str:
    return "na" if value is None else f"{value:.4g}"
