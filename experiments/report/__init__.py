"""Pages made from a run: report, lineage, candidates. Nothing here keeps state of its own."""

from heldout.experiments.report.pages import write_lineage, write_report

__all__ = ["write_lineage", "write_report"]
