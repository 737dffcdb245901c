"""Parts that go wrong, and starts that meet: faults are named, nothing is lost."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import yaml

import heldout
from heldout.experiments.campaigns.checks import check
from heldout.experiments.campaigns.plan import plan, plan_text
from heldout.experiments.campaigns.verify import verify_run
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.types import BadInput, Rank, ScoreTable


def config(folder: Path, **own: dict[str, Any]) -> dict[str, Any]:
    tree: dict[str, Any] = {
        "name": "own",
        "seed": 5,
        "benchmark": {"synthetic": {"consultations": 16}},
        "student": {"design": "whole_note", "model": "sim/judge", "budget": {"max_tokens": 800}},
        "reflector": {"model": "sim/reflector"},
        "seeds": [{"name": "plain", "text": "Read the transcript, then the note. Score the note."}],
        "search": {"iterations": 2},
        "parts": str(folder),
        "tracking": {"enabled": False},
    }
    for section, values in own.items():
        tree[section] = {**tree.get(section, {}), **values}
    return tree


def write(folder: Path, name: str, rank: str, more: str = "") -> str:
    (folder / f"{name}.py").write_text(
        f"calls = []\n{more}\n\nclass O:\n    def rank(self, table):\n        calls.append(1)\n"
        f"        {rank}\n        return (0.5,)\n",
        "utf-8",
    )
    return f"{name}:O"


@pytest.mark.parametrize(
    ("rank", "said"),
    [
        ("if len(calls) > 9: raise ValueError('late')", "failed in rank .ValueError: late"),
        ("if len(calls) > 9: return (float('nan'),)", "a rank is a tuple of finite numbers"),
        ("if len(calls) > 9: return 'high'", "a rank is a tuple of finite numbers"),
    ],
)
def test_a_part_that_fails_while_a_run_goes_is_named_and_the_run_can_go_on(
    tmp_path: Path, rank: str, said: str
) -> None:
    path = write(tmp_path, f"late{abs(hash(rank))}", rank)
    with pytest.raises(BadInput, match=f"search.objective: {path}.*{said}"):
        heldout.run(config(tmp_path, search={"objective": path}), run_dir=tmp_path / "run")
    left = heldout.load_run(tmp_path / "run")
    assert (left.status, left.finish_reason) == ("failed", "fault")
    assert verify_run(tmp_path / "run").fault is None


def test_what_runs_is_what_the_digest_is_of_also_after_an_edit(tmp_path: Path) -> None:
    path = write(tmp_path, "edited", "pass", more="MARK = 1")
    first = heldout.run(config(tmp_path, search={"objective": path}), run_dir=tmp_path / "1")
    write(tmp_path, "edited", "pass", more="MARK = 2")
    second = heldout.run(config(tmp_path, search={"objective": path}), run_dir=tmp_path / "2")
    assert first.opened.parts != second.opened.parts
    import sys

    assert sys.modules["edited"].MARK == 2


class Spread:
    """An objective that is handed over as it is."""

    def rank(self, table: ScoreTable) -> Rank:
        return (float(len(table.labels)),)


@pytest.mark.parametrize("written", ["file", "mapping"])
def test_a_path_that_is_written_out_means_the_module_not_what_was_handed_over(
    tmp_path: Path, written: str
) -> None:
    path = write(tmp_path, f"twice_{written}", "pass")
    handed = type("O", (Spread,), {"__module__": f"twice_{written}"})
    first = heldout.run(config(tmp_path, search={"objective": handed}), run_dir=tmp_path / "1")
    tree = config(tmp_path, search={"objective": path})
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump(tree), "utf-8")
    again = heldout.run(file if written == "file" else tree, run_dir=tmp_path / "2")
    assert [list(run.opened.parts or ()) for run in (first, again)] == [[path], [path]]
    assert first.opened.parts != again.opened.parts


@pytest.mark.parametrize(
    "text", ["class R:\n    def __init__(self, **k): pass\n", "import sys\nsys.exit(3)\n"]
)
def test_a_reflector_that_cannot_write_is_refused_before_anything_is_bought(
    tmp_path: Path, text: str
) -> None:
    name = f"writes{abs(hash(text))}"
    (tmp_path / f"{name}.py").write_text(text, "utf-8")
    with pytest.raises(BadInput, match=r"reflector\.kind"):
        heldout.run(config(tmp_path, reflector={"kind": f"{name}:R"}), run_dir=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_of_two_starts_in_one_folder_one_runs_and_the_other_is_told(tmp_path: Path) -> None:
    ended: list[object] = []

    def begin() -> None:
        try:
            ended.append(heldout.run(config(tmp_path), run_dir=tmp_path / "run").status)
        except BadInput as fault:
            ended.append(fault)

    both = [threading.Thread(target=begin) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    faults = [end for end in ended if isinstance(end, BadInput)]
    assert [end for end in ended if end == "finished"], ended
    assert all(str(tmp_path / "run") in str(fault) for fault in faults)
    assert heldout.load_run(tmp_path / "run").status == "finished"


def test_a_cap_that_does_not_exist_cannot_be_raised_on_a_finished_run(tmp_path: Path) -> None:
    heldout.run(config(tmp_path), run_dir=tmp_path / "run")
    with pytest.raises(BadInput, match=r"budget\.foo: unknown key"):
        heldout.resume(tmp_path / "run", budget={"foo": 1})


def test_a_campaign_with_its_own_gate_rule_is_planned_and_decided(tmp_path: Path) -> None:
    (tmp_path / "strict.py").write_text(
        "from heldout.types import RuleVerdict\n\n\nclass Strict:\n"
        "    def verdict(self, difference, *, alpha, margin):\n"
        "        found = difference.interval(1 - alpha / 5)\n"
        "        ships = found is not None and found.low > margin\n"
        "        return RuleVerdict('strict:Strict', ships, found)\n",
        "utf-8",
    )
    tree = config(tmp_path, gate={"rule": "strict:Strict"})
    for words in (
        plan_text(plan(check(load_config(tree), RunDirectory(tmp_path / "planned")))),
        heldout.power(tree, draws=50).model,
    ):
        assert "strict:Strict is not simulated, the figures are of the studentised rule" in words
    ended = heldout.run(tree, run_dir=tmp_path / "run")
    assert ended.status == "finished"
    assert verify_run(tmp_path / "run").fault is None
