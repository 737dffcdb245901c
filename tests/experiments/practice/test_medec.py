"""MEDEC has no transcripts and no omissions; judging and a campaign must cope with both."""

import json

import pytest
from tests.splits.importers import releases
from tests.splits.real import real
from tests.support.campaigns import run_small, summary

from heldout.experiments.judging.command import JudgeRequest, judge_command
from heldout.experiments.practice.import_release import import_release
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.loading.benchmark_files import BenchmarkSource
from heldout.students.models.chat import Budget


def judged(tmp_path, file):
    source = BenchmarkSource(file, transcript="absent")
    request = JudgeRequest(
        ("whole_note",), source, tmp_path / "judged", 11, Budget(1500), model="sim/judge"
    )
    report = judge_command(request, simulated_models())
    table = (tmp_path / "judged" / "judge.md").read_text("utf-8")
    return report.to_json()[0], table


@pytest.mark.parametrize("release", ["made", "sample"])
def test_omission_figures_are_not_available(tmp_path, release):
    path = releases.medec(tmp_path) if release == "made" else real("medec_sample.jsonl.gz")
    file = tmp_path / "medec.jsonl"
    import_release("medec", path, file)
    found, table = judged(tmp_path, file)
    assert found["paired_omissions"] is None
    assert found["n"]["omissions"] == 0
    assert 0 <= found["paired_commissions"] <= 1
    row = next(line for line in table.splitlines() if line.startswith("| whole_note "))
    assert "| na |" in row


def test_a_campaign_on_commissions_runs_to_its_decision(tmp_path):
    file = tmp_path / "medec.jsonl"
    import_release("medec", real("medec_sample.jsonl.gz"), file)
    changes = {
        "benchmark": {
            "synthetic": None,
            "pairs": str(file),
            "transcript": "absent",
            "clean_means": "unedited",
        },
        "search": {"primary": "paired_commissions", "iterations": 2},
    }
    ended = run_small(tmp_path, changes)
    assert ended.exit_status == 0
    found = summary(ended)
    assert found["status"] == "finished"
    assert found["decision"] in ("emitted", "refused", "not_confirmed")
    assert found["accept"]["baseline"]["paired_omissions"] is None
    assert found["accept"]["baseline"]["paired_commissions"] is not None
    manifest = json.loads((ended.files.path / "partition.json").read_text())
    sides = [set(ids) for ids in manifest["splits"].values()]
    assert sum(map(len, sides)) == len(set.union(*sides)) == 156  # one has no errored note
