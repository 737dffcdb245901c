"""The command line as a program sees it: streams, statuses, one JSON object."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.support.campaigns import write_config
from typer.testing import CliRunner, Result

from heldout.experiments.cli.main import app
from heldout.experiments.runs.run_directory import working_in
from heldout.students.designs.roster import DESIGNS

COMMANDS = sorted(
    command.name or command.callback.__name__
    for group in [app, *(g.typer_instance for g in app.registered_groups if not g.name)]
    for command in group.registered_commands
)


def heldout(*arguments: object) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def one_object(result: Result) -> Any:
    """Standard output as JSON; raises where anything else stands there."""
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, made on the command line."""
    folder = tmp_path_factory.mktemp("cli")
    result = heldout("run", write_config(folder), "--run-dir", folder / "run", "--json")
    assert result.exit_code == 0, result.stderr
    assert one_object(result)["status"] == "finished"
    return folder / "run"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_teaches(command: str) -> None:
    result = heldout(command, "--help")
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) > 5


def test_the_commands_a_person_was_promised_are_there() -> None:
    assert set(COMMANDS) >= {
        "run", "resume", "status", "verify", "report", "sync", "split", "looks", "synth", "ui",
        "gate", "compare", "power", "judge", "lineage", "rerun", "calibrate", "apply", "export",
        "import",
    }  # fmt: skip


def test_status_and_resume_of_a_finished_run_print_the_same_object(finished: Path) -> None:
    status = one_object(heldout("status", finished, "--json"))
    resumed = heldout("resume", finished, "--json")
    assert (resumed.exit_code, one_object(resumed)) == (0, status)


def test_a_finished_run_verifies_and_a_changed_one_does_not(finished: Path) -> None:
    good = heldout("verify", finished, "--json")
    assert (good.exit_code, one_object(good)["ok"]) == (0, True)
    journal = finished / "journal.jsonl"
    whole = journal.read_text()
    journal.write_text(whole.replace('"name":"search"', '"name":"serach"', 1))
    bad = heldout("verify", finished)
    journal.write_text(whole)
    assert bad.exit_code == 1
    assert "was changed after it was written" in bad.stdout


def test_bad_input_is_one_line_a_fault_and_status_2(tmp_path: Path) -> None:
    config = write_config(tmp_path, {"serach": {}, "gate": {"alpha": 7}})
    result = heldout("run", config, "--run-dir", tmp_path / "run", "--json")
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert len(lines) == 2
    assert all(line.startswith(f"{config}:") for line in lines)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "absent.yaml"),
        ("status", "absent"),
        ("resume", "absent"),
        ("verify", "absent"),
        ("report", "absent"),
        ("looks", "absent.json"),
        ("gate", "absent", "--rule", "point"),
        ("compare", "absent.json", "absent.json"),
        ("synth", "--consultations", "3", "--seed", "1", "--out", "made.txt"),
    ],
)
def test_what_is_not_there_is_a_named_fault(arguments, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = heldout(*arguments)
    assert result.exit_code == 2
    assert result.stderr.strip()
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.iterdir())


