"""Shared text: word runs, their hashes, and near-duplicates.

Two questions are answered here. Does a block repeat a run of eight words of a note or transcript
(the leakage guard)? Do two consultations share so much text that they must not stand in different
splits (Jaccard similarity of their sets of five-word runs; Broder 1997)? Both read text through
the same normalisation, `words`.

Where a script puts no spaces between words, every character is a word of its own and weighs as
much of one as its script says: a run of eight words is then the shortest stretch that weighs eight
(12 Chinese characters, 16 of kana, 24 Thai letters). No dictionary is needed, and whatever else
stands around a copy, the copy has the same runs.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from heldout.splits.legible import forms, visible

RUN_WORDS = 8
"""Length in words of a run that counts as copied text."""

GRAM_WORDS = 5
"""Length in words of the runs that near-duplicates are compared by."""

NEAR_DUPLICATE = 0.6
"""Jaccard similarity from which on two texts are near-duplicates."""

WHOLE_WORD = 12
"""Weight of a word between spaces; those of single characters are parts of it."""

_UNSPACED = {
    8: "々〇\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff\U00020000-\U000323af",
    6: "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff",
    4: "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u19df\u1a20-\u1aad\u1b05-\u1b4b",
}
"""Weight of a character to the scripts without spaces: Chinese, Yi; kana; Thai, Lao, Burmese, Khmer
and their neighbours, whose letters are counted without vowel signs and tones."""

_CHARACTERS = {weight: re.compile(f"[{ranges}]") for weight, ranges in _UNSPACED.items()}
UNSPACED = re.compile(f"[{''.join(_UNSPACED.values())}]")
"""A character of a script without spaces between words."""

_WORD = re.compile(f"{UNSPACED.pattern}|[^\\W_{UNSPACED.pattern[1:-1]}]+")
_ASCII_WORD = re.compile("[a-z0-9]+")
_APOSTROPHES = dict.fromkeys(map(ord, "'’‘ʼ`"), None)
_SPEAKER = re.compile(r"^[ \t]*\[[^\W\d][\w ]{0,30}\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two owners (consultation ids, in order) with near-duplicate texts; `similarity` in (0, 1]."""

    first: str
    second: str
    similarity: float


def words(text: str) -> list[str]:
    """The words of `text`, normalised so that a copy cannot hide behind typography.

    A word is a run of letters and digits, or one character of a script without spaces, of the
    text as `visible` shows it, in lower case and without apostrophes. `2.5 mg` is three words.
    """
    return tokens(visible(text))


def tokens(form: str) -> list[str]:
    """The words of one form of a text, see `words` and `heldout.splits.legible.forms`."""
    word = _ASCII_WORD if form.isascii() else _WORD
    return word.findall(form.casefold().translate(_APOSTROPHES))


def shingles(text: str, size: int = RUN_WORDS) -> set[str]:
    """Every run of `size` words of `text`, words joined by a space; empty if it has fewer.

    All `forms` of the text are read. Where lines open with a speaker tag such as `[doctor]`, the
    runs of the text without its tags are added, so that dialogue copied across turns is found with
    and without them.
    """
    found: set[str] = set()
    for form in forms(text):
        found |= _runs(tokens(form), size)
        untagged, tags = _SPEAKER.subn("", form)
        if tags:
            found |= _runs(tokens(untagged), size)
    return found


def shingle_hash(shingle: str, salt: str = "") -> int:
    """A 64-bit BLAKE2b hash of a run, keyed with `salt` (at most 64 bytes; RFC 7693)."""
    digest = hashlib.blake2b(shingle.encode(), digest_size=8, key=salt.encode())
    return int.from_bytes(digest.digest(), "big")


def shingle_hashes(text: str, salt: str = "", size: int = RUN_WORDS) -> set[int]:
    """The hashes of every run of `text`, see `shingles` and `shingle_hash`."""
    return {shingle_hash(run, salt) for run in shingles(text, size)}


def grams(text: str, size: int = GRAM_WORDS) -> frozenset[str]:
    """The set of `size`-word runs that similarity is measured on.

    A text with fewer words is its own only run, so that two short texts can still be equal.
    """
    found = words(text)
    return frozenset(_runs(found, size) or ([" ".join(found)] if found else []))


