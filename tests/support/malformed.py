"""Ways in which models spoil a JSON reply, each with what a reader must make of it."""

from __future__ import annotations

import json

from hypothesis import strategies as st

PROSE = st.text(st.characters(exclude_characters='{}"', exclude_categories=("Cs",)), max_size=20)
AWKWARD = st.text(max_size=12) | st.sampled_from(
    ['{"score": 1}', "}{", '\\"', "{{note}}", "</note>", "\u202e\u0000", "🩺\ud83e", "```json"]
)
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | AWKWARD,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(AWKWARD, inner, max_size=3),
    max_leaves=4,
)


@st.composite
def wrapped(draw, payload: str) -> str:
    """`payload` with prose around it, or in a fence: the meaning stays."""
    before, after = draw(PROSE), draw(PROSE)
    fence = draw(st.sampled_from(["", "```", "```json"]))
    if fence:
        return f"{before}\n{fence}\n{payload}\n```\n{after}"
    return f"{before}{payload}{after}"


@st.composite
def cut(draw, payload: str) -> str:
    """`payload` with its end missing: never an answer."""
    return draw(PROSE) + payload[: draw(st.integers(0, len(payload) - 1))]


def dump(value: object) -> str:
    """JSON as a model may write it (lone surrogates as escapes)."""
    return json.dumps(value)
