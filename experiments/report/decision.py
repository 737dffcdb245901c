"""The decision as a person says it."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.experiments.report.view import Body, RunView
from heldout.experiments.report.words import interval_text, number
from heldout.gepa.record.events import EventKind
from heldout.splits.benchmark import CleanMeans

FALSE_ALARMS = "false alarms"
SIMULATED = "Simulated result: the models are programs, not language models."

REASONS = {
    "gate": "the held-out data do not show that it is better",
    "seed_won": "no proposal beat the seeds on accept, so no held-out look was bought",
    "pre_gate": "it did not beat the baseline on accept, so no held-out look was bought",
    "drift": "the baseline judged afresh did not agree with itself",
    "exploratory": "the held-out set had been looked at before, so this run is exploratory",
}


def headline(view: RunView) -> str:
    """The decision in one sentence."""
    gate = view.last(EventKind.GATE)
    if gate is None:
        return _undecided(view)
    winner = view.winner
    who = "the winner" if winner is None else f"{winner['id']} ({winner['kind']})"
    if gate["decision"] == "emitted":
        return f"Emitted: {who} beats the baseline on held-out data, {_difference(gate)}."
    word = "Refused" if gate["decision"] == "refused" else "Not confirmed"
    figure = f", {_difference(gate)}" if gate["difference"] else ""
    why = worded(view, reason_text(gate["reason"]))
    return f"{word}: {who} is not shipped, because {why}{figure}."


def flags_name(view: RunView) -> str:
    """What flags on clean notes are called on this benchmark."""
    means = view.partition.get("benchmark", {}).get("clean_means", CleanMeans.UNEDITED)
    return FALSE_ALARMS if means == CleanMeans.VERIFIED else "flags on unedited notes"


def worded(view: RunView, sentence: str) -> str:
    """A sentence of the gate, with flags on clean notes called what they are here."""
    return sentence.replace(FALSE_ALARMS, flags_name(view))


def reason_text(reason: str | None) -> str:
    """A reason of the gate in words."""
    if reason is None:
        return "the rule is satisfied"
    if reason.startswith("side:"):
        measure = reason.removeprefix("side:").replace("_", " ")
        return f"harm on a side measure is shown: {measure}"
    return REASONS.get(reason, reason)


def sentences(view: RunView) -> Sequence[str]:
    """What stands under the headline: the gate's own sentences, and that it is simulated."""
    gate = view.last(EventKind.GATE)
    lines = [] if gate is None else [worded(view, s) for s in gate.get("sentences", ())]
    return [SIMULATED, *lines] if view.simulated else lines


def _difference(gate: Body) -> str:
    return f"paired difference {interval_text(gate['difference'], sign=True)}"


def _undecided(view: RunView) -> str:
    best = max((b["accept"]["paired_omissions"] or 0.0 for b in view.entered), default=None)
    figure = "" if best is None else f", best on accept so far {number(best)}"
    done = len(view.iterations)
    if view.status == "running":
        return f"No decision yet: {done} iterations done{figure}."
    return f"No decision: {view.status} ({view.finish_reason}) after {done} iterations{figure}."
