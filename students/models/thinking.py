"""Taking off what a model wrote while it thought, before anything of a reply is read.

Thoughts stand between tags (`<think>`, `[THINK]`, `<|thinking|>`, any case, width and spacing, with
attributes, nested; the tokens of Gemma are such tags), before a closing tag whose opening stood in
the prompt, or in the channels of the harmony format, whose names may stand alone. Thinking that
never ended leaves no answer: what stands in it, or before it, may have been thought better of.

A tag that an answer quotes is no tag: between quotation marks or backticks, inside a complete JSON
object of the answer, or in a fenced part (`<<<NAME` to `NAME>>>`, each alone on its line).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_WIDE |= str.maketrans("◁▷〈〉⟨⟩‹›❬❭【】〔〕", "<><><><><>[][]")
"""Letters and brackets in other widths; one character each, so that places stay the same."""

_GAP = r"[\s|\u200b-\u200d\u2060\ufeff]{0,8}"
_WORD = (
    r"(?:think(?:ing)?|thoughts?|reasoning|scratch[-_ ]?pad|reflection|chain[-_]of[-_]thought|cot"
    r"|analysis|deliberation|(?:inner[-_ ]?)?monologue)"
)
_ATTRIBUTE = (
    r"""(?:\s{1,8}[\w:.-]{1,40}\s?=\s?(?:"[^"<>]{0,80}"|'[^'<>]{0,80}'|[^\s"'<>\]]{1,80}))"""
)
_TAG = (
    rf"(?:<|&lt;|\[(?=[^\]]{{0,20}}think)){_GAP}(?P<closing>/|end[-_](?:of[-_])?)?{_GAP}"
    rf"(?:[a-z]{{1,20}}[:_-]){{0,3}}(?P<word>{_WORD})(?:[-_](?:process|block|steps?|begin|start|(?P<last>end)))?"
    rf"(?:{_ATTRIBUTE}{{1,6}}|\s[\w:.-]{{1,40}})?{_GAP}(?P<whole>/)?{_GAP}(?:>|&gt;|\])"
)
_HEADER = r"(?:[^<\n]|<\|constrain\|>){0,80}<\|\s*message\s*\|>"
_CHANNEL = rf"<\|\s*channel\s*\|>\s*(?P<channel>\w*)(?:{_HEADER})?"
_TOKEN = r"(?P<opening><unused94>|<\|channel>\s*thought)|(?P<closed><unused95>|<channel\|>)"
"""Tokens of the Gemma family around a thought."""
_BETWEEN = r"<\|\s*(?:(?P<over>end|return|call|start)|message|constrain)\s*\|>"
_MARK = re.compile(f"{_TAG}|{_CHANNEL}|{_TOKEN}|{_BETWEEN}", re.IGNORECASE)
_ROLE = re.compile(r"\s*\w*")

_ANALYSIS = re.compile(r"\s*(?:assistant)?(?:analysis|commentary)(?=\s*\n|[^\sa-z:,.;)/'_-]|$)")
_GLUED = re.compile(r"assistantfinal")
_FINAL = re.compile(r"assistant\s?final|^[ \t]*final[ \t]*$", re.MULTILINE)
"""The names of channels where the tokens around them were dropped, as some servers do."""

_OPENED = re.compile(r"^[ \t]*<<<(\w{1,40})[ \t]*$", re.MULTILINE)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»", "„": "“"}
_DECODER = json.JSONDecoder(strict=False)
_TRIES = 200
"""How many braces are tried as the beginning of an object: text of braces alone ends too."""


@dataclass(frozen=True, slots=True)
class Parted:
    """A reply's text in two: the answer, and what was thought; `ended` says that thinking did."""

    answer: str
    thoughts: str = ""
    ended: bool = True


def parted(text: str) -> Parted:
    """The answer in `text` without its thoughts; empty where thinking never ended."""
    folded = text.translate(_WIDE)
    if _MARK.search(folded):
        return _Walk(text, folded).parted()
    return _by_names(text)


