"""The synthetic benchmark: consultations a deterministic program makes from hidden fact sheets."""

from heldout.splits.synthetic.generate import Draw, Pair, SyntheticDraw, draw

__all__ = ["Draw", "Pair", "SyntheticDraw", "draw"]
