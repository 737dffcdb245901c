import gc
import json
from pathlib import Path

import pytest
from tests.splits.builders import loader, many, write_benchmark
from tests.splits.real import real

from heldout.splits.benchmark import Consultation, Note
from heldout.splits.errors import BadInput, LooksSpent
from heldout.splits.heldout.looks import LookEvent, LookKind, LookRequest, LookResult, NoteResult
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.vault import open_splits
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.overlap import words
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.manifest import freeze

CANARY = "zanzibar marmalade quincunx ferret obelisk tangerine waltz heliotrope"


class Recorder:
    """A journal that also remembers how the looks file stood at each event."""

    def __init__(self, looks: Path | None = None):
        self.events, self.looks, self.seen = [], looks, []

    def append(self, event):
        self.events.append(event)
        if self.looks is not None:
            self.seen.append(self.looks.read_text("utf-8").count("\n"))


@pytest.fixture
def source(tmp_path) -> BenchmarkSource:
    return write_benchmark(tmp_path, many(24))


@pytest.fixture
def manifest(source, tmp_path) -> Path:
    path = tmp_path / "partition.json"
    loaded = open_benchmark(source)
    freeze(draw_partition(loaded.benchmark, seed=6, files=loaded.files), path)
    return path


def opened(source, manifest, run="r1", journal=None, **buyer):
    return open_splits(
        loader(source), manifest, journal=journal or Recorder(), buyer=Buyer(run, **buyer)
    )


def request(block="b", kind=LookKind.WINNER) -> LookRequest:
    return LookRequest(kind, "a" * 64, block.encode().hex().ljust(64, "0"), {"replicates": 1})


def result(vault, score=5.0) -> LookResult:
    return LookResult({label.id: (NoteResult(score),) for label in vault.labels}, "c" * 64)


# --- what is handed out


def test_reflect_and_accept_come_with_text_heldout_without(source, manifest):
    splits = opened(source, manifest)
    benchmark = open_benchmark(source).benchmark
    assert splits.reflect == tuple(benchmark.by_id[i] for i in splits.partition.reflect)
    assert splits.accept == tuple(benchmark.by_id[i] for i in splits.partition.accept)
    heldout = [benchmark.by_id[i] for i in splits.partition.heldout]
    assert splits.vault.labels == tuple(n.label for c in heldout for n in c.notes)
    groups = [{c.id for c in splits.reflect}, {c.id for c in splits.accept}]
    groups.append({label.consultation for label in splits.vault.labels})
    assert sum(map(len, groups)) == len(set.union(*groups)) == 24


def test_the_vault_keeps_no_heldout_text(source, manifest):
    splits = opened(source, manifest)
    gc.collect()
    kept = [
        thing
        for thing in gc.get_objects()
        if isinstance(thing, Note | Consultation)
        and (thing.id if isinstance(thing, Consultation) else thing.consultation)
        in splits.partition.heldout
    ]
    assert not kept
    with splits.vault.look(request()) as look:
        assert len(look.notes) == len(splits.vault.labels)
    del look
    gc.collect()
    assert not [
        n
        for n in gc.get_objects()
        if isinstance(n, Note) and n.consultation in splits.partition.heldout
    ]


def test_word_counts_stand_for_the_texts(source, manifest):
    splits = opened(source, manifest)
    vault = splits.vault
    with vault.look(request()) as look:
        for note in look.notes:
            assert vault.words[note.id] == len(words(note.text))
    assert vault.sha256 == splits.partition.split_sha256["heldout"]


def test_every_split_is_protected_and_no_text_comes_with_it(source, manifest):
    splits = opened(source, manifest)
    protected = splits.protected(())
    with splits.vault.look(request()) as look:
        texts = [note.text for note in look.notes]
    for text in (*texts, *(c.transcript for c in splits.reflect + splits.accept)):
        assert protected.copied(text)
    assert not splits.protected(texts).copied(texts[0])
    numbers = [*protected.runs, *protected.pieces, *protected.identifiers]
    assert all(isinstance(number, int) for number in numbers)


