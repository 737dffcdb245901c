"""The words by which identifiers are known, from `cues.yaml`."""

from __future__ import annotations

from heldout.splits.word_tables import WordTable

CUES = WordTable(__package__, "cues.yaml")
