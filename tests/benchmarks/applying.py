"""How long does `heldout apply` take for 10,000 notes, and does its memory grow?

Run with `python -m tests.benchmarks.applying [--notes N]`. The model is a stub that
answers at once, so what is measured is reading, prompting, storing and writing. Sizes run in
processes of their own; a second start of the same request shows what resuming costs.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from heldout.experiments.practice.apply_notes import apply
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.session import JudgeOptions
from heldout.gepa.emission import emit
from heldout.splits.hashing import sha256_text
from heldout.students.frames import load_frame
from heldout.students.models.chat import ChatReply, ChatRequest, StopReason, Usage

BLOCK = "List every fact of the consultation first, then look each one up in the note."
TURNS, SENTENCES = 60, 25
"""Of each transcript and note: about 5,000 and 1,500 characters."""


class Instant:
    """Answers at once."""

    def __init__(self) -> None:
        self.asked = 0

    async def complete(self, request: ChatRequest) -> ChatReply:
        """A score that depends on the length of the prompt."""
        self.asked += 1
        score = 5 if len(request.messages[0].content) % 10 == 0 else 9
        text = json.dumps({"assessment": "Nothing is missing from this note.", "score": score})
        return ChatReply(text, StopReason.STOP, Usage(2000, 40), 0.001, "stub")


def measure(folder: Path, notes: int) -> dict[str, float]:
    """Seconds, calls and peak memory (MiB) of one application."""
    file = _notes(folder, notes)
    prompt = folder / "run" / "prompts" / "stub.txt"
    if not prompt.exists():
        _prompt(folder / "run")
    model = Instant()
    options = JudgeOptions(seed=1, doubles={"sim/judge": model})
    began = time.perf_counter()
    apply(load_prompt(str(prompt)), file, folder / "out", options)
    return {
        "notes": notes,
        "seconds": round(time.perf_counter() - began, 1),
        "cpu_s": round(time.process_time(), 1),
        "calls": model.asked,
        "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


def _notes(folder: Path, notes: int) -> Path:
    file = folder / f"{notes}.jsonl"
    if file.exists():
        return file
    with file.open("w", encoding="utf-8") as handle:
        for number in range(notes):
            turns = (
                f"[patient] This is turn {n} of case {number}, with words." for n in range(TURNS)
            )
            note = " ".join(f"Sentence {n} of note {number}, with words." for n in range(SENTENCES))
            row = {"id": f"n{number}", "transcript": "\n".join(turns), "note": note}
            handle.write(json.dumps(row) + "\n")
    return file


def _prompt(folder: Path) -> None:
    frame = load_frame("whole_note")
    card = {
        "campaign": "stub",
        "candidate": "c01",
        "block_sha256": sha256_text(BLOCK),
        "frame_sha256": frame.sha256,
        "design": "whole_note",
        "models": {"student": {"id": "sim/judge", "temperature": 0.0}},
        "student_budget": {"max_tokens": 1500, "reasoning_effort": None},
        "threshold": {"value": 8.0},
        "gate": {"decision": "emitted"},
    }
    folder.mkdir(parents=True)
    emit(folder, "stub", frame=frame, block=BLOCK, card=card)


def main() -> None:
    """Measure a tenth of the notes, all of them, and all of them once more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--notes", type=int, default=10_000)
    parser.add_argument("--folder", type=Path, help="measure one size here, in this process")
    options = parser.parse_args()
    if options.folder:
        print(json.dumps(measure(options.folder, options.notes)))
        return
    with tempfile.TemporaryDirectory() as folder:
        for size in (options.notes // 10, options.notes, options.notes):
            command = [sys.executable, "-m", "tests.benchmarks.applying"]
            command += ["--notes", str(size), "--folder", folder]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
