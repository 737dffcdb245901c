"""Whatever stands in a file, reading it ends in data or in BadInput, never in another error."""

import gzip
import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.splits.builders import consultation, made, write_benchmark

from heldout.splits.errors import BadInput, JournalBroken
from heldout.splits.heldout.looks_file import LooksFile
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.exclusions import read_exclusions
from heldout.splits.partition.manifest import read_manifest

QUICK = settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
)


@st.composite
def mutations(draw):
    """A function that damages bytes: cut, overwrite, insert, repeat."""
    place, amount = draw(st.floats(0, 1)), draw(st.integers(0, 60))
    junk = draw(
        st.binary(max_size=12) | st.sampled_from([b"\0", b'"', b"}", b"\n", b"\xff", b"NaN"])
    )
    kind = draw(st.sampled_from(["cut", "drop", "over", "insert", "repeat"]))

    def damage(data: bytes) -> bytes:
        at = int(place * len(data))
        return {
            "cut": data[:at],
            "drop": data[:at] + data[at + amount :],
            "over": data[:at] + junk + data[at + len(junk) :],
            "insert": data[:at] + junk + data[at:],
            "repeat": data[: at + amount] + data[at:],
        }[kind]

    return damage


@QUICK
@given(damage=mutations(), which=st.sampled_from(["pairs", "consultations"]), zipped=st.booleans())
def test_damaged_benchmark_files(tmp_path, damage, which, zipped):
    source = write_benchmark(tmp_path, [consultation(1), consultation(2)])
    paths = {"pairs": source.pairs, "consultations": source.consultations}
    data = paths[which].read_bytes()
    if zipped:
        paths[which] = paths[which].with_name(f"{which}.jsonl.gz")
        data = gzip.compress(data, mtime=0)
    paths[which].write_bytes(damage(data))
    with suppress(BadInput):
        open_benchmark(BenchmarkSource(paths["pairs"], paths["consultations"]))


@QUICK
@given(data=st.data(), wrapped=st.booleans())
def test_any_value_in_any_field(tmp_path, data, wrapped):
    record = consultation(1)["pairs"][data.draw(st.integers(0, 2))]
    field = data.draw(st.sampled_from([*record, "edit", "dataset_version", "group", "kind"]))
    record[field] = data.draw(values)
    if wrapped:
        path, text = tmp_path / "p.json", json.dumps({"dataset_version": "1", "pairs": [record]})
    else:
        path, text = tmp_path / "p.jsonl", json.dumps(record)
    path.write_text(text)
    with suppress(BadInput):
        benchmark = open_benchmark(BenchmarkSource(path, transcript="absent")).benchmark
        assert benchmark.digest
        assert all(note.text.encode("utf-8") for c in benchmark for note in c.notes)


@QUICK
@given(rows=st.lists(st.lists(st.text(max_size=6), max_size=6), max_size=5), damage=mutations())
def test_any_table(tmp_path, rows, damage):
    head = "group,note_id,kind,text,transcript,level\n" + "g,a,clean,One.,Said.,\n"
    body = "".join(",".join(row) + "\n" for row in rows)
    (tmp_path / "t.csv").write_bytes(damage((head + body).encode("utf-8", "replace")))
    with suppress(BadInput):
        open_benchmark(BenchmarkSource(tmp_path / "t.csv"))


@pytest.fixture(scope="module")
def manifest_json(tmp_path_factory):
    return draw_partition(made(tmp_path_factory.mktemp("made"), 14), seed=1).to_json()


@QUICK
@given(damage=mutations())
def test_damaged_manifests_and_exclusions(tmp_path, manifest_json, damage):
    path = tmp_path / "p.json"
    path.write_bytes(damage(json.dumps(manifest_json).encode()))
    with suppress(BadInput):
        read_manifest(path)
    with suppress(BadInput):
        read_exclusions([path])


@QUICK
@given(data=st.data())
def test_any_value_in_any_member_of_a_manifest(tmp_path, manifest_json, data):
    value = json.loads(json.dumps(manifest_json))
    place = data.draw(st.sampled_from([value, value["splits"], value["benchmark"]]))
    place[data.draw(st.sampled_from(sorted(place)))] = data.draw(values)
    path = tmp_path / "p.json"
    path.write_text(json.dumps(value))
    with suppress(BadInput):
        assert read_manifest(path).sha256


@QUICK
@given(content=st.binary(max_size=80) | values.map(lambda v: json.dumps(v).encode() + b"\n"))
def test_any_looks_file(tmp_path, content):
    looks = LooksFile(tmp_path / "x.looks.jsonl", "1" * 64, "2" * 64, 1)
    looks.path.write_bytes(content)
    with suppress(BadInput):
        looks.looks()
    with suppress(JournalBroken):
        looks.verify()
