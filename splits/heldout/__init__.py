"""The held-out set: the vault that alone opens it, and the record of every look."""
