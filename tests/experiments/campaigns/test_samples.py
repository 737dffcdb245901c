"""Figures and thresholds belong to the samples they were made from: on the card, and in use."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
import yaml
from tests.support.campaigns import resume_small, run_small, summary, write_config
from tests.support.length_judge import SAFE, LengthJudge

from heldout.experiments.campaigns.plan import plan
from heldout.experiments.campaigns.running import prepare
from heldout.experiments.campaigns.session import SessionResult
from heldout.experiments.campaigns.verify import verify_run
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.gepa.record.events import PhaseEvent
from heldout.gepa.record.kinds import Phase, Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.rates.detection import swept

pytestmark = pytest.mark.campaign


def run(folder: Path, **confirm) -> SessionResult:
    changes = {"gate": {**SAFE, "rule": "point"}, "confirm": confirm}
    return run_small(folder, changes, doubles={"sim/judge": LengthJudge(noise=0.05)})


@pytest.fixture(scope="module")
def eight(tmp_path_factory) -> SessionResult:
    """One judging a note in the search, eight at the end."""
    return run(tmp_path_factory.mktemp("eight"), samples=8)


def frozen(run: Run, candidate: str) -> list:
    """The evaluations of accept that a threshold was frozen on."""
    return [
        e
        for e in run.evaluations
        if e.purpose is Purpose.THRESHOLD and e.candidate == candidate and e.split == "accept"
    ]


def test_the_card_names_the_samples_of_its_figures(eight: SessionResult) -> None:
    found = eight.run
    assert summary(eight)["decision"] == "emitted"
    card = yaml.safe_load(next(found.run_dir.rglob("*.card.yaml")).read_text())
    assert (card["samples"], card["replicates"]) == (8, 1)
    assert {e.samples for e in found.on_heldout(Purpose.CONFIRM)} == {8}
    (evaluation,) = frozen(found, found.winner.id)
    assert evaluation.samples == 8
    table = found.table(evaluation.scores)
    assert card["threshold"]["value"] == swept(table).threshold
    assert card["accept"]["at_threshold"]["threshold"] == card["threshold"]["value"]
    assert card["accept"]["swept"]["detection"] == card["accept"]["at_threshold"]["detection"]


def test_thresholds_are_frozen_before_the_look(eight: SessionResult) -> None:
    found = eight.run
    kinds = [e.body for e in found.events]
    looks = [k for k, body in enumerate(kinds) if body in found.looks]
    judged = [k for k, body in enumerate(kinds) if body in frozen(found, found.winner.id)]
    confirm = kinds.index(PhaseEvent(name=Phase.CONFIRM))
    assert confirm < judged[0] < looks[-1]
    for candidate, side in (
        (found.winner.id, found.heldout.winner),
        (found.baseline.id, found.heldout.baseline),
    ):
        (evaluation,) = frozen(found, candidate)
        assert side.at_threshold.threshold == swept(found.table(evaluation.scores)).threshold


def test_the_prompt_is_used_at_those_samples(eight: SessionResult) -> None:
    winner = load_prompt(str(eight.files.path))
    emitted = load_prompt(summary(eight)["prompt_file"])
    assert (
        (winner.samples, winner.threshold)
        == (emitted.samples, emitted.threshold)
        == (
            8,
            eight.run.heldout.winner.at_threshold.threshold,
        )
    )
    other = load_prompt(f"{eight.files.path}:plain")
    assert other.samples == 1


def test_such_a_run_is_recomputed_from_its_calls(eight: SessionResult) -> None:
    assert verify_run(eight.files.path).faults == ()


def test_samples_of_the_search_are_not_bought_again(eight: SessionResult) -> None:
    (evaluation,) = frozen(eight.run, eight.run.winner.id)
    notes = len(evaluation.scores)
    # Seven of eight are new: the search has bought the first.
    assert evaluation.spent.calls == 7 * notes


@pytest.mark.parametrize(
    ("confirm", "again"),
    [
        ({}, 0),
        ({"samples": 2}, 1),
        ({"replicates": 2}, 2),
        ({"samples": 2, "threshold": "search"}, 0),
    ],
)
def test_accept_is_judged_again_only_where_settings_differ(tmp_path, confirm, again) -> None:
    ended = run(tmp_path, **confirm)
    assert ended.run.heldout is not None
    assert len(frozen(ended.run, ended.run.winner.id)) == again
    assert len(frozen(ended.run, ended.run.baseline.id)) == again
    assert verify_run(ended.files.path).faults == ()


def test_the_plan_and_the_reserve_count_it(tmp_path: Path) -> None:
    plans = {}
    for samples in (1, 8):
        checked = prepare(
            write_config(tmp_path, {"confirm": {"samples": samples}}), (), tmp_path / "run"
        )
        plans[samples] = (plan(checked)["at_most"], checked.confirmation.calls, checked)
    notes = plan(plans[8][2])["notes"]
    assert plans[1][0]["judgements"]["threshold"] == 0
    assert plans[8][0]["judgements"]["threshold"] == 2 * 8 * notes["accept"]
    per_judging = plans[1][1] / (2 * notes["heldout"])
    held = 2 * 8 * (notes["heldout"] + notes["accept"]) * per_judging
    assert plans[8][1] == pytest.approx(held, rel=0.02)


def test_a_killed_run_goes_on_through_the_freezing(eight: SessionResult, tmp_path: Path) -> None:
    """Cut in the middle of it, as by a kill: the calls are in the store, the events are not."""
    copy = Path(shutil.copytree(eight.files.path, tmp_path / "run"))
    lines = (copy / "journal.jsonl").read_text().splitlines(keepends=True)
    first = next(k for k, line in enumerate(lines) if '"purpose":"threshold"' in line)
    (copy / "journal.jsonl").write_text("".join(lines[: first + 1]))
    again = resume_small(copy, doubles={"sim/judge": LengthJudge(noise=0.05)})
    assert again.run.lineage_sha256 == eight.run.lineage_sha256
    assert again.run.sentence == eight.run.sentence
