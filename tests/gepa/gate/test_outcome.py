"""What stands beside the held-out figures of a winner: word count, separation, wording."""

from __future__ import annotations

import pytest
from tests.benchmarks.in_process import consultation

from heldout.gepa.candidates import Candidate, Origin, Status
from heldout.gepa.confirmation import Confirmation, HeldoutScores
from heldout.gepa.gate.decide import decide, not_confirmed
from heldout.gepa.gate.outcome import (
    CampaignResult,
    Compared,
    HeldoutResult,
    gate_event,
    measures_of,
)
from heldout.gepa.gate.settings import GateSettings
from heldout.gepa.record.events import DriftEvent, GateEvent
from heldout.gepa.record.kinds import FinishReason
from heldout.gepa.statistics.table import ScoreTable
from heldout.splits.benchmark import CleanMeans

LABELS = tuple(note.label for k in range(20) for note in consultation(k).notes)
GATE = GateSettings()


def side(clean: float, errored: float) -> HeldoutScores:
    scores = tuple(clean if label.is_clean else errored for label in LABELS)
    return HeldoutScores((ScoreTable(LABELS, scores),), None)


def body(
    winner: HeldoutScores,
    *,
    threshold: float = 6.0,
    words: float | None = 0.9,
    means: CleanMeans = CleanMeans.VERIFIED,
    drift: DriftEvent | None = None,
    exploratory: bool = False,
) -> GateEvent:
    baseline = side(7.0, 7.0)
    sides = Compared(winner.judged(threshold), baseline.judged(6.0))
    decision = decide(sides.winner, sides.baseline, GATE, primary="paired_omissions", seed=1)
    accept = measures_of(sides.winner, None, GATE.cap)
    candidate = Candidate("c09", Origin.MUTATION, (), 3, Status.REJECTED, "x", "0" * 64, 1)
    confirmation = Confirmation(winner, None, 1, exploratory, drift)
    found = HeldoutResult(confirmation, baseline, None, sides, accept)
    outcome = CampaignResult(candidate, FinishReason.STALL, decision, found)
    return gate_event(outcome, GATE, word_count=words, clean_means=means, simulated=True)


def test_a_winner_that_beats_the_control_and_separates_has_no_caveat() -> None:
    found = body(side(7.0, 5.0))
    assert (found.decision, found.caveats) == ("emitted", ())
    assert found.simulated is True


def test_a_winner_that_counting_words_beats_says_so() -> None:
    found = body(side(7.0, 5.0), words=1.0)
    assert found.caveats == (
        "counting words orders 1.000 of the held-out omissions rightly, the winner 1.000: "
        "these pairs alone do not show that it reads",
    )


@pytest.mark.parametrize(("threshold", "reason"), [(4.0, "not_above_clean"), (8.0, "over_cap")])
def test_a_threshold_that_does_not_separate_is_of_no_use(threshold: float, reason: str) -> None:
    found = body(side(7.0, 5.0), threshold=threshold)
    assert (found.usable.usable, found.usable.reason) == (False, reason)
    assert found.usable.sentence.startswith("not usable as a flag: ")
    assert "of 40 omissions" in found.usable.sentence
    assert "of 20 clean notes" in found.usable.sentence
    assert found.usable.sentence in found.sentences


def test_flags_on_unedited_notes_are_not_called_false_alarms() -> None:
    text = str(body(side(7.0, 5.0), means=CleanMeans.UNEDITED).sentences)
    assert "flags on unedited notes" in text
    assert "false alarms" not in text
    assert "false alarms" in str(body(side(7.0, 5.0)).sentences)


def test_a_drifted_or_exploratory_confirmation_never_emits() -> None:
    moved = body(side(7.0, 5.0), drift=DriftEvent(notes=2, mean_change=0.5, refuses=True))
    assert (moved.decision, moved.reason) == ("refused", "drift")
    beyond = body(side(7.0, 5.0), exploratory=True)
    assert (beyond.decision, beyond.reason) == ("refused", "exploratory")


def test_without_a_look_there_is_nothing_to_say() -> None:
    candidate = Candidate("c00", Origin.SEED, (), 0, Status.REJECTED, "x", "0" * 64, 1)
    outcome = CampaignResult(candidate, FinishReason.STALL, not_confirmed("seed_won", GATE))
    found = gate_event(
        outcome, GATE, word_count=0.9, clean_means=CleanMeans.UNEDITED, simulated=True
    )
    assert (found.decision, found.reason) == ("not_confirmed", "seed_won")
    assert (found.heldout, found.caveats) == (None, ())
    assert (found.usable.usable, found.usable.reason) == (False, "no_look")
