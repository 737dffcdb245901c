"""The registry of looks: who has looked at which consultations, whatever manifest they came by.

A looks file belongs to one manifest, and a manifest can be copied, lost or drawn anew from the same
data. The registry goes by the consultations themselves: an append-only, hash-chained file beside
the benchmark's own, which every command that judges reads and writes. It holds digests of whole
transcripts and notes, never a text.

Two kinds of line: `opened`, a look with the consultations of its held-out set; and `used`, what a
run did with consultations that is no look: reflect and accept notes of a campaign, notes that
`judge`, `rerun`, `apply` or `calibrate` had labels for, and the blocks that a campaign wrote.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path

from heldout.splits.benchmark import Consultation
from heldout.splits.chain import ChainFile
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.lines import HashedLines, Line, appending, trusted
from heldout.splits.overlap import words

VARIABLE = "HELDOUT_LOOKS"
"""Environment variable that names the registry, before any setting."""
NAME = "heldout-looks.jsonl"
LAYOUT = HashedLines("0" * 64, "the start of a registry")
SELECTION = ("reflect", "accept")
"""Uses that a block can have been chosen on."""

Digests = frozenset[str]


def consultation_digests(consultation: Consultation, *, has_transcripts: bool = True) -> Digests:
    """Digests of the transcript and of each clean note, by their words alone.

    One that is found again is enough to know the consultation, whatever its id, its errored notes
    or the order of the file.
    """
    texts = [("note", note.text) for note in consultation.clean]
    if has_transcripts:
        texts.append(("transcript", consultation.transcript))
    return frozenset(sha256_text(f"{kind} {' '.join(words(text))}") for kind, text in texts)


def registry_path(configured: Path | None, pairs: Path) -> Path:
    """Where the registry of a benchmark lies: as named, beside its file, or where one works."""
    if named := os.environ.get(VARIABLE):
        return Path(named)
    if configured is not None:
        return configured
    beside = pairs.resolve().with_name(NAME)
    writable = os.access(beside if beside.exists() else beside.parent, os.W_OK)
    return beside if writable else Path.cwd() / NAME


@dataclass(frozen=True, slots=True)
class Use:
    """What a run did with consultations; `counts` as a look, or `blocks` (hashes) that it wrote."""

    run: str
    what: str
    consultations: frozenset[str] = frozenset()
    counts: bool = False
    blocks: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Seen:
    """What is known of a held-out set beyond its own manifest.

    `runs` used up its looks elsewhere. `uses` counts consultations of `of` by what they were seen
    for.
    """

    of: int = 0
    runs: tuple[str, ...] = ()
    uses: Mapping[str, int] = field(default_factory=dict)

    @property
    def sentences(self) -> tuple[str, ...]:
        """A line a use, nothing where none was seen."""
        return tuple(
            f"{count} of {self.of} held-out consultations were seen before: {what}"
            for what, count in sorted(self.uses.items())
        )


@dataclass(frozen=True)
class LooksRegistry:
    """The registry at `path`."""

    path: Path

    def lines(self) -> list[Line]:
        """Every line, oldest first. Raises BadInput where the chain breaks."""
        with trusted():
            return ChainFile(self.path, LAYOUT).read() if self.path.exists() else []

    def writing(self) -> AbstractContextManager[tuple[ChainFile[Line, Line], list[Line]]]:
        """The file, locked and open for appending, and the lines it holds. Raises BadInput."""
        return appending(self.path, LAYOUT)

    def note(self, use: Use) -> None:
        """Put a use on record, once."""
        line = {
            "event": "used",
            "run": use.run,
            "what": use.what,
            "counts": use.counts,
            "consultations": sorted(use.consultations),
            "blocks": sorted(use.blocks),
        }
        with self.writing() as (file, lines):
            if not any(line.items() <= known.items() for known in lines):
                file.append(line)

    def seen(
        self,
        held: Sequence[Digests],
        *,
        genesis: str,
        runs: Collection[str] = (),
        seeds: Collection[str] = (),
    ) -> Seen:
        """What others than `runs` did with the consultations of `held`, by another manifest.

        `genesis` is the digest of one's own manifest, whose looks are counted there. `seeds` are
        hashes of one's seed blocks: where a run wrote one of them, what it was chosen on counts.
        """
        lines = [line for line in self.lines() if line["run"] not in runs]
        wrote = {line["run"] for line in lines if set(seeds) & set(line.get("blocks", ()))}
        spent: dict[str, None] = {}
        uses: dict[str, set[int]] = {}
        for line in lines:
            there = set(line["consultations"])
            mine = {place for place, digests in enumerate(held) if digests & there}
            if not mine or line.get("genesis") == genesis:
                continue
            what = line.get("what", "held out")
            uses.setdefault(f"{what} ({line['run']})", set()).update(mine)
            counts = line["event"] == "opened" or line["counts"]
            if counts or (line["run"] in wrote and what in SELECTION):
                spent[line["run"]] = None
        return Seen(len(held), tuple(spent), {what: len(found) for what, found in uses.items()})


def together(held: Iterable[Digests]) -> list[str]:
    """All digests of several consultations, sorted."""
    return sorted(frozenset().union(*held))


def register_use(pairs: Path, consultations: frozenset[str], use: Use) -> None:
    """Note in the registry of a benchmark's file what was done with labelled consultations."""
    registry = LooksRegistry(registry_path(None, pairs))
    registry.note(replace(use, consultations=consultations))