def _by_names(text: str) -> Parted:
    """The channels of a text from which all tokens were dropped but their names."""
    begun = _ANALYSIS.match(text)
    names = (_FINAL if begun else _GLUED).finditer(text)
    finals = [name for name in names if not _quoting(text, 0, name.start(), name.end())]
    if finals:
        last = finals[-1]
        return Parted(text[last.end() :].strip(), text[: last.start()].strip())
    return Parted("", text.strip(), ended=False) if begun else Parted(text)


@dataclass
class _Walk:
    """Goes through the marks of a text from left to right."""

    text: str
    folded: str
    answer: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    depth: int = 0
    channel: str = "final"
    channels: int = 0
    begun: int = 0

    @property
    def thinking(self) -> bool:
        """True where what follows is no answer."""
        return self.depth > 0 or self.channel != "final"

    def parted(self) -> Parted:
        """The text in two."""
        at = 0
        for mark in self._marks():
            self._put(self.text[at : mark.start()])
            self._turn(mark)
            at = _end(mark)
        self._put(self.text[at:])
        if self.thinking:
            return Parted("", self.text.strip(), ended=False)
        return Parted("".join(self.answer).strip(), "\n".join(self.thoughts).strip())

    def _put(self, piece: str) -> None:
        (self.thoughts if self.thinking else self.answer).append(piece)

    def _marks(self) -> Iterator[re.Match[str]]:
        at = 0
        while mark := _MARK.search(self.folded, at):
            at = mark.end()
            quoted = _between_quotes(self.text, mark)
            if not quoted and not self.thinking:
                end = _quoting(self.text, self.begun, mark.start(), mark.end())
                quoted, at = bool(end), max(at, end)
            if not quoted:
                self.begun = mark.end()
                yield mark

    def _turn(self, mark: re.Match[str]) -> None:
        """What follows the mark: an answer or a thought."""
        if mark["channel"] is not None:
            if not self.channels:
                self._retract()
            self.channels += 1
            self.channel, self.depth = mark["channel"].lower(), 0
        elif mark["over"]:
            self.channel = "final"
        elif not (mark["word"] or mark["opening"] or mark["closed"]) or mark["whole"]:
            return
        elif not (mark["closing"] or mark["last"] or mark["closed"]):
            self.depth += 1
        elif self.depth:
            self.depth -= 1
        else:
            self._retract()

    def _retract(self) -> None:
        """What seemed an answer was a thought: its opening stood in the prompt."""
        self.thoughts += self.answer
        self.answer = []


def _end(mark: re.Match[str]) -> int:
    """Where a mark ends, with the role that follows the beginning of a message."""
    started = (mark["over"] or "").lower() == "start"
    role = _ROLE.match(mark.string, mark.end()) if started else None
    return role.end() if role else mark.end()


def _between_quotes(text: str, mark: re.Match[str]) -> bool:
    before, after = text[mark.start() - 1 : mark.start()], text[mark.end() : mark.end() + 1]
    return bool(before) and _QUOTES.get(before) == after


def _quoting(text: str, begin: int, start: int, end: int) -> int:
    """Where the part that quotes [start, end) ends, from `begin` on; 0 if none quotes it."""
    fence = _fence_end(text, begin, start)
    if fence >= end:
        return fence
    place = text.find("{", begin, start)
    for _ in range(_TRIES):
        if place < 0:
            break
        try:
            _, stop = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            stop = place + 1
        if stop >= end:
            return stop
        place = text.find("{", stop, start)
    return 0


def _fence_end(text: str, begin: int, start: int) -> int:
    """Where the fenced part ends that begins between `begin` and `start`; 0 if none does."""
    rest = text[begin:]  # what stands before it was a mark, which ends a line too
    at = 0
    for _ in range(_TRIES):
        opened = _OPENED.search(rest, at, start - begin)
        if opened is None:
            break
        closing = re.compile(rf"^[ \t]*{opened[1]}>>>[ \t]*$", re.MULTILINE)
        closed = closing.search(rest, opened.end())
        if closed and closed.end() > start - begin:
            return begin + closed.end()
        at = closed.end() if closed else opened.end()
    return 0
