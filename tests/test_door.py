"""The front door: what `import heldout` promises, wherever it is called from."""

from __future__ import annotations

import asyncio
import inspect
import json
import multiprocessing
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import yaml
from tests.support.campaigns import SMALL, merged
from tests.support.kernels import Kernel
from typer.testing import CliRunner

import heldout
from heldout.experiments.cli.main import app
from heldout.experiments.runs.config_file import load_config
from heldout.splits.synthetic import draw, write_jsonl

ROOT = Path(__file__).parents[1]
CONFIG = merged(SMALL, {"search": {"iterations": 3}})
OWN = f"""
import dataclasses, heldout

@dataclasses.dataclass(frozen=True)
class Strict:
    margin: float = 0.0

    def accepts(self, comparison):
        return comparison.child_reward > comparison.parent_reward + self.margin + 1e-12

    def admits(self, child, parent):
        return True

config = {CONFIG!r}
config["search"]["acceptance"] = Strict(10.0)
run = heldout.run(config, run_dir="own")
print(run.candidates.entered, len(run.opened.parts["__main__:Strict"]))
"""
CELL = f"""
import heldout
run = heldout.run({CONFIG!r}, run_dir="cell")
print(run.status, run.finish_reason, run.lineage_sha256)
"""


@pytest.fixture(scope="module")
def lineage(tmp_path_factory) -> str:
    """What `heldout run` finds with CONFIG."""
    folder = tmp_path_factory.mktemp("command")
    (folder / "small.yaml").write_text(yaml.safe_dump(CONFIG))
    asked = ["run", str(folder / "small.yaml"), "--run-dir", str(folder / "run"), "--json"]
    done = CliRunner().invoke(app, asked)
    return json.loads(done.stdout)["lineage_sha256"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch) -> Path:
    """The working folder, where `runs/` is made."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


# -- what is there ---------------------------------------------------------------------------------


def test_the_names_of_the_door() -> None:
    assert heldout.__all__ == [
        "Config", "__version__", "compare", "judge", "load_run", "power", "resume", "run",
        "testing", "types",
    ]  # fmt: skip
    assert set(heldout.__all__) <= set(dir(heldout))
    for module in (heldout, heldout.types, heldout.testing):
        assert module.__all__ == sorted(module.__all__)
        assert all(getattr(module, name) is not None for name in module.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'optimise'"):
        heldout.optimise  # noqa: B018


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        (
            "run",
            "(config: 'AnyPath | Mapping[str, Any] | Config', *, run_dir: 'AnyPath | None' = None, "
            "acknowledge_reuse: 'bool' = False, observers: 'Sequence[Observer]' = ()) -> 'Run'",
        ),
        (
            "resume",
            "(run_dir: 'AnyPath', *, budget: 'Mapping[str, Any] | None' = None, "
            "leave_out: 'Sequence[str]' = (), acknowledge_reuse: 'bool' = False, "
            "observers: 'Sequence[Observer]' = ()) -> 'Run'",
        ),
        ("load_run", "(run_dir: 'Path | str') -> 'Run'"),
        (
            "judge",
            "(designs: 'str | Sequence[str]', benchmark: 'AnyPath', *, out: 'AnyPath', "
            "consultations: 'AnyPath | None' = None, model: 'str | None' = None, "
            "models: 'AnyPath | None' = None, block: 'AnyPath | None' = None, "
            "partition: 'AnyPath | None' = None, "
            "split: \"Literal['reflect', 'accept'] | None\" = None, max_tokens: 'int' = 1024, "
            "effort: 'str | None' = None, replicates: 'int' = 1, seed: 'int' = 11, "
            "tracking: 'bool' = True) -> 'JudgeReport'",
        ),
        (
            "compare",
            "(candidate: 'AnyPath', baseline: 'AnyPath', *, benchmark: 'AnyPath | None' = None, "
            "consultations: 'AnyPath | None' = None, primary: 'Primary' = 'paired_omissions', "
            "seed: 'int' = 1) -> 'Comparison'",
        ),
        (
            "power",
            "(config: 'AnyPath | Mapping[str, Any] | Config', *, "
            "pilot: 'tuple[AnyPath, AnyPath] | None' = None, draws: 'int' = 2000, "
            "wanted: 'float' = 0.05, candidates: 'int' = 10) -> 'PowerReport'",
        ),
    ],
)
def test_a_signature_is_a_promise(name: str, signature: str) -> None:
    assert str(inspect.signature(getattr(heldout, name))) == signature
    assert inspect.getdoc(getattr(heldout, name))


def test_importing_it_needs_no_heavy_library() -> None:
    program = (
        "import sys, heldout; heldout.__version__; "
        "heavy = {'litellm', 'mlflow', 'scipy', 'dspy', 'numpy', 'pandas', 'sqlalchemy'}; "
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


# -- the same lineage everywhere -------------------------------------------------------------------


@pytest.mark.campaign
def test_in_a_script_the_lineage_is_that_of_the_command(here: Path, lineage: str) -> None:
    script = f"import heldout\nprint(heldout.run({CONFIG!r}).lineage_sha256)\n"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=here, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == lineage
    [made] = (here / "runs").iterdir()
    assert f"new run in runs/{made.name}" in done.stderr


@pytest.mark.campaign
def test_in_a_thread_it_is_the_same(here: Path, lineage: str) -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(heldout.run(CONFIG).lineage_sha256))
    thread.start()
    thread.join()
    assert found == [lineage]


@pytest.mark.campaign
def test_in_a_pool_of_two_processes_it_is_the_same_twice(here: Path, lineage: str) -> None:
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=spawn) as pool:
        assert list(pool.map(lineage_of, [CONFIG, CONFIG])) == [lineage] * 2
    assert len(list((here / "runs").iterdir())) == 2


def lineage_of(config) -> str:
    """What a worker of the pool does."""
    return heldout.run(config).lineage_sha256


@pytest.mark.campaign
def test_in_a_notebook_the_stop_button_stops_and_the_same_cell_goes_on(
    here: Path, lineage: str
) -> None:
    watching = CELL.replace('run_dir="cell")', 'run_dir="cell", observers=[tell])')
    tell = "def tell(event, replayed):\n    print(event.kind, flush=True)\n"
    with Kernel(here) as kernel:
        stopped = kernel.run(tell + watching, interrupt_at="iteration")
        assert "stopped stop_requested" in stopped.text
        finished = kernel.run(CELL)
        assert f"finished iterations {lineage}" in finished.text
        # One line of progress is kept up to date under the cell.
        assert any("best accept" in line for line in finished.displayed)
        # A part may be an object, also one of a class that no file holds.
        assert "0 64" in kernel.run(OWN).text
        shown = kernel.run("run").html
        assert shown.index("Decision: ") < shown.index("simulated models")


@pytest.mark.campaign
def test_the_example_notebook_runs(here: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(ROOT / "examples" / "quickstart.ipynb", as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code), "stored with outputs"
    resources = {"metadata": {"path": str(here)}}
    NotebookClient(notebook, timeout=300, resources=resources).execute()
    assert "Decision: " in code[2].outputs[-1]["data"]["text/html"]
    assert code[-1].outputs[-1]["data"]["text/plain"] == "True"


# -- beginning, stopping, going on -----------------------------------------------------------------


class Failing:
    """An observer that raises at the first event of a kind."""

    def __init__(self, kind: str) -> None:
        self.kind, self.seen = kind, []

    def __call__(self, event, replayed) -> None:
        self.seen.append(event.kind)
        if event.kind == self.kind:
            raise ZeroDivisionError("the words of a note")


def test_a_failed_start_leaves_nothing_behind(here: Path) -> None:
    (here / "there").mkdir()
    for run_dir in ("runs/new", "there"):
        with pytest.raises(ZeroDivisionError):
            heldout.run(CONFIG, run_dir=run_dir, observers=[Failing("opened")])
    with pytest.raises(heldout.types.BadInput):
        heldout.run({**CONFIG, "seeds": [{"name": "odd", "text": "{{block}}"}]})
    assert [path.name for path in here.rglob("*")] == ["there"]


def test_a_failed_start_beside_a_running_loop_leaves_nothing_behind(here: Path) -> None:
    async def cell() -> None:
        heldout.run(CONFIG, run_dir="runs/new", observers=[Failing("opened")])

    with pytest.raises(ZeroDivisionError):
        asyncio.run(cell())
    assert not list(here.iterdir())


@pytest.mark.campaign
def test_an_observer_that_raises_ends_the_run_which_can_be_resumed(
    here: Path, lineage: str
) -> None:
    failing, seen = Failing("search_end"), []
    with pytest.raises(ZeroDivisionError):
        heldout.run(CONFIG, run_dir="run", observers=[lambda event, _: seen.append(event), failing])
    run = heldout.load_run("run")
    assert (run.status, run.finish_reason) == ("failed", "fault")
    assert run.events[-1].body.message == "builtins.ZeroDivisionError was raised"
    assert failing.seen[-1] == "search_end"
    assert seen == run.events
    replayed: list[bool] = []
    done = heldout.resume("run", observers=[lambda _, again: replayed.append(again)])
    assert done.lineage_sha256 == lineage
    assert len(replayed) == len(done.events) + len(done.rendered)
    assert 0 < sum(replayed) < len(replayed)


@pytest.mark.campaign
def test_a_cap_stops_a_run_and_a_raised_one_finishes_it(here: Path, lineage: str) -> None:
    capped = merged(CONFIG, {"budget": {"calls": 5_000, "reflector": {"calls": 1}}})
    run = heldout.run(capped, run_dir="run")
    assert (run.status, run.finish_reason) == ("stopped", "hard_cap")
    assert heldout.run(capped, run_dir="run").status == "stopped"
    with pytest.raises(heldout.types.BadInput, match="may only be raised"):
        heldout.resume("run", budget={"calls": 100})
    done = heldout.resume("run", budget={"calls": None, "reflector": {"calls": 50}})
    assert done.lineage_sha256 == lineage
    assert heldout.run(capped, run_dir="run").lineage_sha256 == lineage


@pytest.mark.campaign
def test_another_configuration_does_not_go_on_with_a_run(here: Path) -> None:
    config = heldout.Config.model_validate(CONFIG)
    run = heldout.run(config, run_dir="run")
    assert heldout.run(CONFIG, run_dir="run").run_id == run.run_id
    other = merged(CONFIG, {"search": {"iterations": 4}, "confirm": {"replicates": 2}})
    with pytest.raises(heldout.types.BadInput, match=r"another configuration \(search, confirm d"):
        heldout.run(other, run_dir="run")


def test_what_a_file_leaves_out_means_what_it_meant_when_the_run_began(here: Path) -> None:
    config = merged(
        CONFIG, {"reflector": {"model": "openai/any"}, "student": {"model": "openai/any"}}
    )
    stored = load_config(config, stored=True)
    assert stored != load_config(config)
    run = here / "run"
    run.mkdir()
    (run / "config.yaml").write_text(yaml.safe_dump(stored.model_dump(mode="json")))
    with pytest.raises(heldout.types.BadInput) as caught:
        heldout.run(config, run_dir="run")
    assert "another configuration" not in str(caught.value)


def test_a_mapping_is_read_as_a_file_is_and_left_as_it_was(here: Path) -> None:
    (here / "plain.txt").write_text("Read both.")
    config = {**CONFIG, "seeds": [Path("plain.txt")], "serch": {"iterations": 1}}
    before = repr(config)
    with pytest.raises(heldout.types.BadInput) as caught:
        heldout.run(config, run_dir="run")
    assert caught.value.lines == ("config: serch: unknown key; did you mean search?",)
    assert repr(config) == before
    with pytest.raises(heldout.types.BadInput, match="must be a path, a mapping or a Config"):
        heldout.run(7, run_dir="run")  # type: ignore[arg-type]


# -- what comes back -------------------------------------------------------------------------------


@pytest.mark.campaign
def test_a_run_is_read_by_attributes_tables_and_a_card(here: Path) -> None:
    run = heldout.run(CONFIG, run_dir="run")
    for key, value in run.to_json().items():
        assert hasattr(run, key)
        assert isinstance(value, dict | list) or str(value) == str(getattr(run, key)), key
    candidates = run.candidates_table()
    assert list(candidates.index) == list(run.candidates)
    assert candidates["accept"].notna().sum() == len(run.entered)
    evaluations = run.evaluations_table()
    assert len(evaluations) == sum(len(e.scores) for e in run.evaluations)
    seed = evaluations[evaluations.purpose == "seed"].iloc[0]
    assert seed.score == run.accept_scores(seed.candidate)[seed.note]
    assert list(run.looks_table().kind) == [str(look.kind) for look in run.looks]
    shown = run._repr_html_()
    assert shown.index(f"Decision: {run.sentence}") < shown.index("simulated models")
    assert f'href="{(here / "run" / "report.html").as_uri()}"' in shown


def test_a_run_of_no_event_can_be_shown_too() -> None:
    run = heldout.types.Run()
    assert "no decision yet" in run._repr_html_()
    for table in (run.candidates_table(), run.evaluations_table(), run.looks_table()):
        assert len(table) == 0
        assert len(table.columns) > 4


def test_judging_comparing_and_power(here: Path) -> None:
    write_jsonl(draw(6, 3), here / "pairs.jsonl.gz", here / "told.jsonl.gz")
    files = {"benchmark": "pairs.jsonl.gz", "consultations": "told.jsonl.gz"}

    async def cell():
        return heldout.judge("whole_note", **files, out="out", model="sim/judge", tracking=False)

    report = asyncio.run(cell())
    assert report.simulated
    assert "whole_note" in [result.design.name for result in report.results]
    scores = here / "out" / "scores"
    found = heldout.compare(scores / "whole_note.0.json", scores / "word_count.0.json", **files)
    assert found.n.omissions > 0
    detected = heldout.power(CONFIG, draws=100)
    assert detected.draws == 100
    assert "interval" in detected.rules
