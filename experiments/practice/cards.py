"""Cards of prompt files: what one must say for its prompt to be used, read with every fault."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.yaml_file import read_yaml


class _Part(BaseModel):
    """A part of a card: values of their own types, keys beyond these passed over."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


class CardStudent(_Part):
    """The model that judged; `parameters` None where the card leaves them out."""

    id: str
    temperature: float
    parameters: dict[str, Any] | None = None


class CardModels(_Part):
    """The models of the campaign, of which only the student matters here."""

    student: CardStudent


class CardBudget(_Part):
    """What one call of the student could spend."""

    max_tokens: int
    reasoning_effort: str | None


class CardThreshold(_Part):
    """The threshold frozen on accept; None where nothing froze one."""

    value: float | None


class CardGate(_Part):
    """What the gate said; None where it was not asked."""

    decision: str | None


class Card(_Part):
    """What a card says of its prompt.

    `confirmed` False: a copy was written of a prompt that no gate passed. `samples` None: the card
    leaves it out. `content` is the whole card as it stands, for copies of it.
    """

    campaign: str
    candidate: str
    design: str
    block_sha256: str
    frame_sha256: str
    prompt_sha256: str
    models: CardModels
    student_budget: CardBudget
    threshold: CardThreshold
    gate: CardGate
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


def card_text(card: Mapping[str, Any]) -> str:
    """A card as it is written."""
    return yaml.safe_dump(dict(card), sort_keys=False, allow_unicode=True)
