"""What the simulated reflector takes from a request: blocks, caps, cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heldout.students.models.chat import Message

_CAPS = re.compile(r"at most (\d+) words and (\d+) characters")
_CASE = re.compile(r"^## Case \d+ \((failure|handled well)\)$", re.MULTILINE)
_FIELD = re.compile(r"^([a-z][a-z ]+): (.*)$", re.MULTILINE)
_TRACE = re.compile(r"\btrace level (complete|partial-weak|partial-strong)\b")
_SEVERITY = re.compile(r"\bseverity (critical|supporting|peripheral)\b")

HEADINGS = {
    "fixed_beginning": "What the judge reads before the block",
    "cases": "What the judge made of some notes with the block in use, failures first",
    "first_wins": "Notes that the first block wins, with what the judge made of them under it",
    "second_wins": "Notes that the second block wins, with what the judge made of them under it",
    "current_block": "The block in use",
    "first_block": "The first block",
    "second_block": "The second block",
}
"""Parts of a request by the tag that encloses them in the first layout, and their headings."""
_PARTS = (
    *HEADINGS.values(),
    "How to rewrite",
    "How to unite them",
    "What is out of bounds",
    "Your reply",
)
_FACTS = ("<facts>", "[here the judge sees: facts]")


@dataclass(frozen=True, slots=True)
class Case:
    """One trace, as far as the reflector understands it.

    `edit` is `removed`, `added` or `altered`; `trace` and `severity` are as the trace words them,
    None where it is silent; `ranking` is the first word of the ranking.
    """

    failed: bool
    edit: str
    fact: str
    ranking: str
    trace: str | None
    severity: str | None

    @property
    def tied(self) -> bool:
        """True if errored note and clean twin scored the same."""
        return self.ranking == "tied"

    @property
    def above(self) -> bool:
        """True if the errored note scored higher than its clean twin."""
        return self.ranking == "above"


@dataclass(frozen=True, slots=True)
class Request:
    """A reflection request: `blocks` holds one block for a rewrite and two for a merge.

    `per_fact`: the judge is handed a list of facts, so it need not make one.
    """

    blocks: tuple[str, ...]
    cases: tuple[Case, ...]
    max_words: int
    max_characters: int
    per_fact: bool


def read_request(messages: Sequence[Message]) -> Request | None:
    """The request in the last user message; None if it is not one that can be understood."""
    text = next((m.content for m in reversed(messages) if m.role == "user"), "")
    caps = _CAPS.search(text)
    if caps is None:
        return None
    limits = int(caps[1]), int(caps[2])
    find = _between if "<fixed_beginning>\n" in text else _under
    per_fact = any(mark in (find(text, "fixed_beginning") or "") for mark in _FACTS)
    current = find(text, "current_block")
    first, second = find(text, "first_block"), find(text, "second_block")
    if current is not None:
        return Request((current,), _cases(find(text, "cases") or ""), *limits, per_fact)
    if first is None or second is None:
        return None
    cases = _cases(find(text, "first_wins") or "") + _cases(find(text, "second_wins") or "")
    return Request((first, second), cases, *limits, per_fact)


def _between(text: str, tag: str) -> str | None:
    match = re.search(rf"^<{tag}>\n(.*?)\n?^</{tag}>$", text, re.MULTILINE | re.DOTALL)
    return None if match is None else match[1].strip()


def _under(text: str, part: str) -> str | None:
    """A part of a request that is divided by headings; texts within are read up to the next one.

    The blocks stand last, so of equal headings the last is the request's own; of others the first.
    """
    heading = f"\n# {HEADINGS[part]}\n\n"
    start = text.rfind(heading) if part.endswith("_block") else text.find(heading)
    if start < 0:
        return None
    start += len(heading)
    ends = (text.find(f"\n# {other}\n\n", start) for other in _PARTS)
    return text[start : min((end for end in ends if end >= 0), default=len(text))].strip()


def _cases(text: str) -> tuple[Case, ...]:
    """Cases from the traces; a trace without an edit that can be understood is passed over."""
    heads = list(_CASE.finditer(text))
    # One end more than starts: a side of a merge that won nothing on the minibatch has no case.
    edges = [*(head.start() for head in heads), len(text)]
    read = (
        _case(head[1] == "failure", text[head.end() : end])
        for head, end in zip(heads, edges[1:], strict=True)
    )
    return tuple(case for case in read if case is not None)


def _case(failed: bool, body: str) -> Case | None:
    fields = dict(reversed(_FIELD.findall(body)))  # of a repeated field the first one counts
    edit = next((name for name in ("removed", "added", "altered") if name in fields), None)
    if edit is None:
        return None
    kind = fields.get("edit", "")
    trace, severity = _TRACE.search(kind), _SEVERITY.search(kind)
    return Case(
        failed=failed,
        edit=edit,
        fact=fields[edit],
        ranking=fields.get("ranking", "").partition(" ")[0],
        trace=trace and trace[1],
        severity=severity and severity[1],
    )
