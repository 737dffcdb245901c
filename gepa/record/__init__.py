"""The record of a run: typed events, the journal they stand in, and the read model."""