def test_data_that_changed_is_not_protected_but_refused(source, manifest):
    splits = opened(source, manifest)
    source.pairs.write_bytes(source.pairs.read_bytes() + b"\n")
    with pytest.raises(BadInput, match="changed since"):
        splits.protected(())


# --- looking


def test_opened_is_on_disk_before_the_journal_and_both_before_the_notes(source, manifest):
    journal = Recorder(manifest.with_name("partition.looks.jsonl"))
    vault = opened(source, manifest, journal=journal).vault
    with vault.look(request()) as look:
        assert journal.seen == [1]
        assert [type(event) for event in journal.events] == [LookEvent]
        assert [n.label for n in look.notes] == list(vault.labels)
        look.close(result(vault))
    assert vault.looks.looks()[0].result == result(vault)


def test_notes_end_with_the_look(source, manifest):
    vault = opened(source, manifest).vault
    with vault.look(request()) as look:
        pass
    with pytest.raises(RuntimeError, match="the look has ended"):
        _ = look.notes
    with pytest.raises(RuntimeError, match="only a look that is open"):
        look.close(result(vault))


def test_a_look_that_fails_counts_and_its_own_run_finishes_it(source, manifest):
    class Killed(Exception):
        pass

    first = Recorder()
    vault = opened(source, manifest, journal=first).vault
    with pytest.raises(Killed), vault.look(request()) as look:
        raise Killed
    with pytest.raises(LooksSpent), opened(source, manifest, "r2").vault.look(request("other")):
        pass
    again = Recorder()
    vault = opened(source, manifest, journal=again).vault
    with vault.look(request()) as look:
        assert look.own
        assert look.stored is None
        look.close(result(vault))
    resumed = Recorder()
    with opened(source, manifest, journal=resumed).vault.look(request()) as look:
        assert look.own
        assert look.stored == result(vault)
        assert look.notes
        look.close(result(vault))
    assert first.events == again.events == resumed.events


def test_another_run_gets_the_stored_result_and_no_notes(source, manifest):
    first = opened(source, manifest).vault
    with first.look(request()) as look:
        look.close(result(first))
    journal = Recorder()
    second = opened(source, manifest, "r2", journal).vault
    with second.look(request()) as look:
        assert not look.own
        assert look.stored == result(first)
        with pytest.raises(RuntimeError, match="bought by run r1: use `stored`"):
            _ = look.notes
        with pytest.raises(RuntimeError, match="one's own"):
            look.close(result(first))
    assert journal.events[0].bought_by == "r1"


def test_a_second_campaign_ends_before_any_call_unless_it_acknowledges(source, manifest):
    first = opened(source, manifest).vault
    assert first.admit() is False
    with first.look(request()) as look:
        look.close(result(first))
    assert opened(source, manifest).vault.admit() is False
    with pytest.raises(LooksSpent, match="looked at by r1"):
        opened(source, manifest, "r2").vault.admit()
    reckless = opened(source, manifest, "r2", acknowledge_reuse=True).vault
    assert reckless.admit() is True
    with reckless.look(request("other")) as look:
        assert look.look.exploratory


def test_a_result_covers_exactly_the_heldout_notes(source, manifest):
    vault = opened(source, manifest).vault
    partial = dict(result(vault).notes)
    partial.pop(vault.labels[0].id)
    with (
        vault.look(request()) as look,
        pytest.raises(ValueError, match="a result for each held-out note, no more"),
    ):
        look.close(LookResult(partial, "c" * 64))


# --- changed data


def test_a_changed_file_is_refused_at_opening_and_costs_no_look(source, manifest):
    vault = opened(source, manifest).vault
    source.consultations.write_bytes(source.consultations.read_bytes() + b"\n")
    with pytest.raises(BadInput, match="changed since"), vault.look(request()):
        pass
    assert vault.looks.looks() == ()
    with pytest.raises(BadInput, match="changed since"):
        opened(source, manifest)


def test_a_change_while_the_look_is_open_is_found_when_the_notes_are_read(source, manifest):
    vault = opened(source, manifest).vault
    with vault.look(request()) as look:
        source.pairs.unlink()
        with pytest.raises(BadInput, match="no such file"):
            _ = look.notes


