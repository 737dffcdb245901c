"""What can be seen to be wrong without a call: dry run, doctor and start say the same lines."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import yaml
from tests.support.campaigns import SMALL, merged

from heldout.experiments.campaigns.commands import run_campaigns
from heldout.experiments.campaigns.doctor import doctor
from heldout.splits.errors import UserFault
from heldout.splits.heldout.looks import LookKind, LookRequest
from heldout.splits.heldout.looks_file import Buyer, LooksFile
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.manifest import freeze
from heldout.splits.synthetic import draw, write_jsonl

CASES = yaml.safe_load((Path(__file__).parents[2] / "data" / "bad_configurations.yaml").read_text())
PRICES = {"prompt": 1.0, "completion": 1.0, "date": "2025-01-01"}
HOST = {"api_base": "http://127.0.0.1:1/v1"}
PINS = {
    "local/keyed": {"model": "openai/keyed", "key_env": "A_LOCAL_KEY", "prices": PRICES, **HOST},
    "local/free": {"model": "openai/free", "efforts": ["low"], **HOST},
    "local/mute": {"model": "openai/mute", **HOST},
}
FILES = ("pairs.jsonl", "consultations.jsonl", "frozen.json", "spent.json", "spent.looks.jsonl")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A benchmark as files, a frozen partition of it, and one whose look another run has had."""
    folder = tmp_path_factory.mktemp("data")
    write_jsonl(draw(14, 5), folder / FILES[0], folder / FILES[1])
    loaded = open_benchmark(BenchmarkSource(folder / FILES[0], folder / FILES[1]))
    partition = draw_partition(loaded.benchmark, seed=5, files=loaded.files)
    for name in ("frozen.json", "spent.json"):
        freeze(partition, folder / name)
    looks = LooksFile.beside(folder / "spent.json", partition)
    looks.open(LookRequest(LookKind.WINNER, "a" * 64, "b" * 64, {}), Buyer("another"))
    return folder


@pytest.fixture
def write(tmp_path, data, monkeypatch):
    """Writes the campaign of a case into a folder of its own."""
    for name in FILES:
        shutil.copy(data / name, tmp_path / name)
    (tmp_path / "models.yaml").write_text(yaml.safe_dump({"models": PINS}))
    monkeypatch.setenv("A_LOCAL_KEY", "none-needed")

    def written(case):
        for name in case.get("unset", ()):
            monkeypatch.delenv(name)
        files = {"pairs": str(tmp_path / FILES[0]), "consultations": str(tmp_path / FILES[1])}
        good = {**SMALL, "benchmark": files, "models": str(tmp_path / "models.yaml")}
        changes = json.loads(json.dumps(case["set"]).replace("FOLDER", str(tmp_path)))
        path = tmp_path / "campaign.yaml"
        path.write_text(yaml.safe_dump(merged(good, changes)), encoding="utf-8")
        return path

    return written


def lines_of(config, run_dir, *, dry_run):
    with pytest.raises(UserFault) as caught:
        run_campaigns(
            [config],
            run_dir=run_dir,
            settings=[],
            dry_run=dry_run,
            acknowledge_reuse=False,
            as_json=True,
        )
    assert caught.value.exit_status == 2
    return [" ".join(line.split()) for line in caught.value.lines]


def test_there_are_forty_of_them_and_what_they_change_is_good(write, tmp_path):
    assert len(CASES) >= 40
    found = doctor(write({"set": {}}), run_dir=tmp_path / "run")
    assert (found.exit_status, found.text.splitlines()[-1]) == (0, "everything is well")


@pytest.mark.parametrize("name", CASES)
def test_dry_run_doctor_and_start_say_the_same(write, tmp_path, name):
    case = CASES[name]
    config, run_dir = write(case), tmp_path / "run"
    before = sorted(tmp_path.rglob("*"))
    dry = lines_of(config, run_dir, dry_run=True)
    assert lines_of(config, run_dir, dry_run=False) == dry
    found = doctor(config, run_dir=run_dir)
    assert found.exit_status == 2
    assert [str(fault) for result in found.results for fault in result.faults] == dry
    assert len(dry) == len(case["says"])
    for wanted in case["says"]:
        assert any(wanted in line for line in dry), dry
    assert [path for path in sorted(tmp_path.rglob("*")) if not path.name.endswith(".lock")] == [
        path for path in before if not path.name.endswith(".lock")
    ]
