"""The words, wordings and complaints of the synthetic benchmark, read from YAML.

`vocabulary.yaml` holds every concept with its lay and clinical forms, `wording.yaml` how a kind of
fact is said and written, `manner.yaml` headings and small talk, `complaints/` the slots of one
complaint a file. A slot names one concept (`is`) or a pool (`from`) each consultation draws from;
two slots of one kind have disjoint pools; a narrative adds the slots in which its story differs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any

import yaml
from pydantic import TypeAdapter

_Tree = dict[str, Any]

VAGUE = "vague"
"""Name of the entry of a vocabulary group that stands where an attribute was never mentioned."""


@dataclass(frozen=True, slots=True)
class Concept:
    """One meaning with its interchangeable forms: `lay` in dialogue, `clinical` in notes.

    `own` names, by attribute, the concepts that fit this one where not all of the group do.
    """

    id: str
    lay: tuple[str, ...]
    clinical: tuple[str, ...]
    own: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def forms(self) -> tuple[str, ...]:
        """Every form that is not empty."""
        return tuple(dict.fromkeys(form for form in self.lay + self.clinical if form))


@dataclass(frozen=True, slots=True)
class FactWording:
    """Templates for one polarity of a kind; see the head of `wording.yaml`."""

    say: tuple[str, ...]
    terse: tuple[str, ...]
    full: tuple[str, ...]
    again: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactKind:
    """A kind of fact: where it stands, what it carries, how it is worded."""

    name: str
    group: str
    section: str
    second: str
    severity: str
    details: tuple[str, ...] = ()
    hedged: str | None = None
    topic: tuple[str, ...] = ()
    yes: FactWording
    no: FactWording | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on the fact sheet: one concept or a pool of them, with the details it may carry."""

    id: str
    kind: FactKind
    values: tuple[str, ...]
    severity: str
    details: tuple[str, ...]
    measure: str | None = None


@dataclass(frozen=True, slots=True)
class Complaint:
    """A reason to consult; each narrative is one way its story goes, with all slots it can fill."""

    name: str
    narratives: Mapping[str, tuple[Slot, ...]]


@dataclass(frozen=True, slots=True)
class Manner:
    """Headings (style, section, variants), section orders, and talk that carries no fact."""

    headings: Mapping[str, Mapping[str, tuple[str, ...]]]
    orders: tuple[tuple[str, ...], ...]
    talk: tuple[str, ...]
    greetings: tuple[str, ...]
    chatter: tuple[str, ...]
    closings: tuple[str, ...]
    hesitations: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything the generator can say."""

    words: Mapping[str, Mapping[str, Concept]]
    kinds: Mapping[str, FactKind]
    complaints: tuple[Complaint, ...]
    manner: Manner


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue that ships with the package, read once a process."""
    root = resources.files(__package__)
    raw_kinds = _read(root / "wording.yaml")
    kinds = TypeAdapter(dict[str, FactKind]).validate_python(
        {name: {"name": name, **raw} for name, raw in raw_kinds.items()}
    )
    folder = root / "complaints"
    files = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".yaml")),
        key=lambda item: item.name,
    )
    return Catalogue(
        words=_words(_read(root / "vocabulary.yaml")),
        kinds=kinds,
        complaints=tuple(
            _complaint(item.name.removesuffix(".yaml"), kinds, **_read(item)) for item in files
        ),
        manner=TypeAdapter(Manner).validate_python(_read(root / "manner.yaml")),
    )


def _read(item: Any) -> _Tree:
    # The base loader keeps every scalar a string: «36.6», «10/7» and «no» are words here.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    content: _Tree = yaml.load(item.read_text(encoding="utf-8"), Loader=loader)
    return content


def _words(raw: _Tree) -> dict[str, dict[str, Concept]]:
    def concept(name: str, lay: list[str], clinical: list[str], **own: list[str]) -> Concept:
        attributes = {attr: tuple(names) for attr, names in own.items()}
        return Concept(name, tuple(lay), tuple(clinical), attributes)

    return {
        group: {name: concept(name, **spec) for name, spec in concepts.items()}
        for group, concepts in raw.items()
    }


def _complaint(
    name: str, kinds: Mapping[str, FactKind], slots: _Tree, narratives: _Tree
) -> Complaint:
    """A story has the slots of its complaint, and its own over them."""
    return Complaint(
        name,
        {
            story: tuple(_slot(slot, kinds, **spec) for slot, spec in {**slots, **own}.items())
            for story, own in narratives.items()
        },
    )


def _slot(name: str, kinds: Mapping[str, FactKind], kind: str, **spec: Any) -> Slot:
    pool = spec.pop("from", None) or [spec.pop("is")]
    of_kind = kinds[kind]
    defaults = {"severity": of_kind.severity, "details": of_kind.details}
    return _SLOT.validate_python({**defaults, **spec, "id": name, "kind": of_kind, "values": pool})


_SLOT = TypeAdapter(Slot)