def test_a_changed_heldout_consultation_is_named(source, manifest, tmp_path):
    splits = opened(source, manifest)
    target = splits.partition.heldout[0]
    records = many(24)
    for record in records:
        if record["consultation_id"] == target:
            record["transcript"] += " Changed."
    write_benchmark(tmp_path, records)
    with pytest.raises(BadInput) as caught:
        opened(source, manifest)
    assert any(f"consultation {target} reads differently" in line for line in caught.value.lines)


def test_a_broken_looks_file_is_found_at_opening(source, manifest):
    manifest.with_name("partition.looks.jsonl").write_text("nonsense\n")
    with pytest.raises(BadInput, match=r"partition.looks.jsonl:1: not a line of JSON"):
        opened(source, manifest)


def test_a_manifest_edited_after_a_look_no_longer_fits_its_looks(source, manifest, tmp_path):
    vault = opened(source, manifest).vault
    with vault.look(request()):
        pass
    loaded = open_benchmark(source)
    manifest.unlink()
    wider = draw_partition(loaded.benchmark, seed=6, files=loaded.files, planned_looks=2)
    freeze(wider, manifest)
    with pytest.raises(BadInput, match=":1: does not follow from this manifest"):
        opened(source, manifest)


# --- canaries


def test_heldout_text_is_in_no_manifest_looks_file_or_journal(tmp_path):
    records = many(24)
    for record in records:
        record["transcript"] += f" {CANARY} {record['consultation_id'].split('|')[1]}x"
    (tmp_path / "data").mkdir()
    source = write_benchmark(tmp_path / "data", records)
    loaded = open_benchmark(source)
    manifest = tmp_path / "p.json"
    freeze(draw_partition(loaded.benchmark, seed=1, files=loaded.files), manifest)
    journal = Recorder()
    vault = opened(source, manifest, journal=journal).vault
    with vault.look(request()) as look:
        assert all("marmalade" in note.transcript for note in look.notes)
        look.close(result(vault))
    written = " ".join(
        [path.read_text("utf-8") for path in sorted(tmp_path.glob("p.*")) if path.suffix != ".lock"]
        + [repr(journal.events), repr(vault)]
    )
    assert "heldout" in written
    assert not set(words(written)) & {*words(CANARY)}


def test_the_released_layout_and_its_folder_are_verified_at_every_look(tmp_path):
    """Transcripts are files of their own there, so each is held against its own SHA-256."""
    records = many(16)
    source = write_benchmark(tmp_path, records)
    for record in records:
        stratum, name = record["consultation_id"].split("|")
        path = tmp_path / "transcripts" / stratum / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record["transcript"], "utf-8")
    pairs = [json.loads(line) for line in source.pairs.read_text("utf-8").splitlines()]
    (tmp_path / "pairs.json").write_text(json.dumps({"dataset_version": "1", "pairs": pairs}))
    layout = BenchmarkSource(tmp_path / "pairs.json")
    loaded = open_benchmark(layout)
    manifest = tmp_path / "p.json"
    freeze(draw_partition(loaded.benchmark, seed=1, files=loaded.files), manifest)
    splits = opened(layout, manifest)
    stratum, name = splits.partition.heldout[0].split("|")
    (tmp_path / "transcripts" / stratum / f"{name}.txt").write_text("[doctor] Other words.")
    with (
        pytest.raises(BadInput, match=f"transcripts/{stratum}/{name}.txt: changed since"),
        splits.vault.look(request()),
    ):
        pass


def test_the_real_notes_open(tmp_path):
    source = BenchmarkSource(real("real_pairs.jsonl.gz"), real("consultations.jsonl.gz"))
    loaded = open_benchmark(source)
    manifest = tmp_path / "p.json"
    freeze(draw_partition(loaded.benchmark, seed=1, files=loaded.files), manifest)
    splits = opened(source, manifest)
    assert len(splits.vault.labels) > 90
    with splits.vault.look(request(kind=LookKind.BASELINE)) as look:
        assert len(look.notes) == len(splits.vault.labels)
