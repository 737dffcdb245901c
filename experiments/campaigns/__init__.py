"""Campaigns as a person runs them: configuration, checks, sessions, families, what is told."""
