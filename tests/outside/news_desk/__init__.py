"""A package outside Heldout: judges of news summaries, with parts of its own."""
