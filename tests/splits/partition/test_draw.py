import json
from dataclasses import replace

import pytest
from tests.splits.builders import consultation, made, many, write_benchmark, write_lines
from tests.splits.real import real

from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import BenchmarkSource, load, open_benchmark
from heldout.splits.partition.draw import draw_partition, similar_consultations, verify
from heldout.splits.partition.manifest import SPLITS, Shares, freeze, read_manifest


def faults_of(call, *args, **kwargs) -> list[str]:
    with pytest.raises(BadInput) as caught:
        call(*args, **kwargs)
    return list(caught.value.lines)


def near_copy(of: dict, number: int) -> dict:
    """Another consultation whose transcript differs from `of` in three words."""
    copy = consultation(number, stratum=of["stratum"])
    words = of["transcript"].split(" ")
    copy["transcript"] = " ".join([*words[:-3], "quite", "another", "end"])
    return copy


def moved(partition, name: str, target: str):
    """`partition` with one consultation in another split, as somebody's edit would leave it."""
    splits = {
        split: tuple(sorted(({*ids} - {name}) | ({name} if split == target else set())))
        for split, ids in partition.splits.items()
    }
    return replace(partition, splits=splits)


@pytest.fixture
def benchmark(tmp_path):
    return made(tmp_path, 24)


# --- drawing


def test_a_draw_is_disjoint_complete_and_verifies(benchmark):
    partition = draw_partition(benchmark, seed=7)
    ids = [name for split in SPLITS for name in partition.splits[split]]
    assert sorted(ids) == [c.id for c in benchmark]
    assert [len(partition.splits[s]) for s in SPLITS] == [10, 4, 10]
    verify(partition, benchmark)


def test_same_seed_same_manifest_another_seed_another(benchmark, tmp_path):
    again = draw_partition(made(tmp_path, 24), seed=7)
    first = draw_partition(benchmark, seed=7)
    assert first.to_json() == again.to_json()
    other = draw_partition(benchmark, seed=8)
    assert first.splits != other.splits
    assert first.salt == again.salt != other.salt


def test_strata_and_partial_omissions_are_balanced(tmp_path):
    benchmark = made(tmp_path, 60)
    partition = draw_partition(benchmark, seed=1)
    for split, share in (("reflect", 0.4), ("accept", 0.18), ("heldout", 0.42)):
        members = [benchmark.by_id[name] for name in partition.splits[split]]
        south = sum(c.stratum == "south" for c in members)
        partial = sum(c.has_partial_omissions for c in members)
        assert abs(south - 30 * share) < 2
        assert abs(partial - 48 * share) < 2


def test_shares_are_kept(benchmark):
    partition = draw_partition(benchmark, seed=1, shares=Shares(0.5, 0.25, 0.25))
    assert [len(partition.splits[s]) for s in SPLITS] == [12, 6, 6]


@pytest.mark.parametrize(
    ("shares", "expected"),
    [
        ((0.5, 0.5, 0.5), "partition.shares: reflect + accept + heldout is 1.5, not 1"),
        ((0.0, 0.5, 0.5), "partition.shares.reflect: 0.0 does not lie between 0 and 1"),
        ((float("nan"), 0.5, 0.5), "partition.shares.reflect: nan does not lie between"),
        (("a", True, -1), "partition.shares.accept: True does not lie between 0 and 1"),
    ],
)
def test_impossible_shares(shares, expected):
    assert any(line.startswith(expected) for line in faults_of(Shares, *shares))


def test_too_few_consultations_name_the_minimum(tmp_path):
    (fault,) = faults_of(draw_partition, made(tmp_path, 11), seed=1)
    assert fault.startswith("partition: 11 consultations: too few: the minimum is 12")
    many_excluded = [f"{('north', 'south')[n % 2]}|c{n:03d}" for n in range(3)]
    (fault,) = faults_of(draw_partition, made(tmp_path, 14), seed=1, exclude=many_excluded)
    assert fault.startswith("partition: 11 consultations: too few: the minimum is 12")


def test_few_heldout_consultations_warn(tmp_path):
    small = draw_partition(made(tmp_path, 12), seed=1)
    assert [len(small.splits[s]) for s in SPLITS] == [2, 4, 6]
    assert small.warnings == ("6 held-out consultations resolve little; 12 or more are advised",)
    assert draw_partition(made(tmp_path, 30), seed=1).warnings == ()


def test_planned_looks_are_at_least_one(benchmark):
    assert draw_partition(benchmark, seed=1, planned_looks=3).planned_looks == 3
    (fault,) = faults_of(draw_partition, benchmark, seed=1, planned_looks=0)
    assert fault == "partition.planned_looks: 0 is less than 1"


# --- exclusions


def test_excluded_consultations_are_in_no_split(benchmark):
    partition = draw_partition(benchmark, seed=2, exclude=["north|c000", "south|c001", "x|other"])
    assert partition.excluded == {
        "north|c000": "listed in partition.exclude",
        "south|c001": "listed in partition.exclude",
    }
    assert not partition.excluded.keys() & {i for s in SPLITS for i in partition.splits[s]}
    verify(partition, benchmark, exclude=["north|c000"])


