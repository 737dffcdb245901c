"""Keeping keys out of everything that is written down.

A provider's message may quote the key it refused, and a gateway may echo the headers it was sent.
Whatever came over the network passes `redact` before it is stored, logged or shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

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


def looks_secret(name: str) -> bool:
    """True for a variable or field whose name says that it holds a secret."""
    return SECRET_NAME.search(name) is not None


def redactor() -> Redact:
    """A function that masks the secrets the environment holds now, and known key shapes."""
    values = sorted(
        (v for name, v in os.environ.items() if len(v) >= SHORTEST and looks_secret(name)),
        key=len,
        reverse=True,  # a value that contains another must leave no rest behind
    )

    def clean(text: str) -> str:
        for value in values:
            if value in text:
                text = text.replace(value, MASK)
        return SECRET_VALUE.sub(MASK, text)

    return clean


def redact(text: str) -> str:
    """`text` without the value of any secret-looking environment variable or known key shape."""
    return redactor()(text)
