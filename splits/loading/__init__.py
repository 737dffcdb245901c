"""Benchmarks read from files: every fault at once, each with its file, line and field."""
