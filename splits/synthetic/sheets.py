"""The hidden fact sheet of one consultation: what is true, what is unknown, what was left out.

How full the sheet is and how much detail it holds are drawn anew for every consultation, so that
neither the length of a note nor the absence of a topic or of a detail says that it was edited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from heldout.splits.randomness import Part, choice, shuffled, uniform
from heldout.splits.synthetic.catalogue import VAGUE, Complaint, Slot, catalogue

FILL_RATE = (0.40, 0.98)
"""Range of the share of slots that a consultation fills."""

DETAIL_RATE = (0.20, 1.00)
"""Range of the share of details that are known of the filled slots."""

HEDGED_SHARE = 0.4
"""How often a symptom is reported with a «maybe»."""

TWICE, ELSEWHERE = 0.38, 0.08
"""How often a fact stands under both its headings, and how often only under the second."""

KEEP_DETAIL = 0.5
"""How often a restatement repeats a known detail."""

LEAST_LEFT_OUT = 3

Path = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class SheetFact:
    """A filled slot.

    `attrs` names the concept of every attribute, the value among them; `known` the details that
    came up. A denied fact keeps its attributes, unsaid. `parts` says where a note states it:
    `primary`, `second` or both; `kept` the details that the second statement repeats.
    """

    slot: Slot
    affirmed: bool
    attrs: Mapping[str, str]
    known: frozenset[str]
    parts: tuple[str, ...]
    kept: frozenset[str]


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that is true of one consultation.

    `path` is the root of every draw made for it, `order` holds the ids of all slots in the order
    in which a note states them, `left_out` the facts that never came up.
    """

    path: Path
    complaint: str
    narrative: str
    style: str
    order: tuple[str, ...]
    facts: tuple[SheetFact, ...]
    left_out: tuple[SheetFact, ...]


def draw_sheet(complaint: Complaint, path: Path) -> Sheet:
    """The fact sheet at `path`; facts come in the order in which the note will state them."""
    narrative = choice(sorted(complaint.narratives), *path, "narrative")
    slots = shuffled(complaint.narratives[narrative], *path, "order")
    fill = _between(FILL_RATE, (*path, "fill rate"))
    rate = _between(DETAIL_RATE, (*path, "detail rate"))
    facts = [_draw_fact(slot, rate, (*path, slot.id)) for slot in slots]
    filled = _filled(slots, fill, path)
    return Sheet(
        path=path,
        complaint=complaint.name,
        narrative=narrative,
        style=choice(("terse", "full"), *path, "style"),
        order=tuple(slot.id for slot in slots),
        facts=tuple(fact for fact in facts if fact.slot.id in filled),
        left_out=tuple(fact for fact in facts if fact.slot.id not in filled),
    )


def detail_choices(attr: str, value: str, group: str) -> tuple[str, ...]:
    """The concepts that attribute `attr` of a fact with this value may take."""
    words = catalogue().words
    own = words[group][value].own
    if attr in own or attr == "dose":
        return own.get(attr, ())
    return tuple(name for name in words[attr] if name != VAGUE)


def _between(limits: tuple[float, float], path: Path) -> float:
    low, high = limits
    return low + (high - low) * uniform(*path)


def _filled(slots: list[Slot], fill: float, path: Path) -> set[str]:
    """Ids of the filled slots; the reason for the visit always, a few never."""
    main = {slot.id for slot in slots if slot.kind.name == "problem"}
    rest = [slot.id for slot in slots if slot.id not in main]
    spare = set(shuffled(rest, *path, "spare")[:LEAST_LEFT_OUT])
    return main | {
        name for name in rest if name not in spare and uniform(*path, name, "filled") < fill
    }


def _draw_fact(slot: Slot, rate: float, path: Path) -> SheetFact:
    kind = slot.kind
    value = choice(slot.values, *path, "value")
    attrs = {"value": value}
    if slot.measure:
        attrs["measure"] = slot.measure
    if kind.hedged == "sure":
        hedged = uniform(*path, "sure") < HEDGED_SHARE
        attrs["sure"] = "possible" if hedged else "definite"
    elif kind.hedged:
        attrs[kind.hedged] = choice(detail_choices(kind.hedged, value, kind.group), *path, "hedge")
    for attr in slot.details:
        options = detail_choices(attr, value, kind.group)
        if options:
            attrs[attr] = choice(options, *path, attr)
    details = [attr for attr in slot.details if attr in attrs]
    return SheetFact(
        slot=slot,
        affirmed=kind.no is None or uniform(*path, "affirmed") < 0.5,
        attrs=attrs,
        known=frozenset(attr for attr in details if uniform(*path, attr, "known") < rate),
        parts=_parts(uniform(*path, "parts"), kind.name),
        kept=frozenset(attr for attr in details if uniform(*path, attr, "kept") < KEEP_DETAIL),
    )


def _parts(point: float, kind: str) -> tuple[str, ...]:
    if point < TWICE:
        return ("primary", "second")
    if point < TWICE + ELSEWHERE and kind != "problem":
        return ("second",)
    return ("primary",)
