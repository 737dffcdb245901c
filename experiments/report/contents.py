"""Everything a report says, computed once from a run; the templates only lay it out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.experiments.campaigns.calls_told import calls_of
from heldout.experiments.report.candidates import title
from heldout.experiments.report.caveats import caveats
from heldout.experiments.report.decision import flags_name, headline, sentences, worded
from heldout.experiments.report.diff import Piece, word_diff
from heldout.experiments.report.figures.agreement import agreement
from heldout.experiments.report.figures.distributions import distributions
from heldout.experiments.report.figures.length import length
from heldout.experiments.report.figures.progress import progress, separations, spend
from heldout.experiments.report.figures.slices import slice_figure
from heldout.experiments.report.figures.thresholds import thresholds
from heldout.experiments.report.sides import Sides, sides_of
from heldout.experiments.report.tables import Figure, Table
from heldout.experiments.report.text import Shown, TextPolicy
from heldout.experiments.report.view import Body, RunView
from heldout.experiments.report.words import (
    DASH,
    interval_text,
    number,
    percent,
    signed,
    thousands,
)
from heldout.gepa.record.events import EventKind
from heldout.gepa.record.run import Record
from heldout.gepa.statistics.intervals.resampling import generator
from heldout.gepa.statistics.tests.optimism import selection_optimism


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
    simulated: bool
    headline: str
    sentences: Sequence[str]
    tiles: Sequence[Tile]
    caveats: Sequence[str]
    figures: Sequence[Figure]
    sides: Table | None
    rules: Table | None
    measures: Table | None
    optimism: Table | None
    unanswered: Table | None
    looks: Table
    provenance: Table
    block: Block | None


def report_of(view: RunView, policy: TextPolicy = TextPolicy.FULL) -> Report:
    """The report of a run as far as it has come, under `policy`."""
    sides = sides_of(view)
    gate = view.last(EventKind.GATE)
    decided = gate if gate is not None and gate["heldout"] else None
    return Report(
        name=view.name,
        run_id=view.run_id,
        decision=view.decision,
        simulated=view.simulated,
        headline=headline(view),
        sentences=sentences(view),
        tiles=_tiles(view, sides),
        caveats=caveats(view, sides),
        figures=_figures(view, sides),
        sides=None if decided is None else _side_conditions(view, decided),
        rules=None if decided is None else _rules(decided),
        measures=_measures(view),
        optimism=None if sides is None else _optimism(view, sides),
        unanswered=_unanswered(view),
        looks=_looks(view),
        provenance=_provenance(view),
        block=None if sides is None else _block(sides, policy),
    )


def _figures(view: RunView, sides: Sides | None) -> list[Figure]:
    primary = view.settings.get("search", {}).get("primary", "paired_omissions")
    found: list[Figure | None] = []
    if sides is not None:
        cap = view.settings["gate"]["cap"]
        found += [
            agreement(sides),
            thresholds(sides, cap, flags_name(view)),
            slice_figure(sides),
            distributions(sides),
            length(view, sides),
        ]
    found += [progress(view, primary), separations(view), spend(view)]
    return [figure for figure in found if figure is not None]


def _tiles(view: RunView, sides: Sides | None) -> list[Tile]:
    gate = view.last(EventKind.GATE)
    tiles = []
    if gate is not None and gate["heldout"] and sides is not None:
        primary = view.settings["search"]["primary"]
        figures = [number(gate["heldout"][s][primary]) for s in ("baseline", "winner")]
        tiles.append(Tile(" → ".join(figures), f"{sides.measure} on held-out, baseline to winner"))
        level = f"{100 * gate['difference']['level']:.4g}%" if gate["difference"] else ""
        shown = interval_text(gate["difference"], sign=True)
        tiles.append(Tile(shown, f"paired difference with its {level} interval"))
        planned = view.partition["planned_looks"]
        tiles.append(Tile(f"{gate['heldout']['looks']} of {planned}", "planned looks used"))
    proposed = [b for b in view.candidates.values() if b["kind"] != "seed"]
    entered = sum(b["status"] == "entered" for b in proposed)
    tiles.append(Tile(f"{entered} of {len(proposed)}", "proposals entered"))
    if view.spent is not None:
        usd = view.spent["usd"]
        cost = "price unknown" if usd is None else f"{usd:.2f} USD"
        tiles.append(Tile(thousands(view.spent["calls"]), f"calls, {cost}"))
    return tiles


def _side_conditions(view: RunView, gate: Body) -> Table:
    rows = [
        [
            worded(view, side["measure"].replace("_", " ")),
            side["state"].replace("_", " "),
            interval_text(side["interval"], sign=True),
            f"{side['margin']:g}",
            side["n"],
            side["consultations"],
        ]
        for side in gate["sides"]
    ]
    columns = ["side measure", "state", "winner minus baseline", "margin", "n", "consultations"]
    return Table.of(columns, rows)


def _rules(gate: Body) -> Table:
    rows = [
        [
            f"{verdict['rule']}{' (chosen)' if verdict['rule'] == gate['rule'] else ''}",
            "ships" if verdict["ships"] else "does not ship",
            interval_text(verdict["interval"], sign=True),
            number(verdict["p"], 4),
        ]
        for verdict in gate["verdicts"]
    ]
    return Table.of(["rule", "verdict", "interval", "one-sided p"], rows)


def _measures(view: RunView) -> Table | None:
    """The measures object of both sides on both splits."""
    winner, gate = view.last(EventKind.WINNER), view.last(EventKind.GATE)
    if winner is None:
        return None
    columns: list[tuple[str, Body]] = [
        (f"{side}, accept", winner["accept"][side]) for side in ("baseline", "winner")
    ]
    if gate is not None and gate["heldout"]:
        columns += [(f"{s}, held-out", gate["heldout"][s]) for s in ("baseline", "winner")]
    for split, body in view.controls.items():
        columns.append((f"word count, {split}", body["measures"]))
    rows = [[name, *(form(body) for _, body in columns)] for name, form in _MEASURES]
    return Table.of(["measure", *(name for name, _ in columns)], rows)


def _at(body: Body, key: str, name: str) -> Any:
    return body[key][name] if body.get(key) else None


_MEASURES: tuple[tuple[str, Callable[[Body], str]], ...] = (
    ("paired omissions", lambda b: number(b["paired_omissions"])),
    ("paired commissions", lambda b: number(b["paired_commissions"])),
    ("detection at the frozen threshold", lambda b: percent(_at(b, "at_threshold", "detection"))),
    ("clean notes flagged there", lambda b: percent(_at(b, "at_threshold", "false_alarms"))),
    ("detection at the design's rule", lambda b: percent(_at(b, "at_rule", "detection"))),
    ("clean notes flagged by it", lambda b: percent(_at(b, "at_rule", "false_alarms"))),
    ("swept detection", lambda b: percent(b["swept"]["detection"])),
    ("clean notes flagged there, swept", lambda b: percent(b["swept"]["false_alarms"])),
    ("judgings without a score", lambda b: percent(b["violations"])),
)


def _optimism(view: RunView, sides: Sides) -> Table:
    """How much accept overstates: from choosing the best, and as it turned out."""
    tables = [t for b in view.entered if (t := view.accept_table(b["id"])) is not None]
    rng = generator(int(view.opened["seed"]), "report", "optimism")
    chosen = selection_optimism(tables, rng, select=sides.primary)
    rows = [
        [
            "from choosing the best of the candidates (a lower bound)",
            DASH if chosen is None else signed(chosen.value),
            DASH if chosen is None else chosen.made_from,
        ]
    ]
    gate = view.last(EventKind.GATE)
    winner = view.last(EventKind.WINNER)
    if gate is not None and gate["heldout"] and winner is not None:
        primary = view.settings["search"]["primary"]
        for side in ("winner", "baseline"):
            pair = winner["accept"][side][primary], gate["heldout"][side][primary]
            seen = None if None in pair else pair[0] - pair[1]
            rows.append([f"accept minus held-out, {side}", signed(seen), "as it turned out"])
    return Table.of(["optimism", "value", "made from"], rows)


def _unanswered(view: RunView) -> Table | None:
    """Judgings without a score by purpose and outcome; `truncated` is a starved budget."""
    found: dict[str, Counter[str]] = {}
    judged: Counter[str] = Counter()
    for body in view.evaluations():
        judged[body["purpose"]] += len(body["scores"])
        found.setdefault(body["purpose"], Counter()).update(body["violations"].values())
    if not found:
        return None
    kinds = ("truncated", "contract_violation", "refused")
    rows = [
        [purpose, judged[purpose], *(counts[kind] for kind in kinds)]
        for purpose, counts in found.items()
    ]
    columns = ["purpose", "notes judged", "cut at the token cap (starved)"]
    return Table.of([*columns, "contract violations", "refusals"], rows)


def _looks(view: RunView) -> Table:
    rows = [
        [
            look["kind"],
            str(look.get("look", DASH)),
            str(look.get("block", DASH))[:12],
            {True: "yes", False: "no"}.get(look.get("exploratory", None), DASH),
            look.get("bought_by") or "this run",
        ]
        for look in view.looks
    ]
    return Table.of(["look", "id", "block", "exploratory", "bought by"], rows)


def _calls(view: RunView) -> list[list[object]]:
    """What was asked of models, every fault counted; nothing before a session has ended."""
    calls = calls_of(Record.of(view.events))
    if not calls["requests"] and not calls["from_store"]:
        return []
    told = ", ".join(f"{kind} {count}" for kind, count in calls["faults"].items())
    return [
        ["requests", f"{calls['requests']}, {calls['from_store']} more answers from the store"],
        ["faults of infrastructure", told or "none"],
        ["in flight at a kill", ", ".join(calls["maybe_twice"]) or "nothing"],
    ]


def _provenance(view: RunView) -> Table:
    opened, partition = view.opened, view.partition
    student, reflector = opened.get("student", {}), opened.get("reflector", {})
    budget = view.settings.get("budget", {})
    rows: list[list[object]] = [
        ["run", view.run_id],
        ["status", f"{view.status} ({view.finish_reason or 'not ended'})"],
        ["seed", opened.get("seed")],
        ["student", f"{student.get('design')}, {student.get('model')}"],
        ["student budget", f"{budget.get('max_tokens')} tokens, effort "
                           f"{budget.get('reasoning_effort') or 'none'}"],
        ["reflector", reflector.get("model")],
        ["frame SHA-256", view.settings.get("frame_sha256")],
        ["configuration SHA-256", opened.get("config_sha256")],
        ["sources SHA-256", opened.get("source_sha256")],
        ["commit", opened.get("commit") or DASH],
        ["partition SHA-256", partition.get("manifest_sha256")],
    ]  # fmt: skip
    for split, facts in partition.get("splits", {}).items():
        size = f"{facts['consultations']} consultations, {facts['notes']} notes"
        rows.append([f"split {split}", f"{size}, {facts['digest']}"])
    rows += [
        *_calls(view),
        ["lineage SHA-256", view.lineage_sha256],
        ["journal head", view.events[-1].hash],
        ["versions", ", ".join(f"{k} {v}" for k, v in opened.get("versions", {}).items())],
    ]
    return Table.of(["", ""], rows)


def _block(sides: Sides, policy: TextPolicy) -> Block | None:
    if len(sides.all) < 2:
        return None
    before, after = (side.candidate for side in sides.all)
    if before["block"] is None or after["block"] is None:
        return None
    shown = policy is not TextPolicy.NONE
    return Block(
        before_title=title(before),
        before=policy.block(before["block"]),
        after_title=title(after),
        after=policy.block(after["block"]),
        diff=word_diff(before["block"], after["block"]) if shown else None,
    )
