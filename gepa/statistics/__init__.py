"""Measures over score tables and their uncertainty; pure functions, no models, no files."""
