"""What an error of a provider means for the call: wait, give up, or take it as a refusal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.secrets import redact

KINDS = {
    400: "bad_request",
    401: "auth",
    402: "payment",
    403: "auth",
    404: "not_found",
    407: "auth",
    408: "timeout",
    409: "server",
    413: "context_window",
    422: "bad_request",
    424: "server",
    425: "server",
    429: "rate_limit",
}
"""Names of the faults; every other status is `server` from 500 on, `bad_request` below."""

PASSING = frozenset({"timeout", "server", "rate_limit"})
"""Faults after which the same request may succeed."""

FILTER_CODES = frozenset(
    {"content_filter", "content_filtered", "content_policy_violation", "content_policy"}
    | {"responsibleaipolicyviolation", "moderation_blocked", "data_inspection_failed"}
    | {"invalid_prompt_safety", "safety", "prohibited_content", "refusal"}
)
"""What providers call a refusal in the code or type of an error."""

CONTEXT_CODES = frozenset(
    {"context_length_exceeded", "exceed_context_size_error", "context_window_exceeded"}
    | {"string_above_max_length", "request_too_large"}
)
CONTEXT_SIGNS = ("context_length_exceeded", "maximum context length", "context window", "n_ctx")
QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded"}
)
"""What asking again does not mend; a quota a minute has another code, or none."""


@dataclass(frozen=True, slots=True)
class ErrorBody:
    """What an error body says: `codes` are its typed code and type, `words` its message."""

    codes: frozenset[str]
    words: str
    status: int | None = None

    @property
    def refuses(self) -> bool:
        """True where the request was turned down for its content. Words are no sign of it."""
        return bool(self.codes & FILTER_CODES)


def error_body(body: Any) -> ErrorBody:
    """What `body`, the JSON value or the text of an error, says."""
    if not isinstance(body, Mapping):
        return ErrorBody(frozenset(), body if isinstance(body, str) else "")
    error = body.get("error")
    fields = error if isinstance(error, Mapping) else body
    said = error if isinstance(error, str) else fields.get("message") or fields.get("detail")
    codes = frozenset(_codes(fields))
    numbers = [int(code) for code in codes if re.fullmatch(r"[45]\d\d", code)]
    return ErrorBody(codes, str(said or error or body), numbers[0] if numbers else None)


def fault_of(
    status: int, said: ErrorBody, headers: Mapping[str, str] | None = None
) -> InfrastructureFailure:
    """The fault of a reply with an error `status`; `said` is quoted in short."""
    kind = KINDS.get(status, "server" if status >= 500 else "bad_request")
    if kind == "bad_request" and _over_the_window(said):
        kind = "context_window"
    if kind == "rate_limit" and said.codes & QUOTA_CODES:
        kind = "payment"
    words = " ".join(redact(said.words).split())[:300]
    return InfrastructureFailure(
        f"status {status}: {words}" if words else f"status {status}",
        kind=kind,
        retry_after=retry_after_s(headers or {}),
        transient=kind in PASSING,
    )


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds the server wants us to wait; None if it does not say.

    A date is read against the server's own clock, so that ours may be wrong or jump.
    """
    found = {name.lower(): value for name, value in headers.items()}
    milliseconds = _number(found.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = found.get("retry-after")
    seconds = _number(said)
    if seconds is not None or said is None:
        return seconds
    until, now = _date(said), _date(found.get("date", ""))
    return None if until is None or now is None else max(0.0, (until - now).total_seconds())


def _codes(fields: Mapping[str, Any]) -> Iterator[str]:
    """The typed codes of an error, and of what it names as its cause."""
    for name in ("code", "type", "status"):
        value = fields.get(name)
        if isinstance(value, str | int) and not isinstance(value, bool):
            yield str(value).strip().lower().replace("-", "_")[:80]
    for name in ("innererror", "inner_error"):
        inner = fields.get(name)
        if isinstance(inner, Mapping):
            yield from _codes({"code": inner.get("code"), "type": inner.get("type")})


def _over_the_window(said: ErrorBody) -> bool:
    words = said.words.lower()
    return bool(said.codes & CONTEXT_CODES) or any(sign in words for sign in CONTEXT_SIGNS)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _date(text: str) -> datetime | None:
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None
    # A zone of -0000 means that the sender's is not known; the time itself is UTC.
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
