"""A run in few words: its decision in a sentence, its figures, the card that a notebook shows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from heldout.gepa.record.events import MeasuresPair
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.intervals.interval import Interval

MEANING = {
    "emitted": "emitted: held-out data agrees",
    "refused": "refused",
    "not_confirmed": "not confirmed",
}
REASONS = {
    "gate": "the held-out difference does not pass the gate",
    "drift": "the baseline scored differently when judged again",
    "exploratory": "the planned looks were used up, so the run is exploratory",
    "seed_won": "a seed won on accept, there is nothing to confirm",
    "pre_gate": "accept showed no gain, so the held-out look was not bought",
}
SIMULATED = "simulated models: no figure here is about a real one"
CARD = "border:1px solid currentColor;border-radius:6px;padding:.6em 1em;display:inline-block"
CELL = "text-align:left;padding:.1em 1em .1em 0;vertical-align:top"


def card(heading: str, rows: Sequence[tuple[str, str]], link: tuple[str, Path] | None) -> str:
    """A small HTML card: `heading` first, then a row a fact. Every text is escaped."""
    cells = "".join(
        f'<tr><th style="{CELL}">{escape(name)}</th><td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    more = ""
    if link is not None:
        words, target = link
        more = f'<div><a href="{escape(target.as_uri())}" target="_blank">{escape(words)}</a></div>'
    return (
        f'<div style="{CARD}"><div><strong>{escape(heading)}</strong></div>'
        f"<table>{cells}</table>{more}</div>"
    )


def decision_sentence(decision: str, reason: str | None) -> str:
    """The decision with its reason in one sentence."""
    if reason is None:
        return MEANING[decision]
    harmed = reason.removeprefix("side:").replace("_", " ")
    told = REASONS.get(reason, f"harm is shown on a side condition ({harmed})")
    return f"{MEANING[decision]}: {told}"


def figures_in_words(
    accept: MeasuresPair | None,
    heldout: MeasuresPair | None,
    difference: Interval | None,
    primary: Primary,
) -> list[tuple[str, str]]:
    """Accept and held-out figures of the primary pairs, each beside its name.

    The interval of the held-out difference follows without one.
    """
    rows = []
    if accept:
        rows.append(("Accept", _pair(accept, primary)))
    if heldout:
        rows.append(("Held-out", _pair(heldout, primary)))
    if heldout and difference:
        ends = f"[{difference.low:+.3f}, {difference.high:+.3f}] at level {difference.level:g}"
        rows.append(("", f"difference {difference.estimate:+.3f} {ends}"))
    return rows


def _pair(found: MeasuresPair, primary: Primary) -> str:
    values = (found.baseline.paired(primary), found.winner.paired(primary))
    shown = ["n/a" if value is None else f"{value:.3f}" for value in values]
    return f"{primary.replace('_', ' ')} {shown[0]} (baseline) to {shown[1]} (winner)"
