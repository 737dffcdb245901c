"""What of a data set no block may repeat: copied text and identifiers, kept as hashes in memory.

A block is held against three things of every note and transcript of every split:

- runs of eight words, one of which is enough;
- short pieces of four words, of which many of one consultation are as good as a long one;
- identifiers (names, addresses, dates, numbers, e-mail addresses), however short.

What is found in `COMMON` or more consultations is a turn of phrase and exempt, and so is what the
campaign's own texts hold. Texts become hashes where they are read (for held-out in the vault) and
never leave it; the hashes are keyed anew in every process and are written nowhere, because whoever
has a file with the hash of a short identifier finds the identifier by trying.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from heldout.splits.benchmark import Consultation
from heldout.splits.identifiers.found import (
    IdentifierKind,
    called,
    figures,
    held,
    mentions,
    spelled,
)
from heldout.splits.identifiers.names import lower_case_words
from heldout.splits.legible import forms
from heldout.splits.overlap import WHOLE_WORD, shingles, spans, tokens, weights

COMMON = 3
"""Number of consultations from which on something is a turn of phrase."""

PIECE_WORDS = 4
"""Length in words of a short piece."""

GATHERED_WORDS = 16
"""Words in short pieces of one consultation from which on they count as copied text."""


@dataclass(frozen=True)
class ProtectedTexts:
    """Hashes of what no block may repeat; `salt` is for the digest of an overlap on record.

    `pieces` maps a short piece to the numbers of the (at most two) consultations that hold it.
    """

    runs: frozenset[int] = field(default=frozenset(), repr=False)
    pieces: Mapping[int, tuple[int, ...]] = field(default_factory=dict, repr=False)
    identifiers: Mapping[int, IdentifierKind] = field(default_factory=dict, repr=False)
    salt: str = ""

    def copied(self, text: str) -> frozenset[str]:
        """The protected ones among the eight-word runs of `text`."""
        return frozenset(run for run in shingles(text) if hash(run) in self.runs)

    def gathered(self, text: str) -> int:
        """The most words of `text` that stand in short pieces of one and the same consultation."""
        if not self.pieces:
            return 0
        return max(self._gathered(tokens(form)) for form in forms(text))

    def named(self, text: str) -> tuple[IdentifierKind, ...]:
        """The kinds of protected identifiers in `text`, each once, in the order of their list."""
        found = {self.identifiers.get(hash(key)) for key in mentions(text)}
        return tuple(kind for kind in IdentifierKind if kind in found)

    def _gathered(self, spelled: list[str]) -> int:
        covered: dict[int, set[int]] = {}
        for start, end in spans(spelled, PIECE_WORDS):
            for holder in self.pieces.get(hash(" ".join(spelled[start:end])), ()):
                covered.setdefault(holder, set()).update(range(start, end))
        weight = weights(spelled)
        most = max((sum(weight[row] for row in rows) for rows in covered.values()), default=0)
        return most // WHOLE_WORD


def protect(
    consultations: Iterable[Consultation],
    *,
    own: Iterable[str] = (),
    salt: str = "",
    has_transcripts: bool = True,
) -> ProtectedTexts:
    """What no block may repeat of `consultations`, those of all splits.

    `own` are texts of the campaign itself, whose words are exempt. Without transcripts the
    placeholder in their place is not protected.
    """
    texts = [_texts(c, has_transcripts=has_transcripts) for c in consultations]
    mine = list(own)
    runs = _rare(texts, mine, lambda text: set(map(hash, shingles(text))))
    pieces = _rare(texts, mine, lambda text: set(map(hash, shingles(text, PIECE_WORDS))))
    # The notes of a consultation differ in one edit: each line is read once.
    lines = [["\n".join(dict.fromkeys("\n".join(of_one).splitlines()))] for of_one in texts]
    in_lower_case = Counter(word for (text,) in lines for word in lower_case_words(text))
    ordinary = {word for word, holders in in_lower_case.items() if holders >= COMMON}
    # «Has No Fever» is no name, although it is written like one.
    names = {
        text: frozenset(key for key in called(text) if not ordinary.issuperset(spelled(key)))
        for (text,) in lines
    }
    every = frozenset().union(*names.values())

    def held_or_called(text: str) -> frozenset[str]:
        # A name counts where it is called, also the other way round, and where it merely stands.
        return held(text, every) | names.get(text, frozenset())

    known = _rare(lines, mine, figures) | _rare(lines, mine, held_or_called)
    return ProtectedTexts(
        runs=frozenset(runs),
        pieces=pieces,
        identifiers={hash(key): IdentifierKind.of(key) for key in known},
        salt=salt,
    )


Key = TypeVar("Key", bound=Hashable)


def _rare(
    texts: Sequence[Sequence[str]], own: Iterable[str], read: Callable[[str], Collection[Key]]
) -> dict[Key, tuple[int, ...]]:
    """What `read` finds in fewer than `COMMON` consultations and not in `own`, with its holders."""
    holders: dict[Key, tuple[int, ...]] = {}
    for number, of_one in enumerate(texts):
        found: set[Key] = set()
        found.update(*map(read, of_one))
        for key in found:
            holders[key] = (*holders.get(key, ()), number)
    exempt: set[Key] = set()
    exempt.update(*map(read, own))
    for key in exempt:
        holders.pop(key, None)
    return {key: having for key, having in holders.items() if len(having) < COMMON}


def _texts(consultation: Consultation, *, has_transcripts: bool) -> list[str]:
    texts = [note.text for note in consultation.notes]
    return [*texts, consultation.transcript] if has_transcripts else texts
