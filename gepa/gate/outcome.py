"""From what a campaign found to its gate event and to the card of its prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import fisher_exact

from heldout.gepa.candidates import Candidate
from heldout.gepa.confirmation import Confirmation, HeldoutScores
from heldout.gepa.gate.decision import Decision, first_caveats
from heldout.gepa.gate.settings import GateSettings
from heldout.gepa.record.codec import plain
from heldout.gepa.record.events import DriftEvent, GateEvent, HeldoutMeasures, LeftOutEvent
from heldout.gepa.record.kinds import FinishReason
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures, measures
from heldout.gepa.statistics.rates.detection import AtRule
from heldout.gepa.statistics.tests.sides import SideState
from heldout.splits.benchmark import CleanMeans

FALSE_ALARMS = "false alarms"
UNEDITED_FLAGS = "flags on unedited notes"
"""A flag on a note that nobody verified may be right, so it is not called a false alarm."""


@dataclass(frozen=True)
class Compared:
    """Winner and baseline on the same notes, each at its own threshold frozen on accept."""

    winner: Judged
    baseline: Judged


@dataclass(frozen=True)
class HeldoutResult:
    """What the held-out look brought.

    `beside` is the baseline's judging that was not compared, `accept` the winner's figures on
    accept, judged as on held-out.
    """

    confirmation: Confirmation
    baseline: HeldoutScores
    beside: HeldoutScores | None
    compared: Compared
    accept: Measures


@dataclass(frozen=True)
class CampaignResult:
    """A campaign up to its held-out figures: `found` holds them, None where no look was bought.

    `decision` is what the gate makes of them, or why there was no look (`seed_won`, `no_proposal`,
    `pre_gate`).
    """

    winner: Candidate
    reason: FinishReason
    decision: Decision
    found: HeldoutResult | None = None

    def decided(self, decision: Decision) -> CampaignResult:
        """The same findings under a decision adjusted within a family of targets."""
        return replace(self, decision=decision)


def gate_event(
    result: CampaignResult,
    settings: GateSettings,
    *,
    word_count: float | None,
    clean_means: CleanMeans,
    simulated: bool,
) -> GateEvent:
    """The gate event: the decision, every figure behind it, and what stands against it.

    `word_count`: paired omissions on held-out of a judge that counts words. `clean_means`: what the
    benchmark promises of its clean notes. `simulated`: a model was a simulated one.
    """
    found = result.found
    if found is None:
        return GateEvent(
            **vars(result.decision), word_count=word_count, caveats=(), simulated=simulated
        )
    confirmation, compared, cap = found.confirmation, found.compared, settings.cap
    heldout = HeldoutMeasures(
        baseline=measures_of(compared.baseline, found.baseline.flags, cap),
        winner=measures_of(compared.winner, confirmation.winner.flags, cap),
        looks=confirmation.looks,
        exploratory=confirmation.exploratory,
        beside=None if found.beside is None else _beside(found, cap),
    )
    decision = overruled(
        result.decision,
        drift=confirmation.drift,
        exploratory=confirmation.exploratory,
        clean_means=clean_means,
    )
    return GateEvent(
        **vars(decision),
        heldout=heldout,
        drift=confirmation.drift,
        word_count=word_count,
        caveats=(
            *first_caveats(decision),
            *_moved(confirmation.drift),
            *_caveats(heldout.winner, word_count),
        ),
        simulated=simulated,
    )


def _beside(found: HeldoutResult, cap: float) -> Measures | None:
    """Measures of the baseline's other judging, at the baseline's threshold."""
    assert found.beside is not None  # the caller has looked
    threshold = found.compared.baseline.threshold
    return measures_of(found.beside.judged(threshold), found.beside.flags, cap)


def _moved(drift: DriftEvent | None) -> tuple[str, ...]:
    """That the judge moved, where that refuses nothing."""
    if drift is None or not drift.moved or drift.refuses:
        return ()
    change, credit = drift.mean_change or 0.0, drift.credit_change or 0.0
    return (
        f"the judge moved between the two judgings of the baseline: scores by {change:+.3f} of "
        f"their range, the paired figure by {credit:+.3f}; winner and baseline were judged side "
        "by side after it",
    )


def overruled(
    decision: Decision,
    *,
    drift: DriftEvent | None,
    exploratory: bool,
    clean_means: CleanMeans,
) -> Decision:
    """A decision with what lies outside its figures, in the words of the benchmark.

    A drifted or exploratory confirmation never emits. Flags on clean notes that nobody verified
    are not called false alarms.
    """
    if drift is not None and drift.refuses:
        decision = decision.refused("drift")
    if exploratory:
        decision = decision.refused("exploratory")
    return _reworded(decision) if clean_means is CleanMeans.UNEDITED else decision


def _reworded(decision: Decision) -> Decision:
    def said(sentence: str) -> str:
        return sentence.replace(FALSE_ALARMS, UNEDITED_FLAGS)

    return replace(
        decision,
        sides=tuple(replace(side, sentence=said(side.sentence)) for side in decision.sides),
        sentence=said(decision.sentence or ""),
        sentences=tuple(map(said, decision.sentences)),
    )


def _caveats(winner: Measures, words: float | None) -> tuple[str, ...]:
    """What the held-out figures of the winner do not show, from the figures themselves."""
    lines = []
    paired = winner.paired_omissions
    if paired is not None and words is not None and words >= paired:
        lines.append(
            f"counting words orders {words:.3f} of the held-out omissions rightly, the winner "
            f"{paired:.3f}: these pairs alone do not show that it reads"
        )
    at = winner.at_rule
    if at is not None and not _separates(at):
        found, flagged = at.detection, at.false_alarms
        lines.append(
            f"at its design's rule the winner flags {found.k} of {found.n} omissions and "
            f"{flagged.k} of {flagged.n} clean notes: it tells the two hardly apart there"
        )
    return tuple(lines)


def _separates(at: AtRule) -> bool:
    """True if detection exceeds flags on clean notes by more than chance would make it."""
    counts = (at.detection, at.false_alarms)
    table = np.array([[count.k, count.n - count.k] for count in counts])
    detected, flagged = (count.rate or 0.0 for count in counts)
    return detected > flagged and bool(fisher_exact(table, alternative="greater").pvalue < 0.05)


def measures_of(
    judged: Judged, flags: tuple[Mapping[str, bool], ...] | None, cap: float
) -> Measures:
    """Measures at the frozen threshold, with the design's own rule beside it where it has one."""
    by_rule = measures(Judged(judged.tables, flags), cap=cap).at_rule
    return replace(measures(judged, cap=cap), at_rule=by_rule)


