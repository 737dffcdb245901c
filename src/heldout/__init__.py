"""Heldout: evolve the instruction block of an LLM judge; ship it only on held-out data."""
