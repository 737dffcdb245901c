"""Small benchmarks written to files, every text distinct, for tests of loading and splitting."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from heldout.splits.benchmark import Benchmark
from heldout.splits.loading.benchmark_files import BenchmarkSource, Loaded, open_benchmark
from heldout.splits.randomness import integer

ONSETS = "bcdfgklmnprstvz"
ENDS = ("ab", "em", "ik", "op", "ur", "an", "et", "il", "os", "um")


def prose(name: str, length: int) -> str:
    """`length` made-up words in sentences of seven, drawn from `name`."""

    def word(n: int) -> str:
        parts = [integer(0, 14, name, n, 0), integer(0, 9, name, n, 1), integer(0, 14, name, n, 2)]
        return ONSETS[parts[0]] + ENDS[parts[1]] + ONSETS[parts[2]] + ENDS[integer(0, 9, name, n)]

    words = [word(n) for n in range(length)]
    sentences = [" ".join(words[k : k + 7]).capitalize() + "." for k in range(0, length, 7)]
    return " ".join(sentences)


def consultation(number: int, *, stratum: str = "made", partial: bool = True) -> dict:
    """A `{consultation_id, transcript, note}` record with its pairs under `pairs`."""
    name = f"c{number:03d}"
    sentences = [f"{s}." for s in prose(f"{stratum}{name}note", 42).rstrip(".").split(". ")]
    clean = " ".join(sentences)
    pairs = [
        pair(stratum, name, 0, "omit-complete", clean, " ".join(sentences[:-1])),
        pair(stratum, name, 1, "add", clean, f"{clean} {prose(name + 'more', 6)}"),
    ]
    if partial:
        errored = " ".join(sentences[1:])
        pairs.append(pair(stratum, name, 2, "omit-partial", clean, errored, "partial-weak"))
    return {
        "consultation_id": f"{stratum}|{name}",
        "stratum": stratum,
        "transcript": f"[doctor] {prose(name + stratum, 60)}\n[patient] {prose(name + 'p', 60)}",
        "note": clean,
        "pairs": pairs,
    }


def pair(
    stratum: str, name: str, number: int, note_class: str, clean: str, errored: str, level=None
) -> dict:
    """One pair record with every field that is read."""
    omission = note_class.startswith("omit")
    return {
        "pair_id": f"{stratum}|{name}|{note_class}|{number}",
        "stratum": stratum,
        "id": name,
        "type": "omit" if omission else note_class,
        "class": note_class,
        "residual_level": (level or "complete") if omission else None,
        "severity": "critical",
        "clean": clean,
        "errored": errored,
        "fact": f"fact {number} of {name}",
        "residual": None,
        "eval_set": True,
        "split": "eval",
        "source": "made",
    }


def write_lines(path: Path, records: list[dict]) -> Path:
    """`records` as JSON Lines."""
    path.write_text("".join(json.dumps(r) + "\n" for r in records), "utf-8")
    return path


def write_benchmark(folder: Path, consultations: list[dict], **declared) -> BenchmarkSource:
    """`pairs.jsonl` and `consultations.jsonl` in `folder`."""
    pairs = [row for c in consultations for row in c["pairs"]]
    plain = [{k: v for k, v in c.items() if k != "pairs"} for c in consultations]
    return BenchmarkSource(
        write_lines(folder / "pairs.jsonl", pairs),
        write_lines(folder / "consultations.jsonl", plain),
        **declared,
    )


def many(count: int) -> list[dict]:
    """`count` consultations of two strata, some without partial omissions."""
    return [
        consultation(n, stratum=("north", "south")[n % 2], partial=n % 5 != 0) for n in range(count)
    ]


def made(folder: Path, count: int) -> Benchmark:
    """`count` consultations, loaded."""
    return open_benchmark(write_benchmark(folder, many(count))).benchmark


def loader(source: BenchmarkSource) -> Callable[[], Loaded]:
    """What the vault calls at every opening."""
    return lambda: open_benchmark(source)
