"""The practitioner's commands as they are typed."""

import csv
import json

import pytest
from tests.support.campaigns import run_small
from tests.support.practice import emitted
from typer.testing import CliRunner

from heldout.experiments.cli.entry import Ticker
from heldout.experiments.cli.practice import app
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.note_rows import NoteFile
from heldout.experiments.practice.rerun import notes_named
from heldout.experiments.practice.rungs import Rung, rungs_asked
from heldout.experiments.practice.session import JudgeOptions, budget_asked, make_ready
from heldout.students.models.chat import Budget

REAL = (
    "[doctor] What brings you?\n[patient] I have had a cough for {n} days.\n"
    "[doctor] Any allergies?\n[patient] Yes, I am allergic to penicillin."
)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    return run_small(folder, {"search": {"iterations": 2}}).files.path


def notes(path, count):
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["id", "transcript", "note"])
        for n in range(count):
            note = (
                f"Coughing since {n + 2} days. No known allergies apart from penicillin, she says."
            )
            writer.writerow([f"n{n}", REAL.format(n=n + 2), note])
    return path


def test_from_calibration_to_flags(tmp_path):
    prompt = emitted(tmp_path / "run")
    clean = notes(tmp_path / "clean.csv", 60)
    out = tmp_path / "judged"
    done = run("calibrate", prompt, "--clean", clean, "--out", out, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["consultations"] == 60
    assert found["simulated"]
    file = out / "made.calibration.json"
    applied = run("apply", prompt, clean, "--out", out, "--calibration", file, "--json")
    assert applied.exit_code == 0, applied.output
    told = json.loads(applied.stdout)
    assert told["threshold"] == found["threshold"]
    assert told["flagged"]["k"] == found["flagged"]["k"]
    assert told["threshold_from"] == "calibration"


def test_bad_input_is_one_line_a_fault_and_status_2(tmp_path):
    prompt = emitted(tmp_path / "run")
    missing = run("apply", prompt, tmp_path / "no.csv", "--out", tmp_path / "o")
    assert missing.exit_code == 2
    assert missing.stderr.count("\n") == 1
    nothing = run("rerun", prompt, "--on", tmp_path / "x.jsonl")
    assert nothing.exit_code == 2
    assert "nothing moves" in nothing.stderr
    target = run("export", prompt, "--to", "word", "--out", tmp_path / "e")
    assert target.exit_code == 2
    source = run("export", tmp_path / "none", "--to", "python", "--out", tmp_path / "e")
    assert "no such prompt file or run directory" in source.stderr


def test_a_rerun_goes_into_its_run_and_is_told_in_words(campaign):
    done = run("rerun", f"{campaign}:values", "--max-tokens", "500,1500", "--effort", "-")
    assert done.exit_code == 0, done.output
    assert "simulated model" in done.stdout
    (folder,) = (campaign / "reruns").iterdir()
    assert (folder / "ladder.svg").exists()
    assert "judging at no effort sent, 500 tokens" in done.stderr


def test_a_probe_needs_a_run_and_tells_who_leads(campaign, tmp_path):
    done = run("rerun", campaign, "--probe", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert [r["max_tokens"] for r in found["rungs"]] == [1500, 3000, 6000]
    alone = run("rerun", emitted(tmp_path / "run"), "--probe")
    assert alone.exit_code == 2


def test_an_export_and_an_import_say_what_they_wrote(tmp_path):
    prompt = emitted(tmp_path / "run", gate={"decision": "refused"})
    out = tmp_path / "export"
    done = run("export", prompt, "--to", "python", "--out", out, "--unconfirmed", "--json")
    assert done.exit_code == 0, done.output
    assert "unconfirmed_python_judge.py" in json.loads(done.stdout)["files"]
    layout = "tests/data/omissionbench"
    imported = run("import", "omissionbench", layout, "--out", tmp_path / "pairs.jsonl")
    assert imported.exit_code == 0, imported.output
    assert "8 pairs" in imported.stdout


def test_options_that_are_left_out_are_those_of_the_block(tmp_path, campaign):
    taken = load_prompt(str(emitted(tmp_path / "run", student_budget={
        "max_tokens": 1500, "reasoning_effort": "low"})))  # fmt: skip
    assert budget_asked(taken, None, None) is None
    assert budget_asked(taken, None, 9) == Budget(9, "low")
    assert budget_asked(taken, "-", None) == Budget(1500, None)
    assert make_ready(taken, JudgeOptions()).seed == 11
    assert make_ready(load_prompt(str(campaign)), JudgeOptions()).seed == 5
    own = Rung(taken.budget, taken.samples)
    rungs = rungs_asked(own, "none, high", None, None)
    assert [r.budget for r in rungs] == [Budget(1500, "none"), Budget(1500, "high")]
    assert rungs_asked(own, None, None, None) == ()
    assert notes_named("accept") == "accept"
    assert isinstance(notes_named("file.jsonl"), NoteFile)


def test_progress_is_told_now_and_then(capsys):
    ticker = Ticker()
    for n in range(100):
        ticker.tell(f"{n} notes")
    assert capsys.readouterr().err == "0 notes\n"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("stray.csv", 'id,transcript,note\n1,a,"b\n2,c,d\n', "stray.csv:2: not CSV"),
        ("aci.csv", "dialogue,note\na,b\n", "no column «transcript»; there is «dialogue»"),
        ("twice.csv", "id,transcript,note,note\n1,a,b,c\n", "column «note» stands twice"),
        ("blank.csv", "id,transcript,note\n1,a,\n", "blank.csv:2: note: is blank"),
    ],
)
def test_a_table_with_nothing_to_judge_is_status_2_and_leaves_nothing(
    tmp_path, name, content, said
):
    (tmp_path / name).write_text(content)
    done = run("apply", emitted(tmp_path / "run"), tmp_path / name, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_what_a_table_is_like_can_be_said_and_is_told(tmp_path):
    (tmp_path / "t.csv").write_text("Case;Clinical Note\n1;Coughs.\n2;Coughs too.\n")
    (tmp_path / "c.tsv").write_text("group\ttranscript\n1\t[doctor] hm\n2\t[doctor] so\n")
    done = run(
        *("apply", emitted(tmp_path / "run"), tmp_path / "t.csv", "--out", tmp_path / "out"),
        *("--columns", "note=Clinical Note", "--columns", "id=Case", "--delimiter", ";"),
        *("--encoding", "utf-8", "--multiline", "--consultations", tmp_path / "c.tsv", "--json"),
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert told["notices"] == [
        "t.csv: read as UTF-8 with semicolons",
        "c.tsv: read as UTF-8 with tabs",
    ]
    with (tmp_path / "out" / "made.csv").open(encoding="utf-8", newline="") as handle:
        assert [row["id"] for row in csv.DictReader(handle)] == ["1", "2"]
    wrong = run(
        "import", "medec", tmp_path / "t.csv", "--out", tmp_path / "o.csv", "--columns", "x"
    )
    assert wrong.exit_code == 2
    assert "'x' is not of the form NAME=COLUMN" in wrong.stderr
