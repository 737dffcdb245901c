"""How often is an unmoved judge called moved, and a moved one found? Simulated judges.

python -m tests.benchmarks.drift
"""

from __future__ import annotations

import argparse

import numpy as np
from tests.support.moving_judges import called_moved, scored, yes_no

from heldout.experiments.analysis.power import share
from heldout.gepa.statistics.table import FloatArray


def main() -> None:
    """Print a row a judge: the share called moved without and with a change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, sets = np.random.default_rng(given.seed), given.draws
    half = "moved by half a point"
    rows: list[tuple[str, FloatArray, FloatArray]] = []
    for sd, notes in ((0.3, 42), (0.8, 100)):
        still, moved = (scored(rng, sets, notes, sd=sd, shift=shift) for shift in (0.0, 0.5))
        rows.append((f"0 to 10, call SD {sd:g}, {notes} notes, {half}", still, moved))
    still, moved = (yes_no(rng, sets, 250, shift=shift) for shift in (0.0, 0.10))
    rows.append(("yes or no, 93.2% agreement, 250 notes, ten points more of yes", still, moved))
    print("judge (simulated) | unmoved, called moved | moved, found")
    for label, still, moved in rows:
        found = [share(called_moved(change), sets) for change in (still, moved)]
        print(f"{label} | " + " | ".join(f"{f.value:.4f} ±{f.error:.4f}" for f in found))


if __name__ == "__main__":
    main()
