"""Frames: the fixed wrapper around the one block that evolves.

A frame is text with slots written `{{name}}`, in the order preamble with transcript and note,
instruction block, output contract. All candidates of a campaign share everything before the block,
so a provider's prefix cache serves them. Slots are filled in a single pass: a note that contains
`{{block}}` changes nothing else. The frame's own tags in a note or a transcript are escaped, in
whatever width they are written: `</note>` in a note must not end the note.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import resources

from heldout.splits.benchmark import Note
from heldout.splits.hashing import sha256_text
from heldout.splits.legible import as_latin

SLOT = re.compile(r"\{\{([a-z_]+)\}\}")
BLOCK_SLOT = "block"

_TAG = re.compile(r"</?([a-z][\w-]*)(?:\s[^<>]*)?>", re.IGNORECASE)
_HEADING = re.compile(r"\[\[\s*##\s*(\w+)\s*##\s*\]\]")
_NO_TAG = re.compile(r"(?!)")
_ESCAPES = {"<": "&lt;", ">": "&gt;", "[": "&#91;", "]": "&#93;"}


@dataclass(frozen=True)
class Frame:
    """A prompt template; `slots` lists the names it fills, in order of appearance."""

    name: str
    template: str

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Names of the slots, in order of appearance."""
        return tuple(SLOT.findall(self.template))

    @cached_property
    def sha256(self) -> str:
        """Hash of the template; it stands on every judgement and every candidate."""
        return sha256_text(self.template)

    @cached_property
    def own_tags(self) -> re.Pattern[str]:
        """Finds the frame's own tags in a text that `as_latin` shows, see `tags`."""
        names = {name.casefold() for name in _TAG.findall(self.template)}
        return tags(names, _HEADING.findall(self.template))

    def render(self, values: Mapping[str, str]) -> str:
        """The template with every slot filled in one pass, its own tags in data escaped.

        Raises KeyError when a slot has no value.
        """
        return SLOT.sub(lambda match: self._filled(match.group(1), values), self.template)

    def escaped(self, text: str) -> str:
        """`text` with the frame's own tags escaped; a text without them is given back as it is."""
        for start, end in reversed(self.tags_in(text)):
            tag = "".join(_ESCAPES.get(as_latin(c), c) for c in text[start:end])
            text = text[:start] + tag + text[end:]
        return text

    def tags_in(self, text: str) -> list[tuple[int, int]]:
        """Where the frame's own tags begin and end in `text`, first to last."""
        if text.isascii():
            return [match.span() for match in self.own_tags.finditer(text)]
        shown = [(plain, at) for at, c in enumerate(text) for plain in as_latin(c)]
        found = self.own_tags.finditer("".join(plain for plain, _ in shown))
        return [(shown[m.start()][1], shown[m.end() - 1][1] + 1) for m in found]

    def _filled(self, slot: str, values: Mapping[str, str]) -> str:
        return values[slot] if slot == BLOCK_SLOT else self.escaped(values[slot])

    def with_block(self, block: str) -> str:
        """The template with only the block filled in: what an emitted prompt file holds."""
        return SLOT.sub(
            lambda match: block if match.group(1) == BLOCK_SLOT else match.group(0), self.template
        )


@dataclass
class EscapedTags:
    """The frame's own tags in data: how many there are, in how many texts.

    Every design shows transcripts and notes in tags of these names, in one frame or another.
    """

    frame: Frame
    tags: int = 0
    texts: int = 0

    @classmethod
    def of(cls, frame: Frame, notes: Iterable[Note]) -> EscapedTags:
        """Those in `notes` and their transcripts, each text once."""
        escaped = cls(frame)
        escaped.see(*dict.fromkeys(t for note in notes for t in (note.transcript, note.text)))
        return escaped

    def see(self, *texts: str) -> None:
        """Count those in `texts`."""
        if _TAG.search(self.frame.template):
            shown = Frame(self.frame.name, f"{self.frame.template}<transcript><note>")
            found = [len(shown.tags_in(text)) for text in texts]
            self.tags += sum(found)
            self.texts += sum(map(bool, found))

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person is told: nothing where there are none."""
        if not self.texts:
            return ()
        counted = f"{self.texts} text{'s' if self.texts > 1 else ''}"
        verb = "hold" if self.texts > 1 else "holds"
        return (
            f"{counted} of the data {verb} tags of the judge's own frame, such as </note> "
            f"({self.tags} in all); they are escaped, so that no text ends its place in a prompt",
        )


def tags(names: Collection[str], headings: Collection[str] = ()) -> re.Pattern[str]:
    """Finds tags of these names, opening or closing, however spaced, and DSPy's headings of fields.

    A closing tag counts without its end: a model reads it as one all the same.
    """
    forms = list(_tag_forms(names))
    if headings:
        spelled = "|".join(map(re.escape, sorted({*headings, "completed"})))
        forms.append(rf"\[\s*\[\s*##\s*(?:{spelled})\s*##\s*\]\s*\]")
    return re.compile("|".join(forms), re.IGNORECASE) if forms else _NO_TAG


def _tag_forms(names: Collection[str]) -> Iterator[str]:
    if not names:
        return
    # The underscore of a name may be a blank, and there may be blanks between its letters.
    letters = (
        r"\s*".join("[_-]?" if c in "_-" else re.escape(c) for c in n) for n in sorted(names)
    )
    name = f"(?:{'|'.join(letters)})"
    yield rf"<\s*\\?\s*/\s*{name}\b(?:[^<>\n]*>)?"
    yield rf"<\s*{name}(?:\s[^<>]*)?/?\s*>"


def load_frame(name: str) -> Frame:
    """The frame that ships as `students/templates/<name>.txt`."""
    path = resources.files("heldout.students") / "templates" / f"{name}.txt"
    return Frame(name, path.read_text("utf-8"))


def load_block(name: str) -> str:
    """The instruction block that ships as `students/templates/blocks/<name>.txt`."""
    path = resources.files("heldout.students") / "templates" / "blocks" / f"{name}.txt"
    return path.read_text("utf-8").strip()
