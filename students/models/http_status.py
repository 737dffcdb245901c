"""What an HTTP status of a provider means for the call: wait, give up, or take it as a refusal."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime

from heldout.splits.errors import InfrastructureFailure
from heldout.students.models.secrets import redact

KINDS = {
    400: "bad_request",
    401: "auth",
    402: "payment",
    403: "auth",
    404: "not_found",
    408: "timeout",
    409: "server",
    413: "context_window",
    422: "bad_request",
    425: "server",
    429: "rate_limit",
}
"""Names of the faults; every other status is `server` from 500 on, `bad_request` below."""

PASSING = frozenset({"timeout", "server", "rate_limit"})
"""Faults after which the same request may succeed."""

FILTER_SIGNS = ("content_filter", "content management policy", "content_policy")
CONTEXT_SIGNS = ("context_length_exceeded", "maximum context length", "context window", "n_ctx")
QUOTA_SIGNS = ("insufficient_quota", "exceeded your current quota", "billing")


def fault_of(
    status: int, said: str, headers: Mapping[str, str] | None = None
) -> InfrastructureFailure:
    """The fault of a reply with an error `status`; `said` is the body, quoted in short."""
    kind = KINDS.get(status, "server" if status >= 500 else "bad_request")
    if kind == "bad_request" and _any(CONTEXT_SIGNS, said):
        kind = "context_window"
    if kind == "rate_limit" and _any(QUOTA_SIGNS, said):
        kind = "payment"
    words = " ".join(redact(said).split())[:300]
    return InfrastructureFailure(
        f"status {status}: {words}" if words else f"status {status}",
        kind=kind,
        retry_after=retry_after_s(headers or {}),
        transient=kind in PASSING,
    )


def is_filter(status: int, said: str) -> bool:
    """True where the provider turned the request down for its content."""
    return status in (400, 422) and _any(FILTER_SIGNS, said)


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


def _any(signs: tuple[str, ...], said: str) -> bool:
    lower = said.lower()
    return any(sign in lower for sign in signs)


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < float("inf") else None


def _date(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text)
    except ValueError:
        return None
