"""Scores compared, and what a partition can resolve before anything is spent."""
