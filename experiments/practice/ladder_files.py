"""A ladder as files: JSON, CSV, Markdown, the figure, and a page with all of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from heldout.experiments.judging.table import FLAGS
from heldout.experiments.practice.ladder import Ladder, LadderStep
from heldout.experiments.practice.ladder_figure import figure, standalone
from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.practice.pages import filled, head
from heldout.experiments.practice.rungs import LEVEL, RungResult
from heldout.experiments.report.csv_text import csv_text
from heldout.experiments.report.words import Table, interval_text, number, percent
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.benchmark import CleanMeans
from heldout.splits.visible import visible

SIMULATED = "Simulated model: no figure here is about a real one."


def write_ladder(
    ladder: Ladder, out: Path, prompt: LoadedPrompt, *, clean_means: CleanMeans
) -> tuple[Path, ...]:
    """Write `ladder.json`, `.csv`, `.md`, `.svg` and `.html` into `out`."""
    tables = tables_of(ladder, FLAGS[clean_means])
    notices = notices_of(ladder, prompt)
    texts = {
        "ladder.json": json.dumps(ladder.to_json(), indent=2) + "\n",
        "ladder.csv": csv_text([tables[0][1].columns, *tables[0][1].rows]),
        "ladder.md": _markdown(ladder, tables, notices),
        "ladder.svg": standalone(ladder),
        "ladder.html": _page(ladder, tables, notices),
    }
    files = []
    for name, text in texts.items():
        path = out / name
        path.write_text(text, encoding="utf-8")
        files.append(path)
    return tuple(files)


Titled = tuple[str, Table]


def tables_of(ladder: Ladder, flags: str) -> list[Titled]:
    """Rungs, compute-matched comparison, combinations; `flags` names flags on clean notes."""
    return [
        ("Rung by rung", _rungs(ladder, flags)),
        ("At equal compute", _matched(ladder)),
        ("Put together", _together(ladder, flags)),
    ]


def notices_of(ladder: Ladder, prompt: LoadedPrompt) -> list[str]:
    """What a reader must know before the figures."""
    lines = [
        f"Block {prompt.sha256[:16]}, {prompt.standing}.",
        f"Intervals at level {LEVEL:g}, consultations as clusters; the same notes and seeds at "
        "every rung.",
    ]
    if ladder.tested:
        lines.append("Held-out: the differences to the control are one family, tested by Holm.")
    else:
        lines.append(
            "These notes were chosen on, or belong to no plan of looks: nothing is a test."
        )
    if ladder.simulated:
        lines.insert(0, SIMULATED)
    return lines


def _rungs(ladder: Ladder, flags: str) -> Table:
    primary, other = ladder.pairs, _other(ladder.pairs)
    columns = [
        "rung", "block", f"paired {primary}s", "since the first rung", "beside the control",
        f"paired {other}s", "at rule: detected", f"at rule: {flags}", "swept: detected",
        f"swept: {flags}", "clean notes at the highest score", "reasoning tokens", "tokens written",
        "USD a note", "seconds a note",
    ]  # fmt: skip
    rows = []
    for step in ladder.steps:
        rows.append(_row(ladder, step, "block"))
        rows.append(_row(ladder, step, "control"))
    return Table.of(columns, rows)


def _row(ladder: Ladder, step: LadderStep, who: str) -> list[str]:
    result: RungResult = getattr(step, who)
    found = result.measures(ladder.cap)
    rule, swept = found.at_rule, found.swept
    beside = ladder.beside_control(step, ladder.pairs) if who == "block" else None
    mark = " *" if who == "block" and _better(ladder, step) else ""
    return [
        step.rung.name,
        ladder.name if who == "block" else f"control {ladder.control}",
        interval_text(result.paired(ladder.pairs)),
        interval_text(ladder.since_first(who, step, ladder.pairs), sign=True)
        if step is not ladder.steps[0]
        else "–",
        interval_text(beside, sign=True) + mark if who == "block" else "–",
        interval_text(result.paired(_other(ladder.pairs))),
        percent(rule.detection) if rule else "no rule",
        percent(rule.false_alarms) if rule else "no rule",
        percent(swept.detection),
        percent(swept.false_alarms),
        percent(result.at_top),
        *_cost(result),
    ]


def _other(pairs: PairKind) -> PairKind:
    return "commission" if pairs == "omission" else "omission"


def _better(ladder: Ladder, step: LadderStep) -> bool:
    test = ladder.holm.get(step.rung.name)
    return test is not None and test.rejected


def _cost(result: RungResult) -> list[str]:
    cost = result.cost
    if cost is None:
        return [f"bought by {result.bought_by}", "–", "–", "–"]
    usd = "unknown" if cost.usd is None else f"{cost.usd:.4f}"
    return [
        number(cost.reasoning_tokens, 0),
        number(cost.completion_tokens, 0),
        usd,
        f"{cost.latency_s:.2f}",
    ]


def _matched(ladder: Ladder) -> Table:
    columns = [
        "block at", "control at", "tokens written by the block", "by the control",
        f"paired {ladder.pairs}s, block minus control", "",
    ]  # fmt: skip
    rows = [
        [
            m.rung,
            m.control_rung,
            *(number(t, 0) for t in m.completion_tokens),
            interval_text(m.difference, sign=True),
            "" if m.equal else "no rung of the control writes as much: give it samples",
        ]
        for m in ladder.matches
    ]
    return Table.of(columns, rows)


def _together(ladder: Ladder, flags: str) -> Table:
    columns = ["way", "what", "flags at", "detected", flags, "tokens written", "USD a note"]
    rows = []
    for found in ladder.combinations:
        cost = found.cost
        usd = "–" if cost is None or cost.usd is None else f"{cost.usd:.4f}"
        rows.append(
            [
                found.kind,
                found.name,
                "the design's rule" if found.basis == "rule" else "the swept threshold",
                percent(found.detection),
                percent(found.false_alarms),
                "–" if cost is None else number(cost.completion_tokens, 0),
                usd,
            ]
        )
    return Table.of(columns, rows)


def _markdown(ladder: Ladder, tables: Sequence[Titled], notices: Sequence[str]) -> str:
    parts = [f"# Ladder of {ladder.name} beside {ladder.control}, {ladder.notes}", *notices]
    for title, table in tables:
        parts += [f"## {title}", table.as_markdown]
    return visible("\n\n".join(parts)) + "\n"


def _page(ladder: Ladder, tables: Sequence[Titled], notices: Sequence[str]) -> str:
    parts = [head(f"Ladder of {ladder.name}")]
    parts += [filled("<p>{}</p>", notice) for notice in notices]
    parts.append(filled("<figure>{}</figure>", figure(ladder)))
    for title, table in tables:
        parts.append(filled('<h2>{}</h2><div class="scroll"><table><thead><tr>', title))
        parts += [filled("<th>{}</th>", name) for name in table.columns]
        parts.append(filled("</tr></thead><tbody>"))
        for row in table.rows:
            parts.append(filled("<tr>"))
            parts += [filled("<td>{}</td>", cell) for cell in row]
            parts.append(filled("</tr>"))
        parts.append(filled("</tbody></table></div>"))
    return "\n".join(parts) + "\n</body></html>\n"
