"""The same campaign in fresh processes under other conditions: is the lineage the same?"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def lineage_under(folder: Path, concurrency: str, hash_seed: str, threads: str) -> dict[str, Any]:
    """The lineage of ranks_only.yaml under a concurrency, hash seed and number of BLAS threads."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    environment.update(dict.fromkeys(THREAD_VARIABLES, threads))
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "heldout.experiments.cli.main",
            "run",
            "configs/ranks_only.yaml",
            "--run-dir",
            str(folder / "run"),
            "--set",
            f"concurrency={concurrency}",
            "--set",
            "tracking.enabled=false",
            "--json",
        ],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return {"lineage_sha256": json.loads(done.stdout)["lineage_sha256"]}