def jaccard(first: frozenset[str], second: frozenset[str]) -> float:
    """Shared share of two sets, in [0, 1]; 0 where both are empty."""
    shared = len(first & second)
    union = len(first) + len(second) - shared
    return shared / union if union else 0.0


def near_duplicates(
    texts: Iterable[tuple[str, str]], threshold: float = NEAR_DUPLICATE
) -> tuple[NearDuplicate, ...]:
    """Every pair of owners that have near-duplicate texts, most similar first.

    `texts` holds (owner, text); an owner may have several texts, which are not compared with each
    other; the most similar pair of texts counts. Exact, not sampled: sets with similarity >= t
    share one of their ceil((1 - t) |set|) + 1 rarest runs, so only pairs that do are compared
    (prefix filter; Chaudhuri et al. 2006).
    """
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold must lie in (0, 1], not {threshold}")
    owned = [(owner, grams(text)) for owner, text in texts]
    best: dict[tuple[str, str], float] = {}
    for left, right in _candidates([gram_set for _, gram_set in owned], threshold):
        (one, first), (two, second) = owned[left], owned[right]
        if one == two or min(len(first), len(second)) < threshold * max(len(first), len(second)):
            continue
        similarity = jaccard(first, second)
        if similarity >= threshold:
            key = (one, two) if one < two else (two, one)
            best[key] = max(best.get(key, 0.0), similarity)
    found = [NearDuplicate(one, two, similarity) for (one, two), similarity in best.items()]
    return tuple(sorted(found, key=lambda pair: (-pair.similarity, pair.first, pair.second)))


def clusters(pairs: Iterable[NearDuplicate]) -> tuple[tuple[str, ...], ...]:
    """Owners linked by near-duplicate pairs, directly or through others; each group sorted."""
    group: dict[str, set[str]] = {}
    for pair in pairs:
        merged = group.get(pair.first, {pair.first}) | group.get(pair.second, {pair.second})
        group.update(dict.fromkeys(merged, merged))
    unique = {id(members): members for members in group.values()}
    return tuple(sorted(tuple(sorted(members)) for members in unique.values()))


def spans(tokens: Sequence[str], size: int = RUN_WORDS) -> Iterator[tuple[int, int]]:
    """Start and end, in tokens, of every run of `size` words: the shortest that weighs as much."""
    if size < 1:
        raise ValueError(f"a run has at least one word, not {size}")
    heavy, end, weight = weights(tokens), 0, 0
    for start in range(len(tokens)):
        while weight < size * WHOLE_WORD and end < len(tokens):
            weight += heavy[end]
            end += 1
        if weight < size * WHOLE_WORD:
            return
        yield start, end
        weight -= heavy[start]


def weights(tokens: Iterable[str]) -> list[int]:
    """What each word weighs; `WHOLE_WORD` unless it is a character of a script without spaces."""
    return [_weight(token) for token in tokens]


def _runs(tokens: Sequence[str], size: int) -> set[str]:
    if any(len(token) == 1 and UNSPACED.match(token) for token in tokens):
        return {" ".join(tokens[start:end]) for start, end in spans(tokens, size)}
    if size < 1:
        raise ValueError(f"a run has at least one word, not {size}")
    return set(map(" ".join, zip(*(islice(tokens, k, None) for k in range(size)), strict=False)))


def _weight(token: str) -> int:
    if len(token) > 1 or token.isascii():
        return WHOLE_WORD
    return next((w for w, found in _CHARACTERS.items() if found.match(token)), WHOLE_WORD)


def _candidates(sets: Sequence[frozenset[str]], threshold: float) -> set[tuple[int, int]]:
    frequency = Counter(gram for gram_set in sets for gram in gram_set)
    holders: dict[str, list[int]] = {}
    found: set[tuple[int, int]] = set()
    for index, gram_set in enumerate(sets):
        # A rounding error must not shorten the prefix, hence the slack before the ceiling.
        length = len(gram_set) - math.ceil(threshold * len(gram_set) - 1e-9) + 1
        rarest = sorted(gram_set, key=lambda gram: (frequency[gram], gram))
        for gram in rarest[:length]:
            holding = holders.setdefault(gram, [])
            found.update((other, index) for other in holding)
            holding.append(index)
    return found
