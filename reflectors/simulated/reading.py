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
    current = _between(text, "current_block")
    first, second = _between(text, "first_block"), _between(text, "second_block")
    per_fact = "<facts>" in (_between(text, "fixed_beginning") or "")
    if caps is None:
        return None
    limits = int(caps[1]), int(caps[2])
    if current is not None:
        return Request((current,), _cases(_between(text, "cases") or ""), *limits, per_fact)
    if first is None or second is None:
        return None
    cases = _cases(_between(text, "first_wins") or "") + _cases(_between(text, "second_wins") or "")
    return Request((first, second), cases, *limits, per_fact)


def _between(text: str, tag: str) -> str | None:
    match = re.search(rf"^<{tag}>\n(.*?)\n?^</{tag}>$", text, re.MULTILINE | re.DOTALL)
    return None if match is None else match[1].strip()


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
