"""What a run directory holds and every command reads: configuration, data, names of files."""
