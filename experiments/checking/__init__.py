"""One list of checks: what can be known before anything is sent or written, and what to do."""
