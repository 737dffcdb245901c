"""Public releases, read from a person's own copies, in the form that benchmarks are loaded from."""
