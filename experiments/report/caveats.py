"""What a run does not show, generated from facts of its journal."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.experiments.campaigns.calls_told import calls_of
from heldout.experiments.campaigns.starvation import starvation_lines
from heldout.experiments.report.decision import worded
from heldout.experiments.report.sides import Side, Sides
from heldout.experiments.report.view import Body, RunView
from heldout.experiments.report.words import number, signed
from heldout.gepa.record.events import EventKind
from heldout.gepa.record.run import Record
from heldout.gepa.statistics.agreement.length import length_following

GROWN = 1.5
FOLLOWS = 0.5
"""A correlation of scores with words beyond this earns a caveat."""


def caveats(view: RunView, sides: Sides | None) -> list[str]:
    """Every caveat this run has earned, each once, the weightiest first."""
    found = [*_nature(view), *_data(view), *_decision(view)]
    if sides is not None:
        found += _judging(view, sides)
    found += _process(view)
    return list(dict.fromkeys(found))


def _nature(view: RunView) -> Iterator[str]:
    gate = view.last(EventKind.GATE)
    if gate is not None and (gate["heldout"] or {}).get("exploratory"):
        yield (
            "Exploratory: the held-out set had been looked at by other runs before, so nothing "
            "here confirms anything and nothing is emitted."
        )
    if view.decision is None:
        yield f"There is no decision: the run is {view.status}."


def _data(view: RunView) -> Iterator[str]:
    partition = view.partition
    if not partition:
        return
    yield from map(_sentence, [*partition["caveats"], *partition["warnings"]])
    if not partition["benchmark"]["has_transcripts"]:
        yield "The benchmark has no transcripts: a placeholder stood in their place."
    if partition["planned_looks"] > 1:
        yield (
            f"{partition['planned_looks']} looks were planned, so each is tested at alpha divided "
            "by that number."
        )


def _sentence(text: str) -> str:
    """A line of the partition event as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!")) else ".")


def _decision(view: RunView) -> Iterator[str]:
    gate = view.last(EventKind.GATE)
    if gate is None or not gate["heldout"]:
        return
    if gate["finding"] == "could_not_be_seen":
        have = gate["consultations"]["have"]
        hoped = gate["consultations"]["hoped_gain"]
        yield f"{have} consultations could neither show nor exclude a gain of {number(hoped)}."
    yield from map(_sentence, gate["caveats"])
    for side in gate["sides"]:
        if side["state"] == "not_resolvable":
            yield f"Not resolvable: {worded(view, side['sentence'])}."
    plain, interval = gate["winner_minus_baseline"], gate["difference"]
    if interval and plain is not None and abs(plain - interval["estimate"]) > 5e-10:
        yield (
            f"The difference is not winner minus baseline ({signed(plain)}): a pair that a side "
            "left unanswered counts as a loss for the winner and a half for the baseline."
        )
    if gate["rule"] == "point":
        yield "The rule is «point»: it is blind to noise and ships by luck."
    if len(gate["run_to_run"]["winner"]["values"]) < 2:
        yield "Each block was judged once on held-out, so the run-to-run spread is not known."


def _judging(view: RunView, sides: Sides) -> Iterator[str]:
    for side in sides.measured:
        assert side.heldout is not None
        missing = sum(int(table.missing.sum()) for table in side.heldout.tables)
        if missing:
            yield f"{side.name} left {missing} held-out judgings without a score."
    for side in sides.all:
        yield from _follows(view, side)
    if len(sides.all) == 2:
        old, new = (side.candidate["length"] for side in sides.all)
        if new > GROWN * old:
            yield f"The block grew from {old} to {new} characters."


def _follows(view: RunView, side: Side) -> Iterator[str]:
    if any(label.id not in view.words for label in side.accept.labels):
        return
    found = length_following(side.accept, view.words).correlation
    if found is not None and found > FOLLOWS:
        yield (
            f"On accept the scores of {side.name} follow note length within a consultation "
            f"(correlation {signed(found, 2)}), and an omission is shorter than its twin."
        )


def _process(view: RunView) -> Iterator[str]:
    opened = view.opened
    if view.raised:
        yield f"Caps were raised after the start: {', '.join(view.raised)}."
    if opened.get("reuse", "off") != "off":
        yield f"Calls of other runs were used (store.reuse {opened['reuse']})."
    dirty: Body | list[str] = opened.get("dirty") or []
    if dirty:
        yield f"The checkout had {len(dirty)} changed files that no commit holds."
    spent = view.spent
    if spent is not None and spent["usd"] is None:
        yield "The price of some calls is not known, so the cost in USD is not known either."
    for line in starvation_lines(calls_of(Record.of(view.events))["replies"]):
        yield f"Starvation: {line}."
