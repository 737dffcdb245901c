"""A PostgreSQL of the tests' own: a new cluster on a socket in a temporary folder.

Debian's `postgresql` package brings the programs; where they are missing, the tests that need them
are skipped and say so (CONTRIBUTING.md).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SETTINGS = "-c listen_addresses='' -c fsync=off -c max_connections=50 -c log_min_messages=fatal"


def program(name: str) -> str | None:
    """Where a program of the server is; Debian keeps them out of the path."""
    versions = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(versions[0]) if versions else shutil.which(name)


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of an empty database that lives as long as the block."""
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    if initdb is None or pg_ctl is None:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    # The path of a socket may not be longer than about 100 characters.
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    as_user: list[str] = []
    if os.geteuid() == 0:
        # The server refuses to run as root; the package makes this user.
        shutil.chown(folder, "postgres")
        as_user = ["runuser", "-u", "postgres", "--"]
    data = folder / "data"

    def run(*command: str) -> None:
        done = subprocess.run(
            [*as_user, *command], check=False, capture_output=True, text=True, cwd=folder
        )
        assert done.returncode == 0, done.stderr

    try:
        run(initdb, "-D", str(data), "-U", "heldout", "--auth=trust", "--no-sync", "-E", "UTF8")
        options = f"{SETTINGS} -k {folder}"
        run(pg_ctl, "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
        try:
            yield f"postgresql+psycopg://heldout@/postgres?host={folder}"
        finally:
            run(pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
