import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.support.answering_model import AnsweringModel
from tests.support.notes import benchmark

from heldout.experiments.analysis.compare import CompareSettings, compare_files
from heldout.experiments.judging.command import JudgeRequest, judge_command
from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.partition.draw import draw_partition
from heldout.splits.partition.manifest import Shares, freeze
from heldout.students.calls.ledger import Caps
from heldout.students.models.chat import Budget

CONSULTATIONS = 20


def written(folder: Path) -> BenchmarkSource:
    """The hand-made consultations in the released layout."""
    pairs, consultations = [], []
    for group in benchmark(CONSULTATIONS):
        stratum, name = group.id.split("|")
        consultations.append({"consultation_id": group.id, "transcript": group.transcript})
        for number, note in enumerate(group.errored):
            sites = [{"quote": "ramipril", "section": "plan", "strength": "strong"}]
            pairs.append(
                {
                    "pair_id": f"{group.id}|{number}",
                    "stratum": stratum,
                    "id": name,
                    "type": str(note.label.note_class).split("-")[0],
                    "class": note.label.note_class,
                    "residual_level": note.label.trace,
                    "severity": note.label.severity,
                    "clean": group.clean[0].text,
                    "errored": note.text,
                    "fact": note.fact,
                    "residual": {"sites": sites} if note.label.trace else None,
                    "eval_set": "made",
                    "split": "test",
                    "source": "hand",
                }
            )
    for name, rows in (("pairs.jsonl", pairs), ("consultations.jsonl", consultations)):
        (folder / name).write_text("\n".join(map(json.dumps, rows)) + "\n", encoding="utf-8")
    return BenchmarkSource(folder / "pairs.jsonl", folder / "consultations.jsonl")


def request(folder: Path, **changes) -> JudgeRequest:
    plain = JudgeRequest(
        designs=("whole_note", "three_stage"),
        benchmark=written(folder),
        out=folder / "out",
        seed=11,
        budget=Budget(1500),
        model="sim/judge",
    )
    return replace(plain, **changes)


def judged(asked: JudgeRequest, model=None):
    return judge_command(asked, {"sim/judge": model or AnsweringModel()})


def test_table_csv_json_and_scores_are_left_behind(tmp_path):
    report = judged(request(tmp_path, replicates=2))
    out = tmp_path / "out"
    rows = json.loads((out / "judge.json").read_text())
    assert rows == json.loads(json.dumps(report.to_json()))
    assert [row["design"] for row in rows] == [
        "whole_note", "three_stage", "word_count", "transcript_words", "constant", "random",
    ]  # fmt: skip
    assert all(row["simulated"] for row in rows)
    assert (out / "judge.csv").read_text().count("\n") == 7
    assert "simulated judge" in (out / "judge.md").read_text()
    scores = json.loads((out / "scores" / "three_stage.1.json").read_text())
    assert len(scores) == 7 * CONSULTATIONS


def test_tags_of_the_frame_in_notes_are_told(tmp_path):
    asked = request(tmp_path)
    assert judged(asked).notices == ()
    pairs = asked.benchmark.pairs
    pairs.write_text(pairs.read_text("utf-8").replace('"errored": "', '"errored": "</note>', 1))
    (told,) = judged(replace(asked, out=tmp_path / "again")).notices
    assert told.startswith("1 text of the data holds tags of the judge's own frame")


def test_a_second_attempt_buys_nothing_twice(tmp_path):
    first = judged(request(tmp_path))
    again = AnsweringModel()
    second = judged(request(tmp_path), again)
    assert again.requests == []
    assert first.to_json() == second.to_json()


def test_a_split_is_judged_alone_and_heldout_is_no_choice(tmp_path):
    asked = request(tmp_path)
    loaded = open_benchmark(asked.benchmark)
    partition = draw_partition(
        loaded.benchmark, seed=3, shares=Shares(0.4, 0.2, 0.4), files=loaded.files
    )
    manifest = tmp_path / "partition.json"
    freeze(partition, manifest)
    report = judged(replace(asked, partition=manifest, split="accept"))
    found = report.results[0].notes
    assert {label.consultation for label in found.labels} == set(partition.accept)
    assert found.name == "pairs.jsonl, accept"
    assert not list(tmp_path.glob("*look*"))
    with pytest.raises(BadInput, match="give both or neither"):
        judged(replace(asked, partition=manifest))


def test_faults_are_found_before_anything_is_written(tmp_path):
    for changes, message in [
        ({"designs": ("whole_notes",)}, "did you mean whole_note"),
        ({"model": "sim/judgee"}, "not pinned"),
        ({"model": None}, "name a model"),
        ({"models": tmp_path / "none.yaml"}, "cannot be read"),
    ]:
        with pytest.raises(BadInput, match=message):
            judged(request(tmp_path, **changes))
    assert not (tmp_path / "out").exists()


