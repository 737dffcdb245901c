"""The decision as a person says it."""

from __future__ import annotations

from collections.abc import Sequence

from heldout.experiments.report.words import interval_text, number
from heldout.gepa.gate.outcome import FALSE_ALARMS, UNEDITED_FLAGS
from heldout.gepa.record.run import Run
from heldout.gepa.record.summary import SIMULATED
from heldout.splits.benchmark import CleanMeans
from heldout.splits.counted import counted

SIMULATED_RESULT = {
    SIMULATED: "Simulated result: the models are programs, not language models.",
}


def headline(run: Run) -> str:
    """The decision in one sentence."""
    gate, winner = run.gate, run.winner
    if gate is None:
        return _undecided(run)
    who = "" if winner is None else f" Winner {winner.id} ({winner.kind})"
    figure = f", difference {interval_text(gate.difference, sign=True)}" if gate.difference else ""
    said = worded(run, run.sentence)
    return f"{said[:1].upper()}{said[1:]}.{who}{figure}."


def flags_name(run: Run) -> str:
    """What flags on clean notes are called on this benchmark."""
    verified = run.partition and run.partition.benchmark.clean_means is CleanMeans.VERIFIED
    return FALSE_ALARMS if verified else UNEDITED_FLAGS


def worded(run: Run, sentence: str) -> str:
    """A sentence of the gate, with flags on clean notes called what they are here."""
    return sentence.replace(FALSE_ALARMS, flags_name(run))


def sentences(run: Run) -> Sequence[str]:
    """What stands under the headline: the gate's own sentences, and what is simulated."""
    lines = [] if run.gate is None else [worded(run, line) for line in run.gate.sentences]
    lines += [f"{run.unusable_words}."] if run.unusable_words else []
    words = run.simulated_words
    return [SIMULATED_RESULT.get(words, f"In part simulated: {words}."), *lines] if words else lines


def _undecided(run: Run) -> str:
    scored = [c.accept.paired_omissions or 0.0 for c in run.entered if c.accept]
    figure = f", best on accept so far {number(max(scored))}" if scored else ""
    done = len(run.iterations)
    if run.status == "running":
        return f"No decision yet: {counted(done, 'iteration')} done{figure}."
    return (
        f"No decision: {run.status} ({run.finish_reason}) after "
        f"{counted(done, 'iteration')}{figure}."
    )
