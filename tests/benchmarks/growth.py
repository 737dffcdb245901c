"""How the cost of drawing and of comparing consultations grows with their number.

Each row does the same work at a size and at twice the size, in one run; a ratio near 2 is linear.
CPU time of the process.

    python -m tests.benchmarks.growth
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial

from heldout.splits.overlap import near_duplicates
from heldout.splits.synthetic.generate import draw

Work = Callable[[], object]


def main() -> None:
    """Print a row a piece of work: seconds at both sizes and their ratio."""
    print("work | size | seconds | seconds at twice the size | ratio")
    draw(1, 0)
    _row("draw synthetic consultations", 24, lambda size: partial(draw, size, 1))
    _row("find near-duplicate transcripts", 250, _comparing)


def _row(name: str, size: int, made: Callable[[int], Work]) -> None:
    small, large = (_seconds(made(n)) for n in (size, 2 * size))
    print(f"{name} | {size} | {small:.2f} | {large:.2f} | {large / small:.1f}")


def _seconds(work: Work) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _comparing(count: int) -> Work:
    """Transcripts that share lines, as those of one clinic do."""
    rng = random.Random(5)
    words = [f"v{n}" for n in range(3000)]
    shared = [" ".join(rng.choices(words, k=12)) for _ in range(60)]
    named = [
        (f"c{n}", " ".join([*rng.choices(shared, k=40), *rng.choices(words, k=840)]))
        for n in range(count)
    ]
    return partial(near_duplicates, named)


if __name__ == "__main__":
    main()
