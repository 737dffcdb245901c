"""Cards of prompt files: what one must say for its prompt to be used, read with every fault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_file
from heldout.splits.loading.yaml_file import read_yaml
from heldout.splits.visible import visible_in


def _at(*keys: str, default: Any = ...) -> Any:
    """A value further down in the card."""
    return Field(default, validation_alias=AliasPath(*keys))


class Card(BaseModel):
    """What a card says of its prompt; keys beyond these are passed over.

    `confirmed` False: a copy was written of a prompt that no gate passed. `samples` and
    `parameters` None: the card leaves them out. `content` is the whole card as it stands, for
    copies of it.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")

    campaign: str
    candidate: str
    design: str
    block_sha256: str
    frame_sha256: str
    prompt_sha256: str
    model: str = _at("models", "student", "id")
    temperature: float = _at("models", "student", "temperature")
    parameters: dict[str, Any] | None = _at("models", "student", "parameters", default=None)
    max_tokens: int = _at("student_budget", "max_tokens")
    reasoning_effort: str | None = _at("student_budget", "reasoning_effort")
    threshold: float | None = _at("threshold", "value")
    decision: str | None = _at("gate", "decision")
    confirmed: bool = True
    samples: int | None = None
    content: dict[str, Any]


def read_card(path: Path) -> Card:
    """The card at `path`. Raises BadInput with everything that is missing or of another type."""
    if not path.is_file():
        raise BadInput.one(str(path), "no such card: a prompt is only used with its card beside it")
    content = read_yaml(path).tree
    try:
        return Card.model_validate({**content, "content": content})
    except ValidationError as error:
        keys = (".".join(map(str, detail["loc"])) for detail in error.errors())
        raise BadInput(
            [Fault(str(path), f"{key}: is missing or of another type") for key in keys]
        ) from None


def refuse_strange(prompt: Path, card: Path, run: Run) -> None:
    """Hold prompt and card in the folder of a run against its journal.

    Raises BadInput where that emitted nothing, or something else: such a card was made by hand.
    """
    said = run.emission
    hashes = (None, None) if said is None else (said.prompt_sha256, said.card_sha256)
    faults = [
        Fault(str(path), "is not what the journal of its run emitted: made or changed by hand")
        for path, digest in zip((prompt, card), hashes, strict=True)
        if sha256_file(path) != digest
    ]
    if faults:
        raise BadInput(faults)


def card_text(card: Mapping[str, Any]) -> str:
    """A card as it is written."""
    return yaml.safe_dump(visible_in(card), sort_keys=False, allow_unicode=True)
