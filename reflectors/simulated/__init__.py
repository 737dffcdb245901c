"""The simulated reflector: a deterministic program that sees only the messages it is sent."""
