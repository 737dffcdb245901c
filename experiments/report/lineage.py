"""The lineage page: every candidate over iterations, with all there is to say of each.

The page is one file that loads nothing. Its graph is drawn here, so that it is there without a
script; the script selects, and writes what it shows as text, never as markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from heldout.experiments.report.candidates import CandidatePage, candidate_page, fate, note_name
from heldout.experiments.report.decision import headline
from heldout.experiments.report.lineage_graph import graph_of
from heldout.experiments.report.reflections import Reflections
from heldout.experiments.report.render import embedded_json, page
from heldout.experiments.report.text import Piece, Shown, TextPolicy
from heldout.gepa.record.codec import plain
from heldout.gepa.record.run import Run
from heldout.gepa.reward import win_value
from heldout.splits.visible import visible_in

MOST_REFLECTOR_CHARACTERS = 4_000_000
"""Prompts and answers beyond this in all are left to the candidates' own pages."""
SIGNS = {"same": 0, "added": 1, "removed": -1}

Json = dict[str, Any]


def lineage_page(run: Run, reflections: Reflections, policy: TextPolicy) -> str:
    """`lineage.html` of a run as far as it has come, under `policy`."""
    return page(
        "lineage.html.j2",
        script="lineage.js",
        name=run.opened.name,
        simulated=run.simulated_tag,
        decision=run.decision,
        headline=headline(run),
        graph=graph_of(run),
        measure=run.primary.replace("_", " "),
        data=embedded_json(visible_in(_data(run, reflections, policy))),
    )


def _data(run: Run, reflections: Reflections, policy: TextPolicy) -> Json:
    notes = _accept_notes(run)
    room = MOST_REFLECTOR_CHARACTERS
    candidates = []
    for id_ in run.candidates:
        found = candidate_page(run, id_, reflections, policy)
        exchanges, used = _exchanges(found, room)
        room -= used
        candidates.append(
            {
                **_facts(run, found),
                "exchanges": exchanges,
                "wins": _wins(run, id_, notes),
            }
        )
    shown = [run.labels[id_] for id_ in notes]
    return {
        "notes": [[label.id, note_name(label), label.consultation] for label in shown],
        "candidates": candidates,
        "winner": None if run.winner is None else run.winner.id,
    }


def _accept_notes(run: Run) -> list[str]:
    """Errored notes of accept, in the order of every `wins` string."""
    accept = [id_ for id_, split in run.split_of.items() if split == "accept"]
    kept = run.in_figures(dict.fromkeys(accept))
    return [id_ for id_ in kept if not run.labels[id_].is_clean]


def _facts(run: Run, found: CandidatePage) -> Json:
    body = found.body
    return {
        "id": body.id,
        "title": found.title,
        "kind": body.kind,
        "status": body.status,
        "fate": fate(body),
        "detail": body.detail,
        "iteration": body.iteration,
        "parents": list(body.parents),
        "sha256": body.sha256,
        "length": body.length,
        "accept": body.on_accept(run.primary),
        "commissions": body.accept and body.accept.paired_commissions,
        "minibatch": None if body.minibatch is None else plain(body.minibatch),
        "leads": run.leads.get(body.id, 0),
        "block": None if found.block is None else found.block.or_hash,
        "diffs": {parent.id: _diff(parent.diff) for parent in found.against},
    }


def _diff(pieces: Sequence[Piece] | None) -> list[list[Any]] | None:
    if pieces is None:
        return None
    return [[SIGNS[piece.change], piece.text] for piece in pieces]


def _wins(run: Run, id_: str, notes: list[str]) -> str | None:
    """A digit a note: 2 below its twin, 1 tied, 0 above or unanswered; None if it did not enter."""
    scores = run.accept_scores(id_)
    if scores is None:
        return None
    return "".join(str(int(2 * win_value(run.labels[note], scores))) for note in notes)


def _exchanges(found: CandidatePage, room: int) -> tuple[list[Json], int]:
    """What was asked and answered, as far as there is room; and the characters used."""
    listed, used = [], 0
    for exchange in found.exchanges:
        size = exchange.prompt.length + exchange.reply.length
        fits = used + size <= room
        used += size if fits else 0
        listed.append(
            {
                "stage": exchange.stage,
                "attempt": exchange.attempt + 1,
                "prompt": _text(exchange.prompt, fits),
                "reply": _text(exchange.reply, fits),
            }
        )
    return listed, used


def _text(shown: Shown, fits: bool) -> str:
    if not fits:
        return f"({shown.length} characters, left out for size: see the page of this candidate)"
    return shown.or_hash
