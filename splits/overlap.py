"""Shared text: word runs, their hashes, and near-duplicates.

Two questions are answered here. Does a block repeat a run of eight words of a note or transcript
(the leakage guard, which for held-out knows hashes only)? Do two consultations share so much text
that they must not stand in different splits (Jaccard similarity of their sets of five-word runs;
Broder 1997)? Both read text through the same normalisation, `words`.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

RUN_WORDS = 8
"""Length in words of a run that counts as copied text."""

GRAM_WORDS = 5
"""Length in words of the runs that near-duplicates are compared by."""

NEAR_DUPLICATE = 0.6
"""Jaccard similarity from which on two texts are near-duplicates."""

_WORD = re.compile(r"[^\W_]+")
_APOSTROPHES = dict.fromkeys(map(ord, "'’‘ʼ`"), None)
_INVISIBLE = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), None)
_SPEAKER = re.compile(r"^[ \t]*\[[^\W\d][\w ]{0,30}\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class NearDuplicate:
    """Two owners (consultation ids, in order) with near-duplicate texts; `similarity` in (0, 1]."""

    first: str
    second: str
    similarity: float


def words(text: str) -> list[str]:
    """The words of `text`, normalised so that a copy cannot hide behind typography.

    Compatibility forms are unified (NFKC), case is folded, apostrophes and invisible characters
    are dropped; a word is a run of letters and digits. `2.5 mg` is three words.
    """
    plain = unicodedata.normalize("NFKC", text.translate(_INVISIBLE)).casefold()
    return _WORD.findall(plain.translate(_APOSTROPHES))


def shingles(text: str, size: int = RUN_WORDS) -> set[str]:
    """Every run of `size` words of `text`, words joined by a space; empty if it has fewer.

    Where lines open with a speaker tag such as `[doctor]`, the runs of the text without its tags
    are added, so that dialogue copied across turns is found with and without them.
    """
    found = _runs(words(text), size)
    untagged, tags = _SPEAKER.subn("", text)
    return found | _runs(words(untagged), size) if tags else found


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
    tokens = words(text)
    if len(tokens) < size:
        return frozenset([" ".join(tokens)] if tokens else [])
    return frozenset(_runs(tokens, size))


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


def _runs(tokens: Sequence[str], size: int) -> set[str]:
    if size < 1:
        raise ValueError(f"a run has at least one word, not {size}")
    return set(map(" ".join, zip(*(islice(tokens, k, None) for k in range(size)), strict=False)))


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
