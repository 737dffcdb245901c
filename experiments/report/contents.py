"""Everything a report says, computed once from a run; the templates only lay it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from heldout.experiments.report.candidates import title
from heldout.experiments.report.caveats import caveats
from heldout.experiments.report.compared import ComparedBlocks, compared
from heldout.experiments.report.decision import flags_name, headline, sentences, worded
from heldout.experiments.report.figures.paired import agreement, slice_figure
from heldout.experiments.report.figures.progress import progress, separations, spend
from heldout.experiments.report.figures.scores import distributions, length
from heldout.experiments.report.figures.svg import Chart
from heldout.experiments.report.figures.thresholds import thresholds
from heldout.experiments.report.text import Piece, Shown, TextPolicy, word_diff
from heldout.experiments.report.words import (
    DASH,
    Table,
    interval_text,
    number,
    percent,
    signed,
    thousands,
)
from heldout.gepa.gate.decision import FamilyMember
from heldout.gepa.record.events import GateEvent
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.measures import AtThreshold, Measures
from heldout.gepa.statistics.rates.detection import AtRule
from heldout.gepa.statistics.tests.optimism import selection_optimism
from heldout.splits.counted import counted


@dataclass(frozen=True, slots=True)
class Tile:
    """One figure of the overview, with the words under it."""

    figure: str
    words: str


@dataclass(frozen=True, slots=True)
class Block:
    """The block before and after: the baseline's text and the winner's, and what changed."""

    before_title: str
    before: Shown
    after_title: str
    after: Shown
    diff: tuple[Piece, ...] | None


@dataclass(frozen=True)
class Report:
    """One report. Figures and tables are None where a run has not come that far."""

    name: str
    run_id: str
    decision: str | None
    simulated: str
    headline: str
    sentences: Sequence[str]
    tiles: Sequence[Tile]
    caveats: Sequence[str]
    figures: Sequence[Chart]
    sides: Table | None
    rules: Table | None
    family: Table | None
    measures: Table | None
    optimism: Table | None
    unanswered: Table | None
    looks: Table
    provenance: Table
    block: Block | None


def report_of(run: Run, policy: TextPolicy = TextPolicy.FULL) -> Report:
    """The report of a run as far as it has come, under `policy`."""
    blocks = compared(run)
    decided = run.gate if run.gate is not None and run.gate.heldout else None
    return Report(
        name=run.opened.name,
        run_id=run.opened.run_id,
        decision=run.decision,
        simulated=run.simulated_tag,
        headline=headline(run),
        sentences=sentences(run),
        tiles=_tiles(run, blocks),
        caveats=caveats(run, blocks),
        figures=_figures(run, blocks),
        sides=None if decided is None else _side_conditions(run, decided),
        rules=None if decided is None else _rules(decided),
        family=family_table(run.family) if run.family else None,
        measures=_measures(run),
        optimism=None if blocks is None else _optimism(run, blocks),
        unanswered=_unanswered(run),
        looks=_looks(run),
        provenance=_provenance(run),
        block=None if blocks is None else _block(blocks, policy),
    )


def _figures(run: Run, blocks: ComparedBlocks | None) -> list[Chart]:
    found: list[Chart | None] = []
    if blocks is not None and run.settings is not None:
        found += [
            agreement(blocks),
            thresholds(blocks, run.settings.gate.cap, flags_name(run)),
            slice_figure(blocks),
            distributions(blocks),
            length(run, blocks),
        ]
    found += [progress(run), separations(run), spend(run)]
    return [figure for figure in found if figure is not None]


def _tiles(run: Run, blocks: ComparedBlocks | None) -> list[Tile]:
    tiles = []
    heldout = run.heldout
    if heldout is not None and blocks is not None and run.partition is not None:
        figures = [number(m.primary(run.primary)) for m in (heldout.baseline, heldout.winner)]
        tiles.append(Tile(" → ".join(figures), f"{blocks.measure} on held-out, baseline to winner"))
        level = f"{100 * heldout.difference.level:.4g}%" if heldout.difference else ""
        shown = interval_text(heldout.difference, sign=True)
        tiles.append(Tile(shown, f"difference with its {level} interval"))
        tiles.append(
            Tile(f"{heldout.looks} of {run.partition.planned_looks}", "planned looks used")
        )
    counts = run.candidates
    tiles.append(Tile(f"{counts.entered} of {counts.proposed}", "proposals entered"))
    if run.spent is not None:
        usd = run.spent.usd
        cost = "price unknown" if usd is None else f"{usd:.2f} USD"
        tiles.append(Tile(thousands(run.spent.calls), f"calls, {cost}"))
    return tiles


def _side_conditions(run: Run, gate: GateEvent) -> Table:
    rows = [
        [
            worded(run, side.measure.replace("_", " ")),
            side.state.replace("_", " "),
            interval_text(side.interval, sign=True),
            f"{side.margin:g}",
            side.n,
            side.consultations,
        ]
        for side in gate.sides
    ]
    columns = ["side measure", "state", "winner minus baseline", "margin", "n", "consultations"]
    return Table.of(columns, rows)


def _rules(gate: GateEvent) -> Table:
    rows = [
        [
            f"{verdict.rule}{' (chosen)' if verdict.rule == gate.rule else ''}",
            "ships" if verdict.ships else "does not ship",
            interval_text(verdict.interval, sign=True),
            number(verdict.p, 4),
        ]
        for verdict in gate.verdicts
    ]
    return Table.of(["rule", "verdict", "interval", "one-sided p"], rows)


def family_table(members: Sequence[FamilyMember]) -> Table:
    """The members of a family with their figures, as they are and adjusted."""
    rows = [
        [
            member.name,
            "shown" if member.shown else "not shown",
            interval_text(member.difference, sign=True),
            number(member.p, 4),
            number(member.adjusted, 4),
        ]
        for member in members
    ]
    return Table.of(["target", "verdict", "difference", "one-sided p", "adjusted p"], rows)


def _measures(run: Run) -> Table | None:
    """The measures of baseline and winner on both splits."""
    if run.accept is None:
        return None
    columns = [("baseline, accept", run.accept.baseline), ("winner, accept", run.accept.winner)]
    if run.heldout is not None:
        columns += [
            ("baseline, held-out", run.heldout.baseline),
            ("winner, held-out", run.heldout.winner),
        ]
    columns += [(f"word count, {split}", found.measures) for split, found in run.controls.items()]
    rows = [[name, *(form(found) for _, found in columns)] for name, form in _MEASURES]
    return Table.of(["measure", *(name for name, _ in columns)], rows)


def _detection(at: AtRule | AtThreshold | None) -> str:
    return percent(None if at is None else at.detection)


def _flags(at: AtRule | AtThreshold | None) -> str:
    return percent(None if at is None else at.false_alarms)


_MEASURES: tuple[tuple[str, Callable[[Measures], str]], ...] = (
    ("paired omissions", lambda m: number(m.paired_omissions)),
    ("paired commissions", lambda m: number(m.paired_commissions)),
    ("detection at the frozen threshold", lambda m: _detection(m.at_threshold)),
    ("clean notes flagged there", lambda m: _flags(m.at_threshold)),
    ("detection at the design's rule", lambda m: _detection(m.at_rule)),
    ("clean notes flagged by it", lambda m: _flags(m.at_rule)),
    ("swept detection", lambda m: percent(m.swept.detection)),
    ("clean notes flagged there, swept", lambda m: percent(m.swept.false_alarms)),
    ("judgings without a score", lambda m: percent(m.violations)),
)


def _optimism(run: Run, blocks: ComparedBlocks) -> Table:
    """How much accept overstates: from choosing the best, and as it turned out."""
    tables = [t for c in run.entered if (t := run.accept_table(c.id)) is not None]
    rng = generator(run.opened.seed, "report", "optimism")
    chosen = selection_optimism(tables, rng, select=blocks.primary)
    rows = [
        [
            "from choosing the best of the candidates",
            DASH if chosen is None else signed(chosen.value),
            DASH if chosen is None else chosen.made_from,
        ]
    ]
    accept, heldout = run.accept, run.heldout
    if accept is not None and heldout is not None:
        for who, before, after in (
            ("winner", accept.winner, heldout.winner),
            ("baseline", accept.baseline, heldout.baseline),
        ):
            old, new = before.primary(run.primary), after.primary(run.primary)
            seen = None if old is None or new is None else old - new
            rows.append([f"accept minus held-out, {who}", signed(seen), "as it turned out"])
    return Table.of(["optimism", "value", "made from"], rows)


def _unanswered(run: Run) -> Table | None:
    """Judgings without a score by purpose and outcome; `truncated` is a starved budget."""
    found: dict[str, Counter[str]] = {}
    judged: Counter[str] = Counter()
    for evaluation in run.evaluations:
        judged[evaluation.purpose] += len(evaluation.scores)
        found.setdefault(evaluation.purpose, Counter()).update(evaluation.violations.values())
    if not found:
        return None
    kinds = ("truncated", "contract_violation", "refused")
    rows = [
        [purpose, judged[purpose], *(counts[kind] for kind in kinds)]
        for purpose, counts in found.items()
    ]
    columns = ["purpose", "notes judged", "cut at the token cap (starved)"]
    return Table.of([*columns, "contract violations", "refusals"], rows)


def _looks(run: Run) -> Table:
    rows = [
        [
            look.kind,
            look.look,
            look.block[:12],
            "yes" if look.exploratory else "no",
            look.bought_by or "this run",
        ]
        for look in run.looks
    ]
    return Table.of(["look", "id", "block", "exploratory", "bought by"], rows)


def _calls(run: Run) -> list[list[object]]:
    """What was asked of models, every fault counted; nothing before a session has ended."""
    calls = run.calls
    if not calls.requests and not calls.from_store:
        return []
    told = ", ".join(f"{kind} {count}" for kind, count in calls.faults.items())
    return [
        ["requests", f"{calls.requests}, {calls.from_store} more answers from the store"],
        ["faults of infrastructure", told or "none"],
        ["in flight at a kill", ", ".join(calls.maybe_twice) or "nothing"],
        *([["calls with estimated tokens", calls.estimated]] if calls.estimated else []),
    ]


def _provenance(run: Run) -> Table:
    opened, student = run.opened, run.opened.student
    budget = student.budget
    effort = budget.reasoning_effort or "none"
    rows: list[list[object]] = [
        ["run", opened.run_id],
        ["status", f"{run.status} ({run.finish_reason or 'not ended'})"],
        ["seed", opened.seed],
        ["student", f"{student.design or 'not recorded'}, {student.model}"],
        ["student budget", f"{budget.max_tokens} tokens, effort {effort}"],
        ["reflector", opened.reflector.model],
        ["frame SHA-256", DASH if run.settings is None else run.settings.frame_sha256],
        ["configuration SHA-256", opened.config_sha256],
        ["sources SHA-256", opened.source_sha256],
        ["commit", opened.commit or DASH],
        ["partition SHA-256", DASH if run.partition is None else run.partition.manifest_sha256],
    ]  # fmt: skip
    for name, split in run.partition.splits.items() if run.partition else ():
        size = f"{counted(split.consultations, 'consultation')}, {counted(split.notes, 'note')}"
        rows.append([f"split {name}", f"{size}, {split.digest}"])
    for path, digest in (opened.parts or {}).items():
        rows.append([f"source of {path}", digest])
    rows += [
        *_calls(run),
        ["lineage SHA-256", run.lineage_sha256],
        ["journal head", run.events[-1].hash],
        ["versions", ", ".join(f"{k} {v}" for k, v in opened.versions.items())],
    ]
    return Table.of(["", ""], rows)


def _block(blocks: ComparedBlocks, policy: TextPolicy) -> Block | None:
    if len(blocks.all) < 2:
        return None
    before, after = (block.candidate for block in blocks.all)
    if before.block is None or after.block is None:
        return None
    shown = policy is not TextPolicy.NONE
    return Block(
        before_title=title(before),
        before=policy.block(before.block),
        after_title=title(after),
        after=policy.block(after.block),
        diff=word_diff(before.block, after.block) if shown else None,
    )
