"""A draw is a pure function of its size and seed, and each consultation of seed and ordinal."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from heldout.splits.benchmark import CleanMeans
from heldout.splits.errors import BadInput
from heldout.splits.synthetic.generate import draw


def test_the_same_seed_gives_the_same_benchmark_and_another_seed_another():
    first, again, other = draw(12, 5), draw(12, 5), draw(12, 6)
    assert first.benchmark.consultations == again.benchmark.consultations
    assert first.dropped == again.dropped
    assert first.benchmark.digest != other.benchmark.digest
    assert not set(first.benchmark.by_id) & set(other.benchmark.by_id)


@pytest.mark.parametrize("hash_seed", ["0", "4242"])
def test_the_hash_seed_of_python_plays_no_part(hash_seed):
    code = "from heldout.splits.synthetic import draw; print(draw(6, 5).benchmark.digest)"
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == draw(6, 5).benchmark.digest


def test_a_larger_draw_holds_the_smaller_one():
    small, large = draw(10, 3).benchmark, draw(25, 3).benchmark
    assert all(large.by_id[c.id] == c for c in small)


def test_the_benchmark_says_what_it_is():
    benchmark = draw(5, 1).benchmark
    assert benchmark.name == "synthetic"
    assert benchmark.public
    assert benchmark.has_transcripts
    assert benchmark.clean_means is CleanMeans.VERIFIED
    assert [c.id for c in benchmark] == sorted(c.id for c in benchmark)
    assert all(c.id.startswith(f"{c.stratum}|") for c in benchmark)


def test_a_whole_number_above_zero_is_needed():
    with pytest.raises(BadInput, match="consultations: 0 is not a positive number"):
        draw(0, 1)
