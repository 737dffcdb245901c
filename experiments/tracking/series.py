"""Metric series of the parent run over budget spent, in sections reflect, accept, heldout, budget.

Replayed from the journal with its own times, so that writing a series again adds no point.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from heldout.experiments.report.view import Body, Moment, RunView, milliseconds
from heldout.experiments.report.words import rate
from heldout.experiments.tracking.content import Point
from heldout.gepa.candidates import Status
from heldout.gepa.record.events import Event, EventKind


def series(view: RunView) -> Iterator[Point]:
    """Every point of the parent run, in the order of events."""
    calls = 0
    for event in view.events:
        if event.kind is EventKind.EVALUATION:
            calls += event.body["spent"]["calls"]
        elif event.kind is EventKind.ITERATION:
            calls = event.body["spent"]["calls"]
        yield from event_points(event, Moment(milliseconds(event.time), calls))


def event_points(event: Event, at: Moment) -> Iterator[Point]:
    """The points one event adds."""
    figures = {
        EventKind.CANDIDATE: _candidate,
        EventKind.ITERATION: _iteration,
        EventKind.WINNER: _winner,
        EventKind.GATE: _gate,
        EventKind.FINISHED: _finished,
    }.get(event.kind)
    if figures is None:
        return
    for key, value in figures(event.body):
        if value is not None:
            yield Point(key, float(value), at.time_ms, at.calls)


Figures = Iterator[tuple[str, float | None]]


def _candidate(body: Body) -> Figures:
    if body["minibatch"]:
        for key, value in body["minibatch"].items():
            side, name = key.split("_", 1)
            yield f"reflect/{name}_{side}", value
    if body["status"] == Status.ENTERED:
        yield from _accept("accept/entry_", body["accept"])


def _accept(prefix: str, measures: Body) -> Figures:
    yield f"{prefix}paired_omissions", measures["paired_omissions"]
    yield f"{prefix}paired_commissions", measures["paired_commissions"]
    yield f"{prefix}swept_detection", rate(measures["swept"]["detection"])


def _winner(body: Body) -> Figures:
    """The winner's figures, under the names that the candidates' own runs have."""
    yield from _accept("accept/", body["accept"]["winner"])
    yield from _accept("accept/baseline_", body["accept"]["baseline"])


def _iteration(body: Body) -> Figures:
    yield "accept/best", body["best"]
    yield "accept/frontier_size", body["frontier"]
    yield "budget/judgements", body["judgements"]
    yield from _spent(body["spent"])


def _spent(spent: Body) -> Figures:
    for key in ("calls", "tokens", "usd"):
        yield f"budget/{key}", spent[key]


def _gate(body: Body) -> Figures:
    if body["difference"]:
        for key in ("estimate", "low", "high"):
            yield f"heldout/difference_{key}", body["difference"][key]
    for side in ("baseline", "winner"):
        if body["heldout"]:
            yield from _heldout(side, body["heldout"][side])


def _heldout(side: str, measures: Body) -> Figures:
    yield f"heldout/{side}_paired_omissions", measures["paired_omissions"]
    yield f"heldout/{side}_paired_commissions", measures["paired_commissions"]
    yield f"heldout/{side}_swept_detection", rate(measures["swept"]["detection"])
    at: dict[str, Any] = measures["at_threshold"] or {}
    yield f"heldout/{side}_detection", rate(at.get("detection"))
    yield f"heldout/{side}_false_alarms", rate(at.get("false_alarms"))
    yield f"heldout/{side}_violations", rate(measures["violations"])


def _finished(body: Body) -> Figures:
    yield "budget/judgements", body["judgements"]
    yield from _spent(body["spent"])
