"""Rates: paired discrimination, detection and false alarms, capture."""
