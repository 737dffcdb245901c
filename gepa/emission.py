"""Emission: the prompt file and its card, written only after the gate has said yes.

The card is everything a person needs to know of the prompt without the run: hashes, models, the
student's budget, the threshold frozen on accept, accept and held-out figures with their intervals,
how often the held-out set was looked at, what it cost, and what it does not show.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from heldout.gepa.record.files import write_whole
from heldout.splits.errors import StoreUnavailable
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
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(str(folder), error.strerror or str(error)) from error
    prompt = frame.with_block(block)
    # Through JSON, as in the journal: YAML has no words for enumerations and tuples.
    plain = json.loads(json.dumps({**card, "prompt_sha256": sha256_text(prompt)}))
    card_text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    prompt_file = folder / f"{campaign}.txt"
    write_whole(prompt_file, prompt)
    write_whole(folder / f"{campaign}{CARD_SUFFIX}", card_text)
    return Emitted(prompt_file, sha256_text(prompt), sha256_text(card_text))


def withdraw(run_dir: Path) -> None:
    """Remove what an earlier, interrupted session of this run may have left in `prompts/`."""
    folder = run_dir / "prompts"
    if folder.is_symlink() or folder.is_file():
        folder.unlink()  # never what it points to
    elif folder.is_dir():
        shutil.rmtree(folder)
