"""A run in few words: its decision in a sentence, its figures, the card that a notebook shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from heldout.gepa.gate.reasons import reason_words
from heldout.gepa.record.events import LeftOutEvent, MeasuresPair
from heldout.gepa.settings import Primary
from heldout.gepa.statistics.intervals.interval import Interval

MEANING = {
    "emitted": "emitted: held-out data agrees",
    "refused": "refused",
    "not_confirmed": "not confirmed",
}
NOT_REAL = "no figure here is about a real one"
SIMULATED = f"simulated models: {NOT_REAL}"
SIMULATED_JUDGE = f"simulated model: {NOT_REAL}"
"""Where every model is a program: several of them, or the judge alone."""
PROGRAM = "sim/"
"""What the ids of models that are programs begin with."""
CARD = "border:1px solid currentColor;border-radius:6px;padding:.6em 1em;display:inline-block"
CELL = "text-align:left;padding:.1em 1em .1em 0;vertical-align:top"


def simulated_words(models: Mapping[str, str]) -> str | None:
    """What is simulated among `models` (role to model id), model by model; None where nothing is.

    Figures are about a real model only where the judge is one.
    """
    programs = {role: id_ for role, id_ in models.items() if id_.startswith(PROGRAM)}
    if not programs:
        return None
    if len(programs) == len(models):
        return SIMULATED if len(models) > 1 else SIMULATED_JUDGE
    real = {role: id_ for role, id_ in models.items() if role not in programs}
    told = [
        _are(roles, f"a program ({id_})", f"one program ({id_})") for id_, roles in _by_id(programs)
    ]
    told += [_are(roles, id_, id_) for id_, roles in _by_id(real)]
    return "; ".join([*told, *([NOT_REAL] if "judge" in programs else [])])


def simulated_tag(models: Mapping[str, str]) -> str:
    """The same in two words, for a heading; an empty text where nothing is simulated."""
    programs = [role for role, id_ in models.items() if id_.startswith(PROGRAM)]
    if not programs:
        return ""
    whole = "models" if len(models) > 1 else "model"
    return f"simulated {whole if len(programs) == len(models) else _listed(programs)}"


def _by_id(models: Mapping[str, str]) -> list[tuple[str, list[str]]]:
    """Roles by the model that plays them."""
    found: dict[str, list[str]] = {}
    for role, id_ in models.items():
        found.setdefault(id_, []).append(role.replace("_", " "))
    return list(found.items())


def _are(roles: Sequence[str], one: str, several: str) -> str:
    listed = _listed([f"the {role}" for role in roles])
    return f"{listed} is {one}" if len(roles) == 1 else f"{listed} are {several}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


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
    return f"{MEANING[decision]}: {reason_words(reason)}"


def left_out_in_words(left_out: Sequence[LeftOutEvent]) -> list[str]:
    """What a report says of notes that went unanswered, a line each note and block."""
    lines = []
    for event in left_out:
        where = f"note {event.note} of {event.split} was not answered"
        if event.under_baseline:
            lines.append(f"{where} under the baseline either: its pairs are in no figure")
        else:
            block = event.candidate or "the baseline judged afresh"
            lines.append(f"{where} under {block} alone: it counts there as a loss")
    return list(dict.fromkeys(lines))


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
    values = (found.baseline.primary(primary), found.winner.primary(primary))
    shown = ["n/a" if value is None else f"{value:.3f}" for value in values]
    return f"{primary.replace('_', ' ')} {shown[0]} (baseline) to {shown[1]} (winner)"