def card_body(
    decision: GateEvent,
    *,
    accept: Measures,
    run: Mapping[str, Any],
    spent: Spent,
    caveats: Sequence[str],
    left_out: Sequence[LeftOutEvent] = (),
) -> dict[str, Any]:
    """The card: `run` (hashes, models, budget), threshold, figures, looks, cost, caveats.

    `left_out` are the notes that went unanswered; without any the card does not speak of them.
    """
    heldout = decision.heldout
    assert heldout is not None  # nothing is emitted without a look
    frozen = heldout.winner.at_threshold
    assert frozen is not None  # the winner's threshold is frozen on accept
    unseen = [s.sentence for s in decision.sides if s.state is SideState.NOT_RESOLVABLE]
    return {
        **run,
        "threshold": {
            "rule": "flag a note whose score is below the value; frozen on accept",
            "value": frozen.threshold,
            "heldout": plain(AtRule(frozen.detection, frozen.false_alarms)),
        },
        "accept": plain(accept),
        "heldout": plain(heldout),
        "gate": {
            "rule": decision.rule,
            "goal": decision.goal,
            "alpha": decision.alpha,
            "margin": decision.margin,
            "decision": decision.decision,
            "reason": decision.reason,
            "sentence": decision.sentence,
            "family": plain(decision.family),
        },
        "usable": decision.usable and plain(decision.usable),
        "difference": decision.difference and plain(decision.difference),
        "looks": heldout.looks,
        "spent": plain(spent.rounded()),
        "does_not_show": [*decision.caveats, *caveats, *unseen],
        **({"left_out": left_out_rows(left_out)} if left_out else {}),
    }


def left_out_rows(left_out: Sequence[LeftOutEvent]) -> list[dict[str, Any]]:
    """What a card says of notes that went unanswered, each once a block."""
    rows = {
        (event.note, event.candidate): {
            "note": event.note,
            "split": event.split,
            "candidate": event.candidate,
            "fault": event.fault,
            "counts_as": "left every figure" if event.under_baseline else "a loss of the candidate",
        }
        for event in left_out
    }
    return list(rows.values())
