"""Models: pins, clients of providers, and the one shape of a reply."""
