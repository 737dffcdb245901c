"""Simulated models: deterministic programs that see only the messages a model would see."""
