"""A small campaign on the local model, measured: what a call costs with and without its prefix.

python -m tests.benchmarks.local_model
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from tests.local_server import PORT, local_server

from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.students.calls.call import Stage
from heldout.students.calls.store_rows import StoredCall
from heldout.students.calls.transfer import read_rows

CONFIG = Path("configs/local_model.yaml")


@dataclass(frozen=True, slots=True)
class Group:
    """Calls that found their prefix in the cache, or did not; means a call."""

    name: str
    count: int
    latency_s: float
    prompt: float
    cached: float
    completion: float

    @classmethod
    def of(cls, name: str, rows: Sequence[StoredCall]) -> Group:
        """The means of `rows`, which are not empty."""
        mean = {
            field: fmean(getattr(row, field) for row in rows)
            for field in ("latency_s", "prompt_tokens", "cached_tokens", "completion_tokens")
        }
        return cls(name, len(rows), *mean.values())

    @property
    def line(self) -> str:
        """A row of the table."""
        return (
            f"| {self.name} | {self.count} | {self.prompt:.0f} | {self.cached:.0f} "
            f"| {self.completion:.0f} | {self.latency_s:.1f} |"
        )


def main() -> None:
    """Run the campaign and print the table of docs/models.md."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, local_server(port=PORT, threads=options.threads):
        run = Path(folder) / "run"
        began = time.monotonic()
        ended = start(prepare(CONFIG, ["tracking.enabled=false"], run), run, RunOptions(quiet=True))
        took = time.monotonic() - began
        rows = list(read_rows(f"sqlite:///{ended.files.store}"))
    print(f"{len(rows)} calls in {took:.0f} s, decision {ended.run.decision}")
    print("| calls | n | prompt tokens | of them cached | written | seconds a call |")
    print("|---|---|---|---|---|---|")
    for group in groups(rows):
        print(group.line)


def groups(rows: Sequence[StoredCall]) -> list[Group]:
    """Judgings by whether most of their prompt was cached, and reflections."""
    judged = [row for row in rows if row.stage != Stage.REFLECT]
    parts = {
        "judge, transcript read for the first time": [r for r in judged if not _warm(r)],
        "judge, transcript in the cache": [r for r in judged if _warm(r)],
        "reflect": [r for r in rows if r.stage == Stage.REFLECT],
    }
    return [Group.of(name, part) for name, part in parts.items() if part]


def _warm(row: StoredCall) -> bool:
    return 2 * row.cached_tokens > row.prompt_tokens


if __name__ == "__main__":
    main()
