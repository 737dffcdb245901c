"""The gate: settings, rules, and the decision on held-out data."""
