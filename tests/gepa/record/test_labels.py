"""Labels as the partition event holds them, there and back."""

from __future__ import annotations

import json

import pytest
from tests.benchmarks.in_process import consultation

from heldout.gepa.record.labels import label_body, label_of


@pytest.mark.parametrize("number", range(5))
def test_a_label_survives_the_journal(number: int) -> None:
    label = consultation(1).notes[number].label
    body = json.loads(json.dumps(label_body(label, "accept")))
    assert body["split"] == "accept"
    assert label_of(label.id, body) == label