def test_roles_come_from_the_pins_file(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("roles: {judge: sim/judge, extractor: sim/judge}\nmodels: {}\n")
    with pytest.raises(BadInput, match="role auditor is not pinned"):
        judged(request(tmp_path, model=None, models=path))
    roles = "judge: sim/judge, extractor: sim/judge, auditor: sim/judge, second_look: sim/judge"
    path.write_text(f"roles: {{{roles}}}\nmodels: {{}}\n")
    assert judged(request(tmp_path, model=None, models=path)).simulated


def test_an_unpriced_model_under_a_usd_cap_is_refused(tmp_path):
    path = tmp_path / "models.yaml"
    path.write_text("models: {openai/x: {}}\n")
    with pytest.raises(BadInput, match="price"):
        judged(request(tmp_path, model="openai/x", models=path, caps=Caps(usd=1.0)))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # MLflow's use of SQLAlchemy
def test_the_roster_is_a_run_in_mlflow_with_a_child_a_design(tmp_path):
    mlflow = pytest.importorskip("mlflow")
    from heldout.experiments.judging.tracking import track
    from heldout.experiments.tracking.settings import TrackingSettings

    report = judged(request(tmp_path))
    settings = TrackingSettings(f"sqlite:///{tmp_path / 'mlflow.db'}", "judging")
    for _ in range(2):
        track(report, settings)
    client = mlflow.MlflowClient(settings.uri)
    experiment = client.get_experiment_by_name("judging")
    runs = client.search_runs([experiment.experiment_id])
    parents = [run for run in runs if "mlflow.parentRunId" not in run.data.tags]
    assert len(parents) == 1
    assert len(runs) == 1 + len(report.results)
    assert parents[0].data.tags["heldout.simulated"] == "yes"
    assert parents[0].inputs.dataset_inputs[0].dataset.name == "pairs.jsonl, all"
    by_name = {run.info.run_name: run.data.metrics for run in runs}
    row = report.to_json()[1]
    assert by_name["three_stage"]["paired_omissions"] == row["paired_omissions"]
    assert by_name["three_stage"]["at_rule/detection"] == pytest.approx(
        row["at_rule"]["detection"]["k"] / row["at_rule"]["detection"]["n"]
    )
    [history] = [client.get_metric_history(r.info.run_id, "paired_omissions") for r in runs
                 if r.info.run_name == "three_stage"]  # fmt: skip
    assert len(history) == 1


def test_a_block_of_ones_own_goes_with_one_design(tmp_path):
    block = tmp_path / "block.txt"
    block.write_text("  Look for gaps.\n", encoding="utf-8")
    model = AnsweringModel()
    judged(request(tmp_path, designs=("whole_note",), block=block), model)
    assert all("\nLook for gaps.\n" in asked.messages[0].content for asked in model.requests)
    assert model.requests
    with pytest.raises(BadInput, match="one design"):
        judged(request(tmp_path, block=block))
    block.write_text("\n", encoding="utf-8")
    with pytest.raises(BadInput, match="holds no text"):
        judged(request(tmp_path, designs=("whole_note",), block=block))


def test_scores_on_different_facts_are_refused_by_compare(tmp_path):
    source = written(tmp_path)
    judged(request(tmp_path, designs=("three_stage", "three_stage_widened", "per_fact_checker")))
    scores = tmp_path / "out" / "scores"

    def compared(first, second):
        return compare_files(
            str(scores / f"{first}.0.json"),
            str(scores / f"{second}.0.json"),
            CompareSettings(seed=1),
            pairs=source.pairs,
            consultations=source.consultations,
        )

    assert compared("three_stage", "three_stage_widened").n.omissions == 4 * CONSULTATIONS
    assert compared("three_stage", "word_count")
    with pytest.raises(BadInput, match=rf"different facts of {CONSULTATIONS} consultation"):
        compared("three_stage", "per_fact_checker")
    facts = scores / "three_stage.0.facts.json"
    facts.write_text("[1]")
    with pytest.raises(BadInput, match="must map consultations"):
        compared("three_stage", "word_count")
    facts.write_text("{")
    with pytest.raises(BadInput, match="cannot be read"):
        compared("three_stage", "word_count")


def test_the_command_prints_a_table_or_a_list(tmp_path, monkeypatch):
    from typer.testing import CliRunner

    from heldout.experiments.cli.main import app

    monkeypatch.chdir(tmp_path)
    source = written(tmp_path)
    asked = [
        "judge", "per_fact_checker", "--benchmark", str(source.pairs), "--consultations",
        str(source.consultations), "--model", "sim/judge", "--out", "out", "--no-tracking",
    ]  # fmt: skip
    shown = CliRunner().invoke(app, asked)
    assert shown.exit_code == 0, shown.output
    assert "flags on unedited notes" in " ".join(shown.output.split())
    listed = CliRunner().invoke(app, [*asked, "--clean-means", "verified", "--json"])
    rows = json.loads(listed.output)
    assert rows[0]["design"] == "per_fact_checker"
    assert rows[0]["clean_means"] == "verified"
    assert not (tmp_path / "mlruns").exists()


def test_a_store_that_fails_costs_one_line(tmp_path, capsys):
    pytest.importorskip("mlflow")
    from heldout.experiments.judging.tracking import track_or_say

    report = judged(request(tmp_path))
    (tmp_path / "file").write_text("")
    track_or_say(report, f"sqlite:///{tmp_path / 'file' / 'mlflow.db'}")
    assert capsys.readouterr().err.startswith("not recorded in MLflow: ")
