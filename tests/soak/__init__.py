"""The full counts behind the claims: `make soak`. Resumable; writes `docs/soak.md`."""
