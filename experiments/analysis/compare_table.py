"""The comparison for a person: one table of figures, one of slices, and the tests in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from heldout.experiments.analysis.compare import Comparison
from heldout.gepa.statistics.intervals.interval import Interval
from heldout.gepa.statistics.rates.counts import Count
from heldout.gepa.statistics.rates.paired import Paired
from heldout.gepa.statistics.slices import AXES, Slice, distinct
from heldout.splits.benchmark import CleanMeans
from heldout.splits.counted import counted

ALARMS = {CleanMeans.VERIFIED: "false alarms", CleanMeans.UNEDITED: "flags on unedited notes"}
"""What a flag on a clean note is called: only verified clean notes make it a false alarm."""


def render(result: Comparison) -> RenderableType:
    """Everything a person needs of `result`, for a rich console."""
    figures = Table(title=_title(result), title_justify="left")
    figures.add_column("measure")
    for heading in headings([judge.name for judge in result.judges]):
        figures.add_column(heading, justify="right", overflow="fold")
    for name, cells in _rows(result):
        figures.add_row(name, *cells)
    return Group(figures, _slice_table(result), Text("\n".join(sentences(result))))


def sentences(result: Comparison) -> list[str]:
    """The difference, its tests and what every gate rule says, a line each."""
    sign, flag = result.sign_test, result.mcnemar
    signs, flags = sign.by_consultation, flag.by_consultation
    return [
        f"difference ({result.primary}): {interval_text(result.difference)}",
        f"  each consultation weighted alike: {_signed(result.consultation_weighted)}",
        f"  over pairs both sides answered: {interval_text(result.jointly_answered)}",
        *(f"  {i.method}: {interval_text(i)}" for i in result.bootstrap),
        f"difference (commissions): {interval_text(result.commissions_difference)}",
        f"difference (swept detection): {interval_text(result.swept_difference)}",
        f"sign test: wins {sign.wins}, losses {sign.losses}, exact p = {sign.p:.5f}; by "
        f"consultation {signs.wins} and {signs.losses}, p = {signs.p:.5f}",
        f"McNemar at swept thresholds: candidate only {flag.candidate_only}, baseline only "
        f"{flag.baseline_only}, exact p = {flag.p:.5f}; by consultation {flags.candidate_only} "
        f"and {flags.baseline_only}, p = {flags.p:.5f}",
        "rules: "
        + ", ".join(f"{v.rule} {'ships' if v.ships else 'refuses'}" for v in result.rules),
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
    if not interval.known:
        return f"{interval.estimate:+.3f} (no interval: one consultation)"
    return (
        f"{interval.estimate:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}] "
        f"({100 * interval.level:g}% {interval.method})"
    )


def _title(result: Comparison) -> str:
    n = result.n
    counts = f"{n.omissions} omissions, {n.commissions} commissions"
    return (
        f"{counts}, {counted(n.clean, 'clean note')} in {counted(n.consultations, 'consultation')}"
    )


def _rows(result: Comparison) -> Iterator[tuple[str, list[str]]]:
    judges = result.judges
    yield "paired, omissions", [_paired(j.omissions) for j in judges]
    yield "  win / tie / loss", [_counts(j.omissions) for j in judges]
    yield "  interval", [_plain(j.paired_interval) for j in judges]
    yield "  consultations weighted alike", [_number(j.consultation_weighted) for j in judges]
    yield "paired, commissions", [_paired(j.commissions) for j in judges]
    yield "  win / tie / loss", [_counts(j.commissions) for j in judges]
    yield "swept detection", [_rate(j.swept.detection) for j in judges]
    yield "  interval, threshold re-chosen", [_plain(j.swept.interval) for j in judges]
    yield f"  {ALARMS[result.clean_means]}", [_rate(j.swept.false_alarms) for j in judges]
    yield "  threshold (score below)", [_number(j.swept.threshold) for j in judges]
    yield "  chance floor", [_number(j.swept.floor) for j in judges]
    yield "auc", [_number(j.auc.value) for j in judges]
    yield "youden_j", [_number(j.youden_j.value) for j in judges]
    if result.word_count is not None:
        yield "follows note length (r)", [_number(j.follows_length) for j in judges]
    yield "notes without a score", [str(j.violations.k) for j in judges]


def _slice_table(result: Comparison) -> Table:
    table = Table(title="paired by slice (descriptive, no tests)", title_justify="left")
    for name in ("slice", "pairs", "consultations", "candidate", "baseline"):
        table.add_column(name, justify="left" if name == "slice" else "right")
    ours, theirs = (
        {axis: getattr(judge, f"by_{axis}") for axis in AXES}
        for judge in (result.candidate, result.baseline)
    )
    for axis, key in distinct(ours):
        part = ours[axis][key]
        cells = [_slice_cell(part), _slice_cell(theirs[axis][key])]
        table.add_row(f"{axis}: {key}", str(part.n), str(part.consultations), *cells)
    return table


def _slice_cell(part: Slice) -> str:
    if (interval := part.interval) is None:
        return _counts(part)
    return f"{interval.estimate:.3f} [{interval.low:.2f}, {interval.high:.2f}]"


def _control_sentence(result: Comparison) -> str:
    if result.word_count is None:
        return "word-count control: needs the notes' texts, give --benchmark"
    pairs = result.word_count.omissions
    return f"word-count control: counting words alone scores {_paired(pairs)} on the omissions"


def _paired(pairs: Paired) -> str:
    return "na (0 pairs)" if pairs.value is None else f"{pairs.value:.4f}"


def _counts(pairs: Paired | Slice) -> str:
    unanswered = f" (+{pairs.violations} unanswered)" if pairs.violations else ""
    return f"{pairs.wins} / {pairs.ties} / {pairs.losses}{unanswered}"


def _rate(count: Count) -> str:
    return "na (0 notes)" if count.rate is None else f"{count.rate:.3f} ({count.k}/{count.n})"


def _plain(interval: Interval | None) -> str:
    return "na" if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _signed(value: float | None) -> str:
    return "na" if value is None else f"{value:+.3f}"


def _number(value: float | None) -> str:
    return "na" if value is None else f"{value:.4g}"
