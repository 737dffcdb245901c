"""The practitioner's half: re-run a block at other budgets, calibrate, apply, take it away."""
