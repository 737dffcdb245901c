"""Chinese, Japanese and Korean names and addresses, which no capital letter shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from heldout.splits.identifiers.cues import CUES

_SURNAMES = CUES.read("surnames", str)
_GIVEN = rf"[一-鿿](?<![{CUES.read('not_in_names', str)}])"
_SURNAME = rf"(?:{CUES.read('double_surnames', str)}|[{_SURNAMES}])"
_NAME = rf"{_SURNAME}(?:{_GIVEN}){{1,2}}"
_TITLE, _LABEL = CUES.read("han_titles", str), CUES.read("han_labels", str)
_AFTER = rf"(?=[\s\d，,。、；;：:（(！!？?）)」”\"'男女]|{CUES.read('han_after', str)}|$)"
_PATTERNS = tuple(
    re.compile(pattern, re.MULTILINE)
    for pattern in (
        rf"(?P<name>{_NAME})(?={_TITLE})",
        rf"(?:{_LABEL})[\s:：为是叫「“\"']*(?P<name>{_NAME}){_AFTER}",
        rf"^[\s「“\"'【\[]*(?P<name>{_NAME})(?=\s*[，,、；;（(]?\s*(?:男|女|\d))",
        rf"^[\s「“\"'【\[]*(?P<name>[{_SURNAMES}](?:{_GIVEN}){{2}})(?=\s*[，,])",
        r"(?P<name>[一-鿿]{1,3}[ 　]?[一-鿿ぁ-んァ-ヶー]{1,4})(?=さん|様|氏(?![一-鿿]))",
        r"(?P<name>[가-힣]{2,4})(?=\s?씨|\s?님)",
        r"(?P<name>[一-鿿]{2}(?:路|街|巷|弄|大道|胡同|小区|村|町|丁目|番地)\s?(?:第|之)?\s?\d+)",
        r"(?P<name>\d+\s?(?:号楼|單元|单元)\s?\d+)",
    )
)
_RELATIONS = CUES.pattern("relations")


def han_names(text: str) -> Iterator[str]:
    """Names by title, label or place in the line, and street addresses, of a `visible` text."""
    for pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not _RELATIONS.search(match["name"]):
                yield match["name"]
