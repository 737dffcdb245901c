"""Why a winner was not emitted, in words: the one table that every page and command reads."""

from __future__ import annotations

from collections.abc import Mapping

REASONS: Mapping[str, str] = {
    "gate": "the held-out difference does not pass the gate",
    "gate:too_few": "the held-out consultations are too few for any decision",
    "gate:noise": "the difference is within what one run moves from another",
    "gate:family": "the difference is not shown once the family is adjusted for",
    "gate:usable": "the winner is of no use as a flag",
    "drift": "the baseline scored differently when judged again",
    "exploratory": "the look at held-out was beyond the plan, so the run is exploratory",
    "no_proposal": "no proposal of the reflector was usable, so nothing was searched",
    "seed_won": "no proposal beat the seeds on accept, so no held-out look was bought",
    "pre_gate": "accept showed no gain, so no held-out look was bought",
}


def reason_words(reason: str) -> str:
    """A reason of the gate as a clause; `side:` and a measure for a side condition."""
    if reason in REASONS:
        return REASONS[reason]
    measure = reason.removeprefix("side:").replace("_", " ")
    return f"a side condition refuses it ({measure})"
