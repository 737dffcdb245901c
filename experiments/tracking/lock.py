"""One writer a run: MLflow itself would let two of them make every run twice."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from heldout.splits.errors import BadInput

WAIT_S = 10.0


@contextmanager
def tracking_lock(run_dir: Path) -> Iterator[None]:
    """Hold the run's tracking for this process.

    Raises BadInput when another process keeps it for more than ten seconds, or the folder cannot
    be written.
    """
    lock = FileLock(run_dir / ".tracking.lock")
    try:
        lock.acquire(timeout=WAIT_S)
    except Timeout:
        raise BadInput.one(
            str(run_dir), "another process is recording this run in MLflow; wait for it"
        ) from None
    except OSError as error:
        raise BadInput.one(str(run_dir), f"cannot be written ({error.strerror})") from error
    try:
        yield
    finally:
        lock.release()
