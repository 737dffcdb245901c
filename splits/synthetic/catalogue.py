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
class Wording:
    """Templates for one polarity of a kind; see the head of `wording.yaml`."""

    say: tuple[str, ...]
    terse: tuple[str, ...]
    full: tuple[str, ...]
    again: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fact: where it stands, what it carries, how it is worded."""

    name: str
    group: str
    section: str
    second: str
    severity: str
    details: tuple[str, ...]
    hedged: str | None
    topic: tuple[str, ...]
    yes: Wording
    no: Wording | None


@dataclass(frozen=True, slots=True)
class Slot:
    """A place on the fact sheet: one concept or a pool of them, with the details it may carry."""

    id: str
    kind: Kind
    values: tuple[str, ...]
    severity: str
    details: tuple[str, ...]
    measure: str | None


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
    phrases: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything the generator can say."""

    words: Mapping[str, Mapping[str, Concept]]
    kinds: Mapping[str, Kind]
    complaints: tuple[Complaint, ...]
    manner: Manner


@lru_cache(maxsize=1)
def catalogue() -> Catalogue:
    """The catalogue that ships with the package, read once a process."""
    root = resources.files(__package__)
    kinds = {name: _kind(name, raw) for name, raw in _read(root / "wording.yaml").items()}
    folder = root / "complaints"
    files = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".yaml")),
        key=lambda item: item.name,
    )
    return Catalogue(
        words=_words(_read(root / "vocabulary.yaml")),
        kinds=kinds,
        complaints=tuple(
            _complaint(item.name.removesuffix(".yaml"), _read(item), kinds) for item in files
        ),
        manner=_manner(_read(root / "manner.yaml")),
    )


def _read(item: Any) -> dict[str, Any]:
    # The base loader keeps every scalar a string: «36.6», «10/7» and «no» are words here.
    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    content: dict[str, Any] = yaml.load(item.read_text(encoding="utf-8"), Loader=loader)
    return content


def _words(raw: dict[str, Any]) -> dict[str, dict[str, Concept]]:
    return {
        group: {name: _concept(name, dict(spec)) for name, spec in concepts.items()}
        for group, concepts in raw.items()
    }


def _concept(name: str, spec: dict[str, list[str]]) -> Concept:
    lay, clinical = tuple(spec.pop("lay")), tuple(spec.pop("clinical"))
    return Concept(name, lay, clinical, {attr: tuple(names) for attr, names in spec.items()})


def _kind(name: str, raw: dict[str, Any]) -> Kind:
    return Kind(
        name=name,
        group=raw["group"],
        section=raw["section"],
        second=raw["second"],
        severity=raw["severity"],
        details=tuple(raw.get("details", ())),
        hedged=raw.get("hedged"),
        topic=tuple(raw.get("topic", ())),
        yes=_wording(raw["yes"]),
        no=_wording(raw["no"]) if "no" in raw else None,
    )


def _wording(raw: dict[str, list[str]]) -> Wording:
    return Wording(*(tuple(raw[part]) for part in ("say", "terse", "full", "again")))


def _complaint(name: str, raw: dict[str, Any], kinds: Mapping[str, Kind]) -> Complaint:
    return Complaint(
        name,
        {
            story: tuple(_slot(slot, kinds, spec) for slot, spec in {**raw["slots"], **own}.items())
            for story, own in raw["narratives"].items()
        },
    )


def _slot(name: str, kinds: Mapping[str, Kind], raw: dict[str, Any]) -> Slot:
    kind = kinds[raw["kind"]]
    return Slot(
        id=name,
        kind=kind,
        values=tuple(raw["from"]) if "from" in raw else (raw["is"],),
        severity=raw.get("severity", kind.severity),
        details=tuple(raw.get("details", kind.details)),
        measure=raw.get("measure"),
    )


def _manner(raw: dict[str, Any]) -> Manner:
    return Manner(
        headings={
            style: {section: tuple(variants) for section, variants in sections.items()}
            for style, sections in raw["headings"].items()
        },
        orders=tuple(tuple(order) for order in raw["orders"]),
        talk=tuple(raw["talk"]),
        phrases={
            name: tuple(raw[name]) for name in ("greetings", "chatter", "closings", "hesitations")
        },
    )
