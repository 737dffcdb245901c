"""Caps raised by `resume --set` are told where a run is read."""

from heldout.experiments.report.caveats import _process
from heldout.experiments.report.view import RunView
from heldout.gepa.record.events import Event, EventKind


def test_caps_raised_after_the_start_are_named() -> None:
    view = RunView()
    for index, raised in enumerate((["budget.calls=900"], [], ["budget.usd=3"])):
        body = {"raised": raised}
        view.add(Event(index, "2026-01-01T00:00:00+00:00", EventKind.RESUMED, body, "", ""))
    assert "Caps were raised after the start: budget.calls=900, budget.usd=3." in [*_process(view)]
