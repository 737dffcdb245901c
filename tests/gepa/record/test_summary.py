"""A run in few words: the decision with its reason, and a card that cannot be broken out of."""

from __future__ import annotations

from pathlib import Path

import pytest

from heldout.gepa.record.summary import card, decision_sentence


@pytest.mark.parametrize(
    ("decision", "reason", "expected"),
    [
        ("emitted", None, "emitted: held-out data agrees"),
        ("refused", "gate", "refused: the held-out difference does not pass the gate"),
        ("refused", "side:false_alarms", "harm on a side measure is shown: false alarms"),
        ("not_confirmed", "seed_won", "no proposal beat the seeds on accept"),
    ],
)
def test_a_decision_comes_with_its_reason(decision, reason, expected) -> None:
    assert expected in decision_sentence(decision, reason)


def test_every_text_of_a_card_is_escaped() -> None:
    odd = "<script>&\"'"
    shown = card(odd, [(odd, odd)], (odd, Path('/runs/a"b<c>')))
    assert "<script>" not in shown
    assert shown.count("&lt;script&gt;&amp;&quot;&#x27;") == 4
    assert 'href="file:///runs/a%22b%3Cc%3E"' in shown
