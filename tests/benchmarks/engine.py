"""What the engine itself costs a judgement, beside gepa 0.1.4 in the same run.

Students answer in process: no model, no store. Heldout's journal is written and synced. CPU time
of the process (user and system), since waiting for a disk is not the engine's work.

    python -m tests.benchmarks.engine
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.in_process import Size, build_search

from heldout.gepa.record.journal import RunJournal
from heldout.gepa.settings import SearchSettings

SIZE = Size(reflect=45, accept=21, errored=4)
"""225 reflect and 105 accept notes, as in the study."""


@dataclass(frozen=True, slots=True)
class Cost:
    """One run: judgements made, candidates in the pool, CPU seconds."""

    judgements: int
    candidates: int
    cpu_s: float

    @property
    def ms(self) -> float:
        """CPU milliseconds a judgement."""
        return 1e3 * self.cpu_s / self.judgements


def heldout_cost(judgements: int) -> Cost:
    """A search of Heldout with about `judgements` judgements, journal included."""
    settings = SearchSettings(iterations=10**6, stall=10**6, max_judgements=judgements)
    with asyncio.Runner() as runner, tempfile.TemporaryDirectory() as folder:
        journal = RunJournal(Path(folder) / "journal.jsonl")
        bench = build_search(runner, settings=settings, size=SIZE, journal=journal)
        began = time.process_time()
        bench.search.run()
        spent = time.process_time() - began
        journal.close()
        return Cost(bench.spending.judgements, len(bench.search.pool.entered), spent)


class _Adapter:
    """gepa's side of the stub: scores drawn from a generator, a new text for every proposal."""

    def __init__(self) -> None:
        self.calls, self._random, self._texts = 0, random.Random(1), 0
        self.propose_new_texts: Callable[..., dict[str, str]] = self._propose

    def evaluate(
        self, batch: Sequence[int], candidate: Mapping[str, str], capture_traces: bool = False
    ) -> Any:
        from gepa.core.adapter import EvaluationBatch

        del candidate
        self.calls += len(batch)
        scores = [self._random.choice((0.0, 0.5, 1.0)) for _ in batch]
        traces = list(batch) if capture_traces else None
        return EvaluationBatch(outputs=list(batch), scores=scores, trajectories=traces)

    def make_reflective_dataset(
        self, candidate: Mapping[str, str], eval_batch: Any, components_to_update: Sequence[str]
    ) -> dict[str, list[dict[str, Any]]]:
        del candidate, eval_batch
        return {name: [{"Feedback": "none"}] for name in components_to_update}

    def _propose(
        self, candidate: Mapping[str, str], dataset: object, components: Sequence[str]
    ) -> dict[str, str]:
        del candidate, dataset
        self._texts += 1
        return dict.fromkeys(components, f"text {self._texts}")


def gepa_cost(judgements: int) -> Cost:
    """A search of PyPI's gepa with the same sizes and a stub adapter, nothing written to disk."""
    from gepa.api import optimize
    from gepa.logging.logger import LoggerProtocol

    class Silent(LoggerProtocol):
        def log(self, message: str) -> None:
            del message

    adapter = _Adapter()
    began = time.process_time()
    result: Any = optimize(
        seed_candidate={"block": "seed"},
        trainset=list(range(225)),
        valset=list(range(105)),
        adapter=adapter,  # type: ignore[arg-type]
        reflection_minibatch_size=12,
        max_metric_calls=judgements,
        logger=Silent(),
        seed=1,
    )
    return Cost(adapter.calls, len(result.candidates), time.process_time() - began)


def main() -> None:
    """Print the table of `docs/performance.md`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=[5_000, 20_000, 60_000])
    sizes: list[int] = parser.parse_args().sizes
    print("| engine | judgements | candidates scored on accept | CPU ms a judgement | ratio |")
    print("|---|---|---|---|---|")
    for name, cost in (("heldout", heldout_cost), ("gepa 0.1.4", gepa_cost)):
        first: float | None = None
        for size in sizes:
            found = cost(size)
            first = first or found.ms
            print(
                f"| {name} | {found.judgements} | {found.candidates} | {found.ms:.4f} "
                f"| {found.ms / first:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
