"""Emission: the prompt file and its card, written only after the gate has said yes.

The card is everything a person needs to know of the prompt without the run: hashes, models, the
student's budget, the threshold frozen on accept, accept and held-out figures with their intervals,
how often the held-out set was looked at, what it cost, and what it does not show.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heldout.splits.hashing import sha256_text
from heldout.students.frames import Frame

CARD_SUFFIX = ".card.yaml"


@dataclass(frozen=True, slots=True)
class Emitted:
    """The two files with their hashes, as the journal records them."""

    prompt_file: Path
    prompt_sha256: str
    card_sha256: str

    def body(self, run_dir: Path) -> dict[str, Any]:
        """The emission event: names within the run directory, never a path of the machine."""
        relative = self.prompt_file.relative_to(run_dir)
        return {
            "prompt_file": relative.as_posix(),
            "prompt_sha256": self.prompt_sha256,
            "card_file": relative.with_suffix("").as_posix() + CARD_SUFFIX,
            "card_sha256": self.card_sha256,
        }


def emit(
    run_dir: Path, campaign: str, *, frame: Frame, block: str, card: Mapping[str, Any]
) -> Emitted:
    """Write `prompts/<campaign>.txt` (the frame with the block) and its card beside it."""
    folder = run_dir / "prompts"
    folder.mkdir(exist_ok=True)
    prompt = frame.with_block(block)
    # Through JSON, as in the journal: YAML has no words for enumerations and tuples.
    plain = json.loads(json.dumps({**card, "prompt_sha256": sha256_text(prompt)}))
    card_text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    prompt_file = folder / f"{campaign}.txt"
    _write(prompt_file, prompt)
    _write(folder / f"{campaign}{CARD_SUFFIX}", card_text)
    return Emitted(prompt_file, sha256_text(prompt), sha256_text(card_text))


def withdraw(run_dir: Path) -> None:
    """Remove what an earlier, interrupted session of this run may have left in `prompts/`."""
    folder = run_dir / "prompts"
    if folder.is_dir():
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


def _write(path: Path, text: str) -> None:
    """Write a file so that it is there whole or not at all."""
    part = path.with_suffix(path.suffix + ".part")
    with part.open("w", encoding="utf-8", newline="\n") as handle:
        handle.write(text)
        handle.flush()
        os.fsync(handle.fileno())
    part.replace(path)