def test_a_dry_run_plans_and_writes_nothing(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    before = sorted(tmp_path.iterdir())
    planned = one_object(
        heldout("run", config, "--run-dir", tmp_path / "run", "--dry-run", "--json")
    )
    assert planned["consultations"] == {"reflect": 5, "accept": 4, "heldout": 7}
    assert any("held-out" in line for line in planned["warnings"])
    assert sorted(tmp_path.iterdir()) == before


def test_the_plan_prints_what_the_acceptance_rule_does_at_the_chosen_size(tmp_path) -> None:
    """A peer accepts on a strict sum over three items and says nothing of what that lets in."""
    path = write_config(tmp_path)
    words = heldout("run", path, "--dry-run").stdout
    small = re.search(r"no better enters in (\d+)% of tries, one better by 0.050 in (\d+)%", words)
    assert 30 <= int(small[1]) < int(small[2]) <= 70
    strict = heldout("run", path, "--dry-run", "--set", "search.acceptance_margin=0.2").stdout
    found = re.search(r"no better enters in (\d+)% of tries", strict)
    assert int(found[1]) < int(small[1]) / 2


def config_of_files(folder: Path) -> Path:
    """A configuration whose benchmark is files that `heldout synth` wrote."""
    pairs = folder / "made.jsonl"
    made = one_object(
        heldout("synth", "--consultations", 16, "--seed", 3, "--out", pairs, "--json")
    )
    source = {
        "synthetic": None,
        "pairs": made["pairs_file"],
        "consultations": made["consultations_file"],
    }
    return write_config(folder, {"benchmark": source})


def test_split_and_looks_go_by_files(tmp_path: Path) -> None:
    config = config_of_files(tmp_path)
    manifest = tmp_path / "partition.json"
    drawn = one_object(heldout("split", config, "--out", manifest, "--json"))
    assert sum(drawn["consultations"].values()) == 16
    again = heldout("split", config, "--out", manifest)
    assert (again.exit_code, "never overwritten" in again.stderr) == (2, True)
    assert one_object(heldout("looks", manifest, "--json"))["looks"] == []


def test_a_refused_rule_change_never_emits(finished: Path) -> None:
    result = heldout("gate", finished, "--rule", "point", "--json")
    if result.exit_code == 2:
        assert "has no held-out comparison" in result.stderr
    else:
        assert one_object(result)["emits"] is False


def test_looks_and_plans_call_simulated_models_so(finished: Path, tmp_path: Path) -> None:
    manifest = finished / "partition.json"
    rows = one_object(heldout("looks", manifest, "--json"))["looks"]
    assert {(row["model"], row["simulated"]) for row in rows} == {("sim/judge", True)}
    assert "sim/judge (simulated)" in heldout("looks", manifest).stdout
    plan = heldout("run", write_config(tmp_path), "--dry-run").stdout
    assert "simulated models: no figure here is about a real one" in plan


def test_looks_that_a_frozen_manifest_does_not_plan_are_refused(tmp_path: Path) -> None:
    config = config_of_files(tmp_path)
    manifest = tmp_path / "partition.json"
    assert heldout("split", config, "--out", manifest).exit_code == 0
    options = ["--set", f"partition.manifest={manifest}", "--dry-run"]
    assert heldout("run", config, *options).exit_code == 0
    result = heldout("run", config, *options, "--set", "partition.planned_looks=3")
    assert result.exit_code == 2
    assert "3 is not what the frozen manifest plans (1)" in result.stderr


@pytest.mark.parametrize("command", ["status", "verify", "resume", "report", "looks"])
def test_paths_that_no_system_call_takes_are_named_faults(command: str, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    for path in (tmp_path / "loop", tmp_path / ("n" * 300)):
        result = heldout(command, path)
        assert result.exit_code == 2, result
        assert result.stderr.strip()


def test_h_is_help_everywhere() -> None:
    for command in ((), ("run",), ("store",), ("store", "list")):
        short, long = heldout(*command, "-h"), heldout(*command, "--help")
        assert (short.exit_code, short.stdout) == (0, long.stdout)


def test_the_help_of_judge_names_every_design() -> None:
    words = set(re.split(r"[\s,;]+", heldout("judge", "-h").stdout))
    assert words >= set(DESIGNS)


def test_looks_are_found_by_manifest_by_run_and_by_family(finished: Path, tmp_path: Path) -> None:
    by_run = one_object(heldout("looks", finished, "--json"))
    assert by_run == one_object(heldout("looks", finished / "partition.json", "--json"))
    assert by_run["looks"]
    family = tmp_path / "family"
    shutil.copytree(finished, family / "one")
    for name in ("partition.json", "partition.looks.jsonl"):
        (family / "one" / name).rename(family / name)
    (family / "family.json").write_text('{"id": "f", "members": ["one"]}')
    assert one_object(heldout("looks", family, "--json"))["looks"] == by_run["looks"]
    assert one_object(heldout("looks", family / "one", "--json"))["looks"] == by_run["looks"]
    for broken in ("[", "[]", "{}", '{"members": []}', '{"members": ["two"]}'):
        (family / "family.json").write_text(broken)
        result = heldout("looks", family)
        assert (result.exit_code, len(result.stderr.splitlines())) == (2, 1)
    result = heldout("looks", tmp_path)
    assert (result.exit_code, "not a run directory" in result.stderr) == (2, True)


RULE = """
from heldout.gepa.gate.rules import RuleVerdict


class OfMyOwn:
    def verdict(self, difference, *, alpha, margin):
        return RuleVerdict("own", ships=False)
"""


def test_a_finished_run_is_decided_again_by_a_rule_of_ones_own(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "rule_of_my_own.py").write_text(RULE)
    monkeypatch.chdir(tmp_path)
    found = one_object(heldout("gate", finished, "--rule", "rule_of_my_own:OfMyOwn", "--json"))
    assert (found["decision"], found["reason"], found["emits"]) == ("refused", "gate", False)
    for name, why in (
        ("best", "is none of studentised"),
        ("rule_of_my_own:Absent", "has no Absent"),
        ("no_such_module:Rule", "cannot be imported"),
    ):
        result = heldout("gate", finished, "--rule", name)
        assert (result.exit_code, why in result.stderr) == (2, True), result.stderr


def test_a_report_notes_its_pages_once_and_says_where_it_cannot(finished: Path) -> None:
    before = (finished / "journal.jsonl").read_bytes()
    assert heldout("report", finished).stderr == ""
    with working_in(finished):
        result = heldout("report", finished)
    assert (result.exit_code, "does not note these pages" in result.stderr) == (0, True)
    assert (finished / "journal.jsonl").read_bytes() == before
    assert heldout("verify", finished).exit_code == 0


def test_tables_are_not_cut_in_a_pipe(finished: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    lines = heldout("lineage", finished).stdout.splitlines()
    assert sum(line.lstrip("│├└─ ").startswith("c0") for line in lines) >= 5
    assert max(map(len, lines)) > 60
