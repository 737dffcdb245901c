"""The study's judge designs, composed from the parts in `heldout.students`."""
