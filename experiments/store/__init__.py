"""Stored calls as a person handles them: listed, moved, checked against a journal."""
