"""`python -m tests.soak`: do what is missing, then write the table."""

from __future__ import annotations

import argparse
import hashlib
import json
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.benchmarks import loopback
from tests.soak.jobs import Job, all_jobs, perform
from tests.soak.reliability import write_counts
from tests.soak.table import write_table
from tests.support import doors, odd_replies

from heldout.experiments.campaigns.provenance import provenance, source_sha256


def main() -> None:
    """Run every job whose result is not there yet for the present sources, then the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", help="only the jobs of one count (emission, placebo, …)")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--results", type=Path, default=Path("soak"))
    parser.add_argument("--table", type=Path, default=Path("docs/soak.md"))
    parser.add_argument("--reliability", type=Path, default=Path("docs/reliability.md"))
    parser.add_argument("--no-table", action="store_true")
    arguments = parser.parse_args()
    folder: Path = arguments.results / sources_digest()[:16]
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [job for job in all_jobs() if arguments.count in (None, job.count)]
    missing = [job for job in jobs if not _file(folder, job).exists()]
    print(f"{len(jobs) - len(missing)} of {len(jobs)} jobs are there, {len(missing)} to do")
    _perform_all(missing, folder, arguments.workers)
    if not arguments.no_table:
        results, made_with = _results(folder, jobs), provenance()
        write_table(results, made_with, arguments.table)
        write_counts(results, made_with, arguments.reliability)
        print(f"wrote {arguments.table} and {arguments.reliability}")


def sources_digest() -> str:
    """Digest of the product and of the jobs: results of other sources are of no use to these."""
    hasher = hashlib.sha256(source_sha256().encode())
    support = [Path(str(module.__file__)) for module in (loopback, doors, odd_replies)]
    for path in sorted([*Path(__file__).parent.glob("*.py"), *support]):
        hasher.update(path.name.encode() + path.read_bytes())
    return hasher.hexdigest()


def _perform_all(jobs: list[Job], folder: Path, workers: int) -> None:
    # A fresh interpreter a worker, so that no job sees another's caches through a fork.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        futures: dict[Future[dict[str, Any]], Job] = {pool.submit(perform, j): j for j in jobs}
        for done, future in enumerate(as_completed(futures), start=1):
            job = futures[future]
            file = _file(folder, job)
            part = file.with_suffix(".part")
            part.write_text(json.dumps(future.result()), encoding="utf-8")
            part.replace(file)
            print(f"[{done}/{len(jobs)}] {job.name}", flush=True)


def _file(folder: Path, job: Job) -> Path:
    return folder / f"{job.name}.json"


def _results(folder: Path, jobs: list[Job]) -> list[tuple[Job, dict[str, Any]]]:
    return [
        (job, json.loads(_file(folder, job).read_text(encoding="utf-8")))
        for job in jobs
        if _file(folder, job).exists()
    ]


if __name__ == "__main__":
    main()
