"""Emission: the prompt file and its card, written only after the gate has said yes.

The card is everything a person needs to know of the prompt without the run: hashes, models, the
student's budget, the threshold frozen on accept, accept and held-out figures with their intervals,
how often the held-out set was looked at, what it cost, and what it does not show.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from heldout.gepa.record.events import EmissionEvent
from heldout.gepa.record.files import write_whole
from heldout.splits.errors import StoreUnavailable
from heldout.splits.hashing import sha256_text
from heldout.splits.visible import visible_in
from heldout.students.frames import Frame

CARD_SUFFIX = ".card.yaml"


def emit(
    run_dir: Path, campaign: str, *, frame: Frame, block: str, card: Mapping[str, Any]
) -> EmissionEvent:
    """Write `prompts/<campaign>.txt` (the frame with the block) and its card beside it."""
    folder = run_dir / "prompts"
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreUnavailable(str(folder), error.strerror or str(error)) from error
    prompt = frame.with_block(block)
    # Through JSON, as in the journal: YAML has no words for enumerations and tuples.
    plain = json.loads(json.dumps({**visible_in(card), "prompt_sha256": sha256_text(prompt)}))
    card_text = yaml.safe_dump(plain, sort_keys=False, allow_unicode=True)
    prompt_file = folder / f"{campaign}.txt"
    write_whole(prompt_file, prompt)
    write_whole(folder / f"{campaign}{CARD_SUFFIX}", card_text)
    return EmissionEvent(
        prompt_file=f"prompts/{campaign}.txt",
        prompt_sha256=sha256_text(prompt),
        card_file=f"prompts/{campaign}{CARD_SUFFIX}",
        card_sha256=sha256_text(card_text),
    )


def withdraw(run_dir: Path) -> None:
    """Remove what an earlier, interrupted session of this run may have left in `prompts/`."""
    folder = run_dir / "prompts"
    if folder.is_symlink() or folder.is_file():
        folder.unlink()  # never what it points to
    elif folder.is_dir():
        shutil.rmtree(folder)
