"""What `resume --leave-out` may name: notes that the stop named, and few of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from heldout.gepa.leaving_out import most_left_out
from heldout.gepa.record.remarks import StoppedEvent
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, Fault

OPTION = "--leave-out"


def named_by_stop(run: Run) -> tuple[str, ...]:
    """The notes that were not answered when the run stopped."""
    stopped = run.newest(StoppedEvent)
    return () if stopped is None or run.finished else tuple(stopped.unanswered or ())


def left_out_of(run: Run, names: Sequence[str]) -> tuple[str, ...]:
    """The notes to leave out of `run`, each once.

    Raises BadInput for a note that the stop did not name, and for more than 2% of a split, except a
    single one.
    """
    named, asked = named_by_stop(run), tuple(dict.fromkeys(names))
    told = f"it named {', '.join(named)}" if named else "it named none"
    faults = [
        Fault(OPTION, f"{note} was not named when the run stopped; {told}")
        for note in asked
        if note not in named
    ]
    splits = Counter(run.split_of.values())
    out = Counter(run.split_of[note] for note in {*asked, *run.allowed} if note in run.split_of)
    faults += [
        Fault(
            OPTION,
            f"{count} of the {splits[split]} notes of {split} would be left out; at most "
            f"{most_left_out(splits[split])} may be",
        )
        for split, count in out.items()
        if asked and count > most_left_out(splits[split])
    ]
    if faults:
        raise BadInput(faults)
    return asked
