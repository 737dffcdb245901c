import json

import pytest
from tests.splits.builders import made

from heldout.splits.errors import BadInput
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.exclusions import read_exclusions
from heldout.splits.partition.manifest import freeze


def test_manifests_and_lists_are_joined(tmp_path):
    partition = draw_partition(made(tmp_path, 16), seed=3)
    freeze(partition, tmp_path / "earlier.json")
    (tmp_path / "ids.json").write_text(json.dumps(["x|1", "x|2"]))
    (tmp_path / "ids.txt").write_text("# the pilot\nx|2\n\ny|one two  # seen by the author\n")
    names = ["earlier.json", "ids.json", "ids.txt"]
    found = read_exclusions(tmp_path / name for name in names)
    assert found == {*partition.consultations, "x|1", "x|2", "y|one two"}
    assert read_exclusions([]) == frozenset()


def test_faults_of_every_file_at_once(tmp_path):
    (tmp_path / "a.txt").write_text("x|1\nno bar\n|x\n")
    (tmp_path / "b.json").write_text('["x|1", 7]')
    (tmp_path / "c.json").write_text('{"splits": 3}')
    (tmp_path / "d.json").write_text("{")
    names = ["a.txt", "b.json", "c.json", "d.json", "e.txt"]
    with pytest.raises(BadInput) as caught:
        read_exclusions(tmp_path / name for name in names)
    lines = [line.removeprefix(f"{tmp_path}/") for line in caught.value.lines]
    assert lines[:3] == [
        "a.txt:2: 'no bar' is not of the form stratum|id",
        "a.txt:3: '|x' is not of the form stratum|id",
        "b.json: 7 is not of the form stratum|id",
    ]
    assert lines[3].startswith("c.json: splits: ")
    assert lines[4].startswith("d.json: not JSON")
    assert lines[5] == "e.txt: no such file"