def test_a_near_duplicate_of_an_excluded_consultation_is_excluded(tmp_path):
    all_of_them = many(20)
    all_of_them.append(near_copy(all_of_them[0], 90))
    benchmark = load(write_benchmark(tmp_path, all_of_them))
    partition = draw_partition(benchmark, seed=2, exclude=["north|c000"])
    assert partition.excluded["north|c090"] == "near-duplicate of an excluded consultation"
    assert any("north|c090" in warning for warning in partition.warnings)


def test_an_excluded_consultation_in_a_split_is_refused(benchmark):
    partition = draw_partition(benchmark, seed=2)
    name = partition.heldout[0]
    (fault,) = faults_of(verify, partition, benchmark, exclude=[name], where="p.json")
    assert fault == f"p.json: {name} is excluded, yet stands in heldout"


def test_consultations_without_an_errored_note_are_in_no_split(tmp_path):
    rows = [
        {"group": f"g{n}", "note_id": kind, "kind": kind, "text": f"{kind} {n}."}
        for n in range(13)
        for kind in (("clean", "add") if n else ("clean",))
    ]
    path = write_lines(tmp_path / "t.jsonl", rows)
    benchmark = load(BenchmarkSource(path, transcript="absent"))
    partition = draw_partition(benchmark, seed=1)
    assert partition.excluded == {"all|g0": "has no errored note"}
    verify(partition, benchmark)


# --- near-duplicates


def test_near_duplicates_are_drawn_into_one_split(tmp_path):
    all_of_them = many(20)
    copies = [near_copy(all_of_them[k], 90 + k) for k in range(4)]
    benchmark = load(write_benchmark(tmp_path, all_of_them + copies))
    for seed in range(25):
        partition = draw_partition(benchmark, seed=seed)
        split_of = {i: s for s in SPLITS for i in partition.splits[s]}
        for k in range(4):
            stratum = all_of_them[k]["stratum"]
            assert split_of[f"{stratum}|c{k:03d}"] == split_of[f"{stratum}|c{90 + k:03d}"]
        verify(partition, benchmark)
    assert len([w for w in partition.warnings if w.startswith("near-duplicates kept")]) == 4


def test_a_planted_near_duplicate_across_splits_is_found(tmp_path):
    all_of_them = many(20)
    all_of_them.append(near_copy(all_of_them[0], 90))
    benchmark = load(write_benchmark(tmp_path, all_of_them))
    partition = draw_partition(benchmark, seed=3)
    here = next(s for s in SPLITS if "north|c090" in partition.splits[s])
    there = "reflect" if here != "reflect" else "heldout"
    faults = faults_of(verify, moved(partition, "north|c090", there), benchmark, where="p.json")
    (found,) = [f for f in faults if "near-duplicates" in f]
    assert "north|c000" in found
    assert f"north|c090 ({there})" in found


def test_without_transcripts_clean_notes_are_compared(tmp_path):
    all_of_them = many(16)
    copy = consultation(90, stratum="north")
    for row, model in zip(copy["pairs"], all_of_them[2]["pairs"], strict=True):
        row["clean"], row["errored"] = model["clean"], model["errored"]
    source = write_benchmark(tmp_path, [*all_of_them, copy])
    benchmark = load(BenchmarkSource(source.pairs, transcript="absent"))
    (pair,) = similar_consultations(benchmark)
    assert (pair.first, pair.second) == ("north|c002", "north|c090")


def test_a_cluster_too_large_for_any_split_is_a_fault_that_names_it(tmp_path):
    all_of_them = many(14)
    for record in all_of_them[:11]:
        record["transcript"] = all_of_them[0]["transcript"]
    benchmark = load(write_benchmark(tmp_path, all_of_them))
    faults = faults_of(draw_partition, benchmark, seed=1)
    assert faults
    assert "near-duplicates that must stay together: north|c000, " in faults[0]


# --- verifying


def test_train_equals_validation_by_accident(benchmark):
    """tensorzero #6734: one set used for both, and nobody noticed."""
    partition = draw_partition(benchmark, seed=4)
    same = replace(partition, splits={**partition.splits, "accept": partition.reflect})
    faults = faults_of(verify, same, benchmark, where="p.json")
    # Alike faults are one line: the first in full, with their count.
    both = f"p.json: {partition.reflect[0]} stands in reflect and in accept"
    assert any(f.startswith(both) for f in faults)
    # What was in accept is in no split now.
    assert any(f"{partition.accept[0]} of the benchmark is in no split" in f for f in faults)


def test_a_run_without_a_heldout_set_is_impossible(benchmark):
    """dspy #9062, gepa #308, opik #4080: no held-out set at all."""
    partition = draw_partition(benchmark, seed=4)
    bare = replace(
        partition,
        splits={
            **partition.splits,
            "reflect": partition.reflect + partition.heldout,
            "heldout": (),
        },
    )
    assert "p.json: heldout holds 0 consultations, at least 6" in faults_of(
        verify, bare, benchmark, where="p.json"
    )


