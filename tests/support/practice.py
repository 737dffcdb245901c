"""Emitted prompts, runs and models for tests of what a practitioner does."""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heldout.experiments.practice.loaded_prompt import frame_of
from heldout.experiments.practice.session import JudgeOptions
from heldout.gepa.emission import emit
from heldout.splits.hashing import sha256_text
from heldout.students.models.chat import ChatModel, ChatReply, ChatRequest, StopReason, Usage

BLOCK = (
    "List every fact of the consultation first, then look each one up in the note. "
    "Give the score with one decimal."
)


def card(design: str = "whole_note", block: str = BLOCK, **changes: Any) -> dict[str, Any]:
    """The card of an emitted prompt."""
    return {
        "campaign": "made",
        "candidate": "c07",
        "block_sha256": sha256_text(block),
        "frame_sha256": frame_of(design, "tests").sha256,
        "design": design,
        "models": {"student": {"id": "sim/judge", "temperature": 0.7}},
        "simulated": True,
        "student_budget": {"max_tokens": 1500, "reasoning_effort": None},
        "threshold": {"value": 8.0 if design == "whole_note" else 0.5},
        "gate": {"decision": "emitted"},
        **changes,
    }


def emitted(folder: Path, design: str = "whole_note", block: str = BLOCK, **changes: Any) -> Path:
    """A prompt file with its card, as a campaign leaves them."""
    frame = frame_of(design, "tests")
    folder.mkdir(parents=True, exist_ok=True)
    made = emit(folder, "made", frame=frame, block=block, card=card(design, block, **changes))
    return folder / made.prompt_file


@dataclass
class Stub:
    """Answers every whole-note question at once: 5 where the note says «wrong», else 9."""

    asked: int = 0
    fail_after: int | None = None
    requests: list[ChatRequest] = field(default_factory=list)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked += 1
        if self.fail_after is not None and self.asked > self.fail_after:
            raise KeyboardInterrupt
        note = request.messages[0].content.partition("<note>")[2].partition("</note>")[0]
        score = 5 if "wrong" in note else 9
        text = json.dumps({"assessment": "read <b>all</b>", "score": score})
        return ChatReply(text, StopReason.STOP, Usage(100, 10), 0.001, "stub")


def asking(stub: ChatModel | None = None, **changes: Any) -> JudgeOptions:
    """How tests ask: the simulated judge, or `stub` in its place."""
    return JudgeOptions(
        **{"seed": 11, "doubles": {} if stub is None else {"sim/judge": stub}, **changes}
    )


def write_notes(path: Path, notes: int, wrong_every: int = 10) -> Path:
    """A CSV of made notes; every `wrong_every`-th one is wrong."""
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "transcript", "note"])
        for number in range(notes):
            wrong = " wrong" if number % wrong_every == 0 else ""
            writer.writerow(
                [f"n{number}", f"[doctor] case {number}.\n[patient] yes.", f"Note {number}{wrong}."]
            )
    return path
