"""Pages made from a run: report, lineage, candidates. Nothing here keeps state of its own."""