def test_consultations_missing_on_either_side_are_named(benchmark, tmp_path):
    partition = draw_partition(benchmark, seed=4)
    (tmp_path / "less").mkdir()
    less = load(write_benchmark(tmp_path / "less", many(24)[1:]))
    faults = faults_of(verify, partition, less, where="p.json")
    assert any(f.startswith("p.json: north|c000 (") and "not in the" in f for f in faults)
    (tmp_path / "more").mkdir()
    more = load(write_benchmark(tmp_path / "more", many(25)))
    faults = faults_of(verify, partition, more, where="p.json")
    assert "p.json: north|c024 of the benchmark is in no split and not excluded" in faults


def test_a_changed_data_file_is_refused_by_name_and_the_consultation_by_id(tmp_path):
    all_of_them = many(16)
    source = write_benchmark(tmp_path, all_of_them)
    loaded = open_benchmark(source)
    partition = draw_partition(loaded.benchmark, seed=4, files=loaded.files)
    verify(partition, loaded.benchmark, files=loaded.files)
    all_of_them[3]["transcript"] += " One more thing."
    write_benchmark(tmp_path, all_of_them)
    changed = open_benchmark(source)
    assert faults_of(verify, partition, changed.benchmark, files=changed.files, where="p.json") == [
        "consultations.jsonl: changed since p.json was frozen",
        "p.json: consultation south|c003 reads differently than when it was frozen",
    ]


def test_one_byte_that_changes_no_text_is_refused_too(tmp_path):
    source = write_benchmark(tmp_path, many(16))
    loaded = open_benchmark(source)
    partition = draw_partition(loaded.benchmark, seed=4, files=loaded.files)
    source.pairs.write_bytes(source.pairs.read_bytes() + b"\n")
    changed = open_benchmark(source)
    (fault,) = faults_of(verify, partition, changed.benchmark, files=changed.files)
    assert fault == "pairs.jsonl: changed since partition was frozen"


def test_a_renamed_file_is_the_same_data_and_a_foreign_one_is_not(tmp_path):
    source = write_benchmark(tmp_path, many(16))
    loaded = open_benchmark(source)
    partition = draw_partition(loaded.benchmark, seed=4, files=loaded.files)
    renamed = {f"copy-of-{name}": digest for name, digest in loaded.files.items()}
    verify(partition, loaded.benchmark, files=renamed)
    foreign = {"other.jsonl": "0" * 64}
    faults = faults_of(verify, partition, loaded.benchmark, files=foreign, where="p.json")
    assert faults == [
        "pairs.jsonl: recorded in p.json, but not among the files read",
        "consultations.jsonl: recorded in p.json, but not among the files read",
        "other.jsonl: not among the files p.json was drawn from",
    ]


@pytest.mark.parametrize("field", ["class", "severity", "clean", "errored"])
def test_any_change_a_statistic_could_see_changes_the_digest(tmp_path, field):
    all_of_them = many(14)
    partition = draw_partition(load(write_benchmark(tmp_path, all_of_them)), seed=4)
    row = all_of_them[2]["pairs"][1]
    if field == "clean":
        del all_of_them[2]["note"]
    row.update({field: {"class": "change", "severity": "peripheral"}.get(field, "Other text.")})
    row["type"] = row["class"]
    changed = load(write_benchmark(tmp_path, all_of_them))
    (fault,) = faults_of(verify, partition, changed, where="p.json")
    assert fault == "p.json: consultation north|c002 reads differently than when it was frozen"


def test_an_edited_manifest_is_refused_beside_what_the_edit_broke(benchmark, tmp_path):
    path = tmp_path / "p.json"
    partition = draw_partition(benchmark, seed=5)
    freeze(partition, path)
    value = json.loads(path.read_text("utf-8"))
    value["splits"]["reflect"].append(value["splits"]["heldout"][0])
    path.write_text(json.dumps(value), "utf-8")
    faults = faults_of(verify, read_manifest(path), benchmark, where="p.json")
    assert faults == [
        "p.json: was edited after it was frozen (its sha256 does not fit its content)",
        f"p.json: {partition.heldout[0]} stands in reflect and in heldout",
    ]
    value = partition.to_json()
    value["planned_looks"] = 5
    path.write_text(json.dumps(value), "utf-8")
    assert faults_of(verify, read_manifest(path), benchmark)[0].startswith("partition: was edited")


def test_the_real_notes_draw_and_verify():
    loaded = open_benchmark(
        BenchmarkSource(real("real_pairs.jsonl.gz"), real("consultations.jsonl.gz"))
    )
    partition = draw_partition(loaded.benchmark, seed=11, files=loaded.files)
    assert [len(partition.splits[s]) for s in SPLITS] == [17, 7, 17]
    assert partition.warnings == ()
    verify(partition, loaded.benchmark, files=loaded.files)
