"""Agreement of raters, of replicates, of a score with length."""
