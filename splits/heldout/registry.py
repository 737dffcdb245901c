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
from dataclasses import dataclass, field, replace
from pathlib import Path

from pydantic import TypeAdapter

from heldout.splits.benchmark import Consultation
from heldout.splits.chain import UNREADABLE, ChainFile
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_text
from heldout.splits.heldout.lines import HashedLines, Line, appending, trusted
from heldout.splits.heldout.looks import LOOK, Look, look_line
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
class RegisteredLook:
    """A look by the manifest with digest `genesis`, at these consultations."""

    look: Look
    genesis: str
    consultations: frozenset[str]

    @property
    def run(self) -> str:
        """Who looked."""
        return self.look.run


@dataclass(frozen=True, slots=True)
class Use:
    """What a run did with consultations; `counts` as a look, or `blocks` (hashes) that it wrote."""

    run: str
    what: str
    consultations: frozenset[str] = frozenset()
    counts: bool = False
    blocks: frozenset[str] = frozenset()


_USE = TypeAdapter(Use)


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
            f"seen before: {count} of {self.of} held-out consultations, {what}"
            for what, count in sorted(self.uses.items())
        )


@dataclass(frozen=True)
class LooksRegistry:
    """The registry at `path`."""

    path: Path

    def entries(self) -> list[RegisteredLook | Use]:
        """Everything on record, oldest first. Raises BadInput for what is no registry."""
        try:
            with trusted():
                lines = ChainFile(self.path, LAYOUT).read() if self.path.exists() else []
        except OSError as error:
            message = f"cannot be read ({error.strerror}); name another with looks.registry"
            raise BadInput.one(str(self.path), message) from error
        return self._entries(lines)

    def note(self, use: Use) -> None:
        """Put a use on record, once."""
        with appending(self.path, LAYOUT) as (file, lines):
            if use not in self._entries(lines):
                file.append({"event": "used", **_USE.dump_python(use, mode="json")})

    def register(self, looks: Sequence[RegisteredLook]) -> None:
        """Put looks on record that are not there yet."""
        with appending(self.path, LAYOUT) as (file, lines):
            known = self._entries(lines)
            there = {(e.look.id, e.run) for e in known if isinstance(e, RegisteredLook)}
            for entry in looks:
                if (entry.look.id, entry.run) not in there:
                    consultations = sorted(entry.consultations)
                    where = {"genesis": entry.genesis, "consultations": consultations}
                    file.append({**look_line(entry.look), **where})

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
        entries = [entry for entry in self.entries() if entry.run not in runs]
        used = [entry for entry in entries if isinstance(entry, Use)]
        wrote = {use.run for use in used if use.blocks & frozenset(seeds)}
        spent: dict[str, None] = {}
        uses: dict[str, set[int]] = {}
        for entry in entries:
            places = enumerate(held)
            mine = {place for place, digests in places if digests & entry.consultations}
            if not mine or (isinstance(entry, RegisteredLook) and entry.genesis == genesis):
                continue
            what = entry.what if isinstance(entry, Use) else "held out"
            uses.setdefault(f"for {what} ({entry.run})", set()).update(mine)
            counts = entry.counts if isinstance(entry, Use) else True
            if counts or (entry.run in wrote and what in SELECTION):
                spent[entry.run] = None
        return Seen(len(held), tuple(spent), {what: len(found) for what, found in uses.items()})

    def _entries(self, lines: Sequence[Line]) -> list[RegisteredLook | Use]:
        try:
            return [_entry(line) for line in lines]
        except UNREADABLE as error:  # a ValidationError is a ValueError
            detail = " ".join(str(error).split())[:200]
            raise BadInput.one(str(self.path), f"is no registry of looks: {detail}") from error


def _entry(line: Line) -> RegisteredLook | Use:
    if line["event"] == "used":
        return _USE.validate_python(line)
    look = LOOK.validate_python(line)
    return RegisteredLook(look, line["genesis"], frozenset(line["consultations"]))


def together(held: Iterable[Digests]) -> list[str]:
    """All digests of several consultations, sorted."""
    return sorted(frozenset().union(*held))


def register_use(pairs: Path, consultations: frozenset[str], use: Use) -> None:
    """Note in the registry of a benchmark's file what was done with labelled consultations."""
    registry = LooksRegistry(registry_path(None, pairs))
    registry.note(replace(use, consultations=consultations))
