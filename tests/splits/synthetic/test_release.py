"""A written benchmark is read back as it was, byte for byte the same each time."""

from __future__ import annotations

import gzip
import json

import pytest

from heldout.splits.benchmark import CleanMeans
from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.synthetic import consultations_beside, draw, write_jsonl


@pytest.fixture(scope="module")
def drawn():
    return draw(9, 4)


@pytest.mark.parametrize("suffix", [".jsonl", ".jsonl.gz"])
def test_the_loader_reads_back_what_was_written(drawn, tmp_path, suffix):
    pairs = tmp_path / f"made{suffix}"
    consultations = write_jsonl(drawn, pairs)
    assert consultations == tmp_path / f"made.consultations{suffix}"
    source = BenchmarkSource(pairs, consultations, CleanMeans.VERIFIED, public=True)
    loaded = load(source)
    assert loaded.consultations == drawn.benchmark.consultations
    assert loaded.digest == drawn.benchmark.digest
    assert loaded.version == drawn.benchmark.version


def test_the_consultations_go_where_they_are_told(drawn, tmp_path):
    target = tmp_path / "deep" / "talk.jsonl"
    assert write_jsonl(drawn, tmp_path / "pairs.jsonl", target) == target
    records = [json.loads(line) for line in target.read_text(encoding="utf-8").splitlines()]
    assert [record["consultation_id"] for record in records] == list(drawn.benchmark.by_id)
    assert all(record.keys() >= {"stratum", "transcript", "note"} for record in records)


def test_the_same_draw_gives_the_same_bytes(drawn, tmp_path):
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        write_jsonl(drawn, tmp_path / name)
    one, two = (tmp_path / name for name in ("one.jsonl.gz", "two.jsonl.gz"))
    assert one.read_bytes() == two.read_bytes()
    assert consultations_beside(one).read_bytes() == consultations_beside(two).read_bytes()


def test_a_record_has_the_released_fields(drawn, tmp_path):
    write_jsonl(drawn, tmp_path / "pairs.jsonl.gz")
    lines = gzip.decompress((tmp_path / "pairs.jsonl.gz").read_bytes()).decode().splitlines()
    records = [json.loads(line) for line in lines]
    assert len(records) == sum(len(item.pairs) for item in drawn.draws)
    for record in records:
        assert record["pair_id"].startswith(f"{record['stratum']}|{record['id']}|")
        assert record["key"] == f"{record['stratum']}|{record['id']}"
        edit, clean = record["edit"], record["clean"]
        assert edit["before"] == clean[edit["start"] : edit["end"]]
        assert clean[: edit["start"]] + edit["after"] + clean[edit["end"] :] == record["errored"]
        omission = record["class"].startswith("omit")
        assert record["type"] == ("omit" if omission else record["class"])
        assert (
            (record["residual"] is not None) is (record["residual_level"] is not None) is omission
        )
        if omission:
            assert record["residual"]["n_surviving"] == len(record["residual"]["sites"])
        assert record["fact"]
        assert (record["split"], record["eval_set"]) == ("eval", True)
        assert record["dataset_version"] == drawn.benchmark.version


@pytest.mark.parametrize("name", ["made.json", "made.txt", "made"])
def test_a_name_of_another_form_is_refused_before_anything_is_written(drawn, tmp_path, name):
    with pytest.raises(BadInput, match=r"the name must end in \.jsonl or \.jsonl\.gz"):
        write_jsonl(drawn, tmp_path / name)
    with pytest.raises(BadInput, match="the name must end in"):
        write_jsonl(drawn, tmp_path / "pairs.jsonl", tmp_path / name)
    assert not list(tmp_path.iterdir())
