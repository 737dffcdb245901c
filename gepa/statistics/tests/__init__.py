"""Tests, and what they can resolve."""
