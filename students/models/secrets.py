"""Keeping keys out of everything that is written down.

A provider's message may quote the key it refused, and a gateway may echo the headers it was sent.
Whatever came over the network passes `redact` before it is stored, logged or shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from heldout.splits.errors import InfrastructureFailure

MASK = "[redacted]"
Redact = Callable[[str], str]

SECRET_NAME = re.compile(
    r"(?:(?:^|[_\-.])(?:api_?key|key|token|secret|credentials?|authorization)|passw(?:or)?d)$",
    re.IGNORECASE,
)
"""Names of variables and fields that hold a secret."""

SECRET_VALUE = re.compile(
    r"""\b(?:sk|pk|rk|gsk|xai|hf|ghp|gho|glpat|AKIA|AIza)[-_]?[A-Za-z0-9_\-]{16,}  # key prefixes
      | (?<=Bearer\s)[^\s"',]{8,}
      | (?<=Basic\s)[A-Za-z0-9+/=]{12,}
      | \beyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]*               # JWT
    """,
    re.VERBOSE,
)
"""What keys of common providers look like."""

SHORTEST = 8
"""Shorter values of secret-looking variables are no keys, and occur in ordinary text."""

ESCAPE = re.compile(r"[\\%]|&#")
"""Without one of these no character is written in another form."""


def looks_secret(name: str) -> bool:
    """True for a variable or field whose name says that it holds a secret."""
    return SECRET_NAME.search(name) is not None


def redactor(*sent: str) -> Redact:
    """A function that masks what the environment holds of secrets now, and known key shapes.

    `sent` are keys that are sent, whatever their variables are called. A value is found however its
    characters are written: as they are, or as JSON, a URL or HTML would write them.
    """
    held = {value for name, value in os.environ.items() if looks_secret(name)}
    known = {value.strip() for value in (*held, *sent)}
    # A value that contains another must leave no rest behind.
    values = sorted((v for v in known if len(v) >= SHORTEST), key=lambda v: (-len(v), v))
    escaped = [re.compile("".join(map(_any_form, value))) for value in values]

    def clean(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, MASK)
        if ESCAPE.search(text):
            for pattern in escaped:
                text = pattern.sub(MASK, text)
        return SECRET_VALUE.sub(MASK, text)

    return clean


def _any_form(character: str) -> str:
    """A pattern for one character as it stands or escaped."""
    code = ord(character)
    octets = "".join(f"%{octet:02x}" for octet in character.encode("utf-8", "surrogatepass"))
    forms = rf"\\+u{code:04x}|\\+x{code:02x}|{octets}|&#0*{code};|&#x0*{code:x};"
    return rf"(?:\\*{re.escape(character)}|(?i:{forms}))"


def redact(text: str) -> str:
    """`text` without the value of any secret-looking environment variable or known key shape."""
    return redactor()(text)


def key_in(variable: str | None) -> str:
    """The key that the environment variable holds, empty where none is named.

    Raises InfrastructureFailure (`auth`, lasting) where it is not set or no header can carry it:
    without this check another key of the environment might be sent in its place.
    """
    if variable is None:
        return ""
    key = os.environ.get(variable, "").strip()
    if not key:
        said = f"the environment variable {variable}, which should hold the key, is not set"
    elif not (key.isascii() and key.isprintable()):
        said = f"the key in {variable} holds characters that no header can carry"
    else:
        return key
    raise InfrastructureFailure(said, kind="auth", transient=False)
