"""The figures of a report: each one an inline SVG with its caption and its table."""
