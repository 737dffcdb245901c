"""Runs of eight words that no block may hold, known by their hashes.

Notes and transcripts of reflect and accept are hashed here. Of held-out there are only the salted
hashes that stand in the manifest since the data was split: whoever checks a block has no way to
the text they stand for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from heldout.splits.benchmark import Consultation
from heldout.splits.overlap import shingle_hash, shingle_hashes
from heldout.splits.partition.word_runs import COMMON, HeldoutRuns, consultation_runs
from heldout.students.frames import Frame


@dataclass(frozen=True)
class ProtectedRuns:
    """Hashes of the runs of every split, and of the runs that are exempt.

    `search` (reflect and accept) and `exempt` are hashed without salt, `heldout` with its own.
    """

    search: frozenset[int]
    heldout: HeldoutRuns
    exempt: frozenset[int] = frozenset()

    def matches(self, runs: Collection[str]) -> frozenset[str]:
        """The protected ones among `runs` (of words as `heldout.splits.overlap.words` has them)."""
        return frozenset(run for run in runs if self._protects(run))

    def _protects(self, run: str) -> bool:
        plain = shingle_hash(run)
        if plain in self.exempt:
            return False
        salted = shingle_hash(run, self.heldout.salt)
        if salted in self.heldout.exempt:
            return False
        return plain in self.search or salted in self.heldout.guarded


def protect(
    consultations: Iterable[Consultation],
    *,
    heldout: HeldoutRuns,
    own: Iterable[str],
    has_transcripts: bool = True,
) -> ProtectedRuns:
    """The protected runs of a campaign.

    `consultations` are those of reflect and accept; `heldout` comes from the vault; `own` are texts
    of the campaign itself (see `own_texts`), whose runs are exempt like those found in three or
    more consultations. Without transcripts the placeholder in their place is not protected.
    """
    counts: Counter[int] = Counter()
    for consultation in consultations:
        runs = consultation_runs(consultation, has_transcripts=has_transcripts)
        counts.update(map(shingle_hash, runs))
    exempt = {run for run, holders in counts.items() if holders >= COMMON}
    for text in own:
        exempt |= shingle_hashes(text)
    return ProtectedRuns(frozenset(counts) - exempt, heldout, frozenset(exempt))


def own_texts(frame: Frame, seeds: Iterable[str]) -> tuple[str, ...]:
    """Texts whose runs a block may repeat: the frame's and every seed's."""
    return (frame.template, *seeds)
