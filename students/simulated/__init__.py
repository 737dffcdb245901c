"""Simulated models: deterministic programs that see only the messages a model would see."""

from heldout.students.simulated.judge import (
    JUDGE_ID,
    PLACEBO_ID,
    SimulatedJudge,
    SimulatedPlacebo,
)

__all__ = ["JUDGE_ID", "PLACEBO_ID", "SimulatedJudge", "SimulatedPlacebo"]
