"""Which consultation is in which split: drawn, frozen, verified at every load."""
