"""Output contracts that the simulated judge can answer, one module each."""
