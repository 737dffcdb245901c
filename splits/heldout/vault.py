"""The vault: the only way to held-out notes.

`open_splits` reads a benchmark, verifies its frozen partition, and hands out the notes of reflect
and accept; of held-out it hands out a `Vault`, which keeps labels and lengths but no text. The
notes come out of the benchmark's own files again, verified again, for as long as a look is open,
and for the moment in which the guard's hashes are made of them (`Splits.protected`):

    splits = open_splits(load, manifest, journal=journal, buyer=Buyer(run_id))
    with splits.vault.look(LookRequest(LookKind.BASELINE, target, block_sha256, settings)) as look:
        if look.stored is not None and not look.own:
            result = look.stored                    # another run has bought this very look
        else:
            result = judge_all(look.notes)          # `opened` is on disk and journalled by now
            look.close(result)

A resumed run gets its own look again, open or closed, judges from its stored calls and closes it
with the same result, which changes nothing. So the journal's `look` event is the same each time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from heldout.splits.benchmark import Benchmark, CleanMeans, Consultation, Note, NoteLabel
from heldout.splits.errors import BadInput, LooksSpent
from heldout.splits.heldout.looks import (
    Look,
    LookEvent,
    LookJournal,
    LookRequest,
    LookResult,
    Standing,
)
from heldout.splits.heldout.looks_file import Buyer, HeldoutSet, LooksFile
from heldout.splits.heldout.registry import (
    LooksRegistry,
    Seen,
    Use,
    consultation_digests,
    together,
)
from heldout.splits.loading.benchmark_files import Loaded
from heldout.splits.overlap import words
from heldout.splits.partition.draw import check_consultations, check_files, verify
from heldout.splits.partition.manifest import SPLITS, Partition, read_manifest
from heldout.splits.protected import ProtectedTexts, protect


@dataclass(frozen=True, slots=True)
class BenchmarkFacts:
    """What a benchmark declares of itself, without its texts."""

    name: str
    version: str
    sha256: str
    clean_means: CleanMeans
    public: bool
    has_transcripts: bool


@dataclass
class OpenLook:
    """A look while it is open.

    `own`: this run opened it, so it may read the notes and must close it. `stored` is its result
    where it is closed already, by this run or (`own` False) by the run `look.run`.
    """

    look: Look
    own: bool
    _read: Callable[[], tuple[Note, ...]] = field(repr=False)
    _close: Callable[[Look, LookResult], Look] = field(repr=False)
    _notes: tuple[Note, ...] | None = field(default=None, repr=False)
    _ended: bool = field(default=False, repr=False)

    @property
    def stored(self) -> LookResult | None:
        """The result on record, None while nobody has closed this look."""
        return self.look.result

    @property
    def notes(self) -> tuple[Note, ...]:
        """The held-out notes, clean and errored, in the order of `Vault.labels`.

        Raises BadInput where the files changed, RuntimeError after the look has ended or where
        another run bought it.
        """
        if self._ended:
            raise RuntimeError("the look has ended, and its notes with it")
        if not self.own:
            raise RuntimeError(f"this look was bought by run {self.look.run}: use `stored`")
        if self._notes is None:
            self._notes = self._read()
        return self._notes

    def close(self, result: LookResult) -> None:
        """Put the result on record; the same result again changes nothing.

        Raises ValueError unless `result` covers exactly the held-out notes, BadInput where another
        result stands already.
        """
        if self._ended or not self.own:
            raise RuntimeError("only a look that is open and one's own can be closed")
        self.look = self._close(self.look, result)

    def _end(self) -> None:
        self._ended, self._notes = True, None


@dataclass(frozen=True)
class Vault:
    """Held-out, closed. Everything public here is free of text.

    `labels`: one a note, consultation by consultation. `words`: how many each note has, by id: what
    the word-count control scores. `sha256`: digest of the split. `planned_looks`: K.
    """

    labels: tuple[NoteLabel, ...]
    words: dict[str, int] = field(repr=False)
    sha256: str
    planned_looks: int
    looks: LooksFile
    buyer: Buyer
    _journal: LookJournal = field(repr=False)
    _reopen: Callable[[], tuple[Note, ...]] = field(repr=False)

    @property
    def standing(self) -> Standing:
        """How the plan of looks stands for this run, as of now."""
        return self.looks.standing(self.buyer)

    def admit(self) -> bool:
        """To be asked before a run's first call: is the run exploratory?

        Raises LooksSpent where every planned look was opened by other runs and the buyer has not
        acknowledged that; where it has, the run goes on as exploratory.
        """
        now = self.standing
        if now.spent and not self.buyer.acknowledge_reuse:
            raise LooksSpent(str(self.looks.path), (*now.others, *now.elsewhere), now.planned)
        return now.spent

    @property
    def seen(self) -> Seen:
        """What others did with the held-out consultations, beyond this manifest."""
        return self.looks.seen(self.buyer)

    def note_blocks(self, blocks: Iterable[str]) -> None:
        """Register the hashes of blocks that this run wrote: what they were chosen on is theirs."""
        wrote = frozenset(blocks)
        if self.looks.known is not None and wrote:
            self.looks.known.registry.note(Use(self.buyer.run, "blocks", blocks=wrote))

    @contextmanager
    def look(self, request: LookRequest) -> Iterator[OpenLook]:
        """Open a look; see the module's head.

        The data is verified first, so that a changed file costs no look; then the look is put on
        record, then journalled. Raises LooksSpent beyond the plan, BadInput for changed data.
        """
        self._reopen()
        look = self.looks.open(request, self.buyer)
        own = look.run == self.buyer.run
        self._journal.append(_event(look, None if own else look.run, self))
        opened = OpenLook(look, own, self._reopen, self._record)
        try:
            yield opened
        finally:
            opened._end()

    def _record(self, look: Look, result: LookResult) -> Look:
        if set(result.notes) != {label.id for label in self.labels}:
            raise ValueError("a look is closed with a result for each held-out note, no more")
        return self.looks.close(look, result)


@dataclass(frozen=True)
class Splits:
    """A verified partition: texts of reflect and accept, and the vault."""

    reflect: tuple[Consultation, ...]
    accept: tuple[Consultation, ...]
    vault: Vault
    partition: Partition
    benchmark: BenchmarkFacts
    _reread: Callable[[], tuple[Consultation, ...]] = field(repr=False)

    def register(self) -> None:
        """Register what this run uses reflect and accept for."""
        known, run = self.vault.looks.known, self.vault.buyer.run
        if known is None:
            return
        present = self.benchmark.has_transcripts
        for what, consultations in (("reflect", self.reflect), ("accept", self.accept)):
            found = [consultation_digests(c, has_transcripts=present) for c in consultations]
            known.registry.note(Use(run, what, frozenset(together(found))))

    def protected(self, own: Iterable[str]) -> ProtectedTexts:
        """What no block may repeat of any split, `own` texts of the campaign excepted.

        The files are read and verified anew, and what leaves this call are hashes. Raises BadInput
        where the files changed.
        """
        return protect(
            self._reread(),
            own=own,
            salt=self.partition.salt,
            has_transcripts=self.benchmark.has_transcripts,
        )


def open_splits(
    load: Callable[[], Loaded],
    manifest: Path,
    *,
    journal: LookJournal,
    buyer: Buyer,
    exclude: Collection[str] = (),
    registry: LooksRegistry | None = None,
) -> Splits:
    """Read the benchmark, verify the partition at `manifest` against it, close the vault.

    `load` reads the benchmark's own files and is called again at every look. `exclude`: ids the
    configuration excludes. `registry`: where looks at these consultations are known by whatever
    manifest, None for a benchmark that anybody can draw afresh. Raises BadInput with every fault of
    data, manifest and looks file.
    """
    partition = read_manifest(manifest)
    loaded = load()
    benchmark = loaded.benchmark
    verify(partition, benchmark, files=loaded.files, exclude=exclude, where=str(manifest))
    reread = partial(_read_again, load, partition, str(manifest))
    looks = looks_file(manifest, partition, benchmark, registry)
    looks.looks()
    heldout = _consultations(benchmark, partition.heldout)
    vault = Vault(
        labels=tuple(note.label for c in heldout for note in c.notes),
        words={note.id: len(words(note.text)) for c in heldout for note in c.notes},
        sha256=partition.heldout_sha256,
        planned_looks=partition.planned_looks,
        looks=looks,
        buyer=buyer,
        _journal=journal,
        _reopen=lambda: _notes(reread(("heldout",))),
    )
    return Splits(
        reflect=_consultations(benchmark, partition.reflect),
        accept=_consultations(benchmark, partition.accept),
        vault=vault,
        partition=partition,
        benchmark=BenchmarkFacts(
            name=benchmark.name,
            version=benchmark.version,
            sha256=benchmark.digest,
            clean_means=benchmark.clean_means,
            public=benchmark.public,
            has_transcripts=benchmark.has_transcripts,
        ),
        _reread=lambda: reread(SPLITS),
    )


def looks_file(
    manifest: Path, partition: Partition, benchmark: Benchmark, registry: LooksRegistry | None
) -> LooksFile:
    """The looks at the held-out set of a partition, by its manifest and by its consultations."""
    if registry is None:
        return LooksFile.beside(manifest, partition)
    digests = tuple(
        consultation_digests(consultation, has_transcripts=benchmark.has_transcripts)
        for consultation in _consultations(benchmark, partition.heldout)
    )
    return LooksFile.beside(manifest, partition, HeldoutSet(registry, digests))


def _read_again(
    load: Callable[[], Loaded], partition: Partition, where: str, splits: Iterable[str]
) -> tuple[Consultation, ...]:
    """The consultations of `splits`, read anew and as they were when they were frozen."""
    loaded = load()
    benchmark = loaded.benchmark
    check_files(partition, loaded.files, where)
    names = [name for split in splits for name in partition.splits[split]]
    if missing := sorted(set(names) - benchmark.by_id.keys()):
        raise BadInput.one(where, f"not in the benchmark any more: {', '.join(missing)}")
    consultations = _consultations(benchmark, names)
    check_consultations(partition, consultations, where)
    return consultations


def _notes(consultations: Iterable[Consultation]) -> tuple[Note, ...]:
    return tuple(note for consultation in consultations for note in consultation.notes)


def _consultations(benchmark: Benchmark, names: Collection[str]) -> tuple[Consultation, ...]:
    return tuple(benchmark.by_id[name] for name in names)


def _event(look: Look, bought_by: str | None, vault: Vault) -> LookEvent:
    # The same on every resume: no time, no count that other runs could move.
    return LookEvent(
        look=look.id,
        kind=look.kind,
        heldout=vault.sha256,
        target=look.target,
        block=look.block_sha256,
        settings=look.settings,
        planned_looks=vault.planned_looks,
        exploratory=look.exploratory,
        bought_by=bought_by,
    )
