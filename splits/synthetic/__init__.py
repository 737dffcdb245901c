"""The synthetic benchmark: consultations a deterministic program makes from hidden fact sheets."""

from heldout.splits.synthetic.generate import Draw, Pair, SyntheticDraw, draw
from heldout.splits.synthetic.release import consultations_beside, write_jsonl

__all__ = ["Draw", "Pair", "SyntheticDraw", "consultations_beside", "draw", "write_jsonl"]
