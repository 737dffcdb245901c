"""`heldout judge`: designs judged on a named set of notes, with their costs."""
