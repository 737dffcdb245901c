"""Exports, run in the stacks they are for; the same replies must give the same scores."""

import ast
import asyncio
import csv
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.benchmarks.loopback import serving
from tests.support import exports
from tests.support.practice import BLOCK, asking, emitted

from heldout.experiments.practice.export import FILES, export
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.session import make_ready
from heldout.experiments.practice.vendored import ROOTS, vendored
from heldout.experiments.runs.run_directory import working_in
from heldout.splits.errors import BadInput
from heldout.students.designs.roster import ROSTER, DesignGroup

STANDARD = frozenset(sys.stdlib_module_names)


def exported(tmp_path, target, design="whole_note", **changes):
    taken = load_prompt(str(emitted(tmp_path / "run", design, **changes)))
    out = tmp_path / target
    export(taken, target, out, asking())
    return taken, out


def native(taken, rows):
    return asyncio.run(exports.native(taken, make_ready(taken, asking()).student, rows))


def with_notes(out, rows):
    (out / "notes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return out


@pytest.mark.parametrize("design", ["whole_note", "per_fact_checker"])
def test_fifty_notes_score_the_same_in_dspy(tmp_path, design):
    pytest.importorskip("dspy")
    rows = exports.rows()
    taken, out = exported(tmp_path, "dspy", design)
    found = exports.run(with_notes(out, rows), exports.DSPY.format(module="dspy_judge"))
    expected = native(taken, rows)
    assert exports.result(found) == expected
    assert len({score for score, _ in expected}) > 5


def test_notes_score_the_same_in_mlflow(tmp_path):
    pytest.importorskip("mlflow")
    rows = exports.rows(12)  # MLflow's harness takes a third of a second a note
    taken, out = exported(tmp_path, "mlflow-judge")
    quiet = {
        "MLFLOW_DISABLE_TELEMETRY": "true",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        # On SQLite several writers of traces lock each other out on a busy machine.
        "MLFLOW_GENAI_EVAL_MAX_WORKERS": "1",
        "MLFLOW_ENABLE_ASYNC_TRACE_LOGGING": "false",
    }
    script = exports.MLFLOW.format(module="mlflow_judge")
    found = exports.run(with_notes(out, rows), script, env=quiet)
    assert exports.result(found) == native(taken, rows)


def test_plain_python_judges_a_file_through_an_endpoint(tmp_path):
    rows = exports.rows(12)
    taken, out = exported(tmp_path, "python")
    with_notes(out, rows)
    with serving(exports.respond) as server:
        done = subprocess.run(
            [sys.executable, "-S", "python_judge.py", "notes.jsonl"],  # without site-packages
            cwd=out,
            env={"JUDGE_BASE_URL": server.api_base, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(f["score"], f["flag"]) for f in found] == native(taken, rows)


EVERY = """
import asyncio, json, sys
from tests.support.exports import said

async def judged(judge, rows):
    async def ask(question):
        body = {"messages": question.messages, "max_tokens": question.max_tokens,
                "temperature": question.temperature, "seed": question.seed}
        reply = said(body)
        return judge.Reply(reply.text, reply.finish.value)
    found = [await judge.judge(ask, r["transcript"], r["note"]) for r in rows]
    return [[v.score, v.flag] for v in found]

found = {}
for folder in sys.argv[1:]:
    sys.path.insert(0, folder)
    import heldout_judge.judge as judge
    rows = [json.loads(line) for line in open(f"{folder}/notes.jsonl")]
    found[judge.SETTINGS["design"]] = asyncio.run(judged(judge, rows))
    sys.path.remove(folder)
    for name in [n for n in sys.modules if n.startswith("heldout_judge")]:
        del sys.modules[name]
print("EVERY" + json.dumps(found))
"""


def test_every_design_with_a_block_scores_the_same_outside(tmp_path):
    rows = exports.rows(2)
    designs = [d for d in ROSTER if d.group is not DesignGroup.CONTROL]
    folders, expected = [], {}
    for design in designs:
        folder = tmp_path / design.name
        taken, out = exported(folder, "python", design.name, block=design.block)
        folders.append(str(with_notes(out, rows)))
        expected[design.name] = [list(pair) for pair in native(taken, rows)]
    output = exports.run(tmp_path, EVERY, *folders)
    found = json.loads(output.partition("EVERY")[2])
    assert found == expected
    assert len(found) == len(designs) > 15


def executable(name):
    """A program that an environment variable names; skips the test where it names none."""
    program = os.environ.get(name) or shutil.which(name.removeprefix("HELDOUT_").lower())
    if not program:
        pytest.skip(f"{name} names no program; docs/applying.md says how to run this test")
    return program


def test_fifty_notes_score_the_same_in_inspect(tmp_path):
    program = executable("HELDOUT_INSPECT")
    rows = exports.rows()
    taken, out = exported(tmp_path, "inspect")
    with_notes(out, rows)
    with serving(exports.respond) as server:
        done = subprocess.run(
            [program, "eval", "inspect_judge.py", "--model", "openai-api/loopback/judge",
             "-T", "notes=notes.jsonl", "--log-format", "json", "--display", "plain"],
            cwd=out,
            env={**os.environ, "LOOPBACK_BASE_URL": server.api_base, "LOOPBACK_API_KEY": "none"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (out / "logs").glob("*.json")
    samples = sorted(json.loads(log.read_text())["samples"], key=lambda s: s["id"])
    found = [s["scores"]["judged"] for s in samples]
    assert [(f["value"], f["metadata"]["flag"]) for f in found] == native(taken, rows)


def test_fifty_notes_score_the_same_in_promptfoo(tmp_path):
    program = executable("HELDOUT_PROMPTFOO")
    rows = exports.rows()
    taken, out = exported(tmp_path, "promptfoo")
    with (out / "notes.csv").open("w", newline="") as handle:
        writer = csv.DictWriter(handle, ["transcript", "note"])
        writer.writeheader()
        writer.writerows(rows)
    with serving(exports.respond) as server:
        done = subprocess.run(
            [program, "eval", "-c", "promptfooconfig.yaml", "-o", "found.json", "--no-cache"],
            cwd=out,
            env={
                **os.environ,
                "JUDGE_BASE_URL": server.api_base,
                "PROMPTFOO_PYTHON": sys.executable,
                "PROMPTFOO_DISABLE_TEMPLATING": "true",
                "PROMPTFOO_DISABLE_TELEMETRY": "1",
                "PROMPTFOO_DISABLE_UPDATE": "1",
                "PROMPTFOO_CONFIG_DIR": str(tmp_path / "config"),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert (out / "found.json").exists(), done.stdout + done.stderr
    results = json.loads((out / "found.json").read_text())["results"]["results"]
    answers = [
        json.loads(r["response"]["output"]) for r in sorted(results, key=lambda r: r["testIdx"])
    ]
    expected = native(taken, rows)
    assert [(a["score"], a["flag"]) for a in answers] == expected
    passed = [r["success"] for r in sorted(results, key=lambda r: r["testIdx"])]
    assert passed == [not flag for _, flag in expected]


def test_what_is_copied_rests_on_the_standard_library_alone():
    designs = ("heldout.students.designs.single", "heldout.students.designs.per_fact")
    for name, text in vendored((*ROOTS, *designs)).items():
        if not name.endswith(".py"):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            elif isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                continue
            for imported in names:
                allowed = STANDARD | {"heldout_judge"}
                if name.endswith("/tokens.py"):
                    allowed |= {"tiktoken"}  # where it is installed
                assert imported.partition(".")[0] in allowed, (name, imported)


REPLIES = (
    "", "no JSON", '{"score": 7}', '{"score": "7"}', '{"score": 11}', '{"score": NaN}',
    'first {"score": 3} then {"score": 4}', '```json\n{"score": 5.5, "assessment": "x"}\n```',
    '{"score": 5', '{"score": 5, "score": 6}', '{"score": true}', '{"assessment": "only"}',
    '[{"score": 2}]', '{"deeper": {"score": 2}}', '{"score": 1e400}', '{"score": -0.0}',
)  # fmt: skip


READING = """
import json, sys
from heldout_judge.judge import Reply, judge_now
replies = json.load(open("replies.json"))
found = []
for text in replies:
    async def ask(question, text=text):
        return Reply(text)
    verdict = judge_now(ask, "t", "n")
    found.append([verdict.score, verdict.outcome])
print("RESULT" + json.dumps(found))
"""


def test_malformed_replies_are_read_alike(tmp_path):
    taken, out = exported(tmp_path, "python")
    (out / "replies.json").write_text(json.dumps(REPLIES))
    found = exports.result(exports.run(out, READING))
    contract = make_ready(taken, asking()).student(exports.InProcess()).contract
    read = [contract.parse(text) for text in REPLIES]
    assert [score for score, _ in found] == [getattr(answer, "score", None) for answer in read]


def test_the_prompt_is_byte_for_byte_the_emitted_one_and_can_be_taken_again(tmp_path):
    taken, out = exported(tmp_path, "python")
    assert (out / "made.txt").read_bytes() == (tmp_path / "run/prompts/made.txt").read_bytes()
    again = load_prompt(str(out / "made.txt"))
    assert again.block == BLOCK
    assert again.confirmed
    assert again.sha256 == taken.sha256


def test_an_unconfirmed_block_says_so_in_names_headers_and_card(tmp_path):
    prompt = emitted(tmp_path / "run", gate={"decision": "refused"})
    taken = load_prompt(str(prompt))
    with pytest.raises(BadInput, match="--unconfirmed"):
        export(taken, "python", tmp_path / "a", asking())
    assert not (tmp_path / "a").exists()
    for target in FILES:
        out = tmp_path / target
        export(taken, target, out, asking(), unconfirmed=True)
        program = out / f"unconfirmed_{FILES[target]}"
        assert "UNCONFIRMED" in program.read_text().splitlines()[0]
        assert "UNCONFIRMED" in (out / "README.md").read_text()
        assert (
            yaml.safe_load((out / "made.unconfirmed.card.yaml").read_text())["confirmed"] is False
        )
        assert not load_prompt(str(out / "made.unconfirmed.txt")).confirmed


def test_a_changed_block_refuses_to_run(tmp_path):
    _, out = exported(tmp_path, "python")
    block = out / "heldout_judge" / "block.txt"
    block.write_text(block.read_text() + " And be kind.")
    with pytest.raises(AssertionError, match=r"block\.txt was changed"):
        exports.run(out, "import heldout_judge.judge")


def test_a_block_that_dspy_would_change_is_refused_for_dspy(tmp_path):
    taken = load_prompt(str(emitted(tmp_path / "run", block="Score the note.\n\n")))
    with pytest.raises(BadInput, match="strips white space"):
        export(taken, "dspy", tmp_path / "out", asking())
    export(taken, "python", tmp_path / "out", asking())


def test_bad_requests_are_refused(tmp_path):
    taken = load_prompt(str(emitted(tmp_path / "run")))
    with pytest.raises(BadInput, match="did you mean «mlflow-judge»"):
        export(taken, "mlflow_judge", tmp_path / "out", asking())
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(BadInput, match="is not an empty folder"):
        export(taken, "python", tmp_path / "full", asking())
    with working_in(tmp_path / "busy"), pytest.raises(BadInput, match="another process"):
        export(taken, "python", tmp_path / "busy", asking())
    export(taken, "python", tmp_path / "busy", asking())


def test_nothing_of_this_machine_stands_in_an_export(tmp_path):
    _, out = exported(tmp_path, "promptfoo")
    for file in out.rglob("*"):
        if file.is_file():
            assert str(Path.cwd()) not in file.read_text("utf-8")
            assert str(tmp_path) not in file.read_text("utf-8")


def test_the_promptfoo_config_has_what_its_schema_asks_for(tmp_path):
    _, out = exported(tmp_path, "promptfoo")
    config = yaml.safe_load((out / "promptfooconfig.yaml").read_text())
    assert set(config) == {"description", "prompts", "providers", "defaultTest", "tests"}
    (provider,) = config["providers"]
    assert provider["id"] == "file://promptfoo_judge.py"
    assert config["defaultTest"]["assert"] == [{"type": "python", "value": provider["id"]}]
