import json

import pytest
from tests.support.campaigns import run_small
from tests.support.practice import asking, emitted

from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.note_rows import NoteFile
from heldout.experiments.practice.rerun import default_out, rerun
from heldout.experiments.practice.rungs import rungs_of
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, LooksSpent
from heldout.splits.heldout.looks_file import LooksFile
from heldout.splits.partition.manifest import read_manifest
from heldout.splits.synthetic import draw, write_jsonl
from heldout.students.models.chat import ChatReply
from heldout.students.simulated import SimulatedJudge

INVENTORY = (
    "First list every fact of the conversation; only then check each one in the note, one at a "
    "time. Give the score with one decimal."
)
CONSULTATIONS = 24


class Counted:
    """The simulated judge, counting what it is asked."""

    def __init__(self):
        self.asked, self.blocks = 0, set()

    async def complete(self, request) -> ChatReply:
        self.asked += 1
        self.blocks.add(request.messages[0].content.partition("<instructions>\n")[2])
        return SimulatedJudge().answer(request)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = tmp_path_factory.mktemp("campaign")
    changes = {"partition": {"planned_looks": 2}}
    return run_small(folder, changes).files.path


@pytest.fixture(scope="module")
def fresh(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fresh")
    pairs, consultations = folder / "p.jsonl", folder / "p.consultations.jsonl"
    write_jsonl(draw(CONSULTATIONS, 77), pairs, consultations)
    return NoteFile(pairs, consultations)


RUNGS = rungs_of(["none", "medium", "high"], [450, 1500, 4000], [1])


@pytest.fixture(scope="module")
def laddered(tmp_path_factory, fresh):
    """A ladder of an inventory beside the plain block, three replicates."""
    folder = tmp_path_factory.mktemp("ladder")
    prompt = load_prompt(str(emitted(folder / "run", block=INVENTORY)))
    return rerun(prompt, RUNGS, fresh, asking(), replicates=3, out=folder / "out")


def test_an_inventory_gains_from_budget_and_a_plain_block_little(laddered):
    ladder = laddered.ladder
    ours = [step.block.paired("omission").estimate for step in ladder.steps]
    theirs = [step.control.paired("omission").estimate for step in ladder.steps]
    assert ours == sorted(ours)
    assert ours[-1] - ours[0] > 0.1
    assert max(theirs) - min(theirs) < 0.05
    assert ladder.since_first("block", ladder.steps[-1], "omission").low > 0
    assert ladder.beside_control(ladder.steps[-1], "omission").low > 0


def test_every_rung_has_its_clean_scores_and_costs(laddered):
    found = json.loads(laddered.files[0].read_text())
    assert found["simulated"]
    assert [r["max_tokens"] for r in found["rungs"]] == [450, 1500, 4000]
    costs = [r["block"]["cost"] for r in found["rungs"]]
    assert costs[0]["reasoning_tokens"] == 0 < costs[1]["reasoning_tokens"]
    for rung in found["rungs"]:
        assert sum(s["judgings"] for s in rung["block"]["clean_scores"]) == 3 * CONSULTATIONS
        assert rung["block"]["intervals"]["paired_commissions"]["level"] == 0.95
    assert {c["kind"] for c in found["combinations"]} == {
        "single", "majority", "union", "escalation",
    }  # fmt: skip
    assert len(found["compute_matched"]) == 3


def test_the_files_say_that_they_are_simulated_and_hold_the_figure(laddered):
    texts = {file.name: file.read_text("utf-8") for file in laddered.files}
    for name in ("ladder.md", "ladder.html"):
        assert "Simulated model" in texts[name]
    assert texts["ladder.html"].count("<svg") == 1
    assert "<script" not in texts["ladder.html"]
    assert 'xmlns="http://www.w3.org/2000/svg"' in texts["ladder.svg"]


def test_a_second_attempt_buys_nothing_and_blocks_go_out_unchanged(tmp_path, fresh):
    prompt = load_prompt(str(emitted(tmp_path / "run", block=INVENTORY)))
    first, second = Counted(), Counted()
    one = rerun(prompt, RUNGS[:2], fresh, asking(first), out=tmp_path / "out")
    two = rerun(prompt, RUNGS[:2], fresh, asking(second), out=tmp_path / "out")
    assert first.asked > 0 == second.asked
    assert one.ladder.to_json()["rungs"] == two.ladder.to_json()["rungs"]
    assert any(block.startswith(INVENTORY) for block in first.blocks)
    assert len(first.blocks) == 2


def test_at_the_budget_of_the_search_accept_scores_come_out_the_same(tmp_path, campaign):
    """Equal seeds: the rung at the search's own budget is the search's own evaluation."""
    taken = load_prompt(str(campaign))
    rungs = rungs_of(["-"], [1500, 3000], [1])
    report = rerun(taken, rungs, "accept", asking(seed=5), out=tmp_path / "out")
    run = Run.at(campaign)
    searched = run.accept_table(run.winner.id)
    again = report.ladder.steps[0].block.tables[0].in_order_of(searched.labels)
    assert again.scores == searched.scores
    assert not report.ladder.tested


def test_held_out_is_a_declared_family_of_planned_looks(tmp_path, campaign):
    taken = load_prompt(f"{campaign}:values")
    rungs = rungs_of(["none", "high"], [1500, 4000], [1])
    out = tmp_path / "out"
    report = rerun(taken, rungs, "heldout", asking(seed=5), out=out)
    manifest = campaign / "partition.json"
    looks = LooksFile.beside(manifest, read_manifest(manifest)).looks()
    ours = [look for look in looks if look.run.startswith("rerun-")]
    assert sorted(look.kind for look in ours) == ["baseline", "baseline", "other", "other"]
    assert len({look.family for look in ours}) == 1
    assert not any(look.exploratory for look in ours)
    assert set(report.ladder.holm) == {rung.name for rung in rungs}
    # The same request again finds its own looks; another one finds the plan used up.
    again = rerun(taken, rungs, "heldout", asking(Counted(), seed=5), out=out)
    assert again.ladder.to_json()["rungs"][0]["block"]["paired_omissions"] is not None
    other = asking(seed=6)
    with pytest.raises(LooksSpent):
        rerun(taken, rungs, "heldout", other, out=tmp_path / "b")
    found = rerun(taken, rungs, "heldout", other, out=tmp_path / "c", acknowledge_reuse=True)
    assert found.exploratory
    assert not found.ladder.tested
    assert found.ladder.holm == {}


@pytest.mark.parametrize(
    ("efforts", "caps", "samples", "said"),
    [
        (["none", "low"], [1, 2, 3], [1], "--effort: has 2 values beside 3"),
        (["none"], [0], [1], "--max-tokens: every value must be at least 1"),
        (["none", "none"], [5], [1], "two rungs are the same"),
    ],
)
def test_ladders_that_are_none_are_refused(efforts, caps, samples, said):
    with pytest.raises(BadInput, match=said):
        rungs_of(efforts, caps, samples)


def test_a_model_that_cannot_take_an_effort_is_refused_before_the_first_call(tmp_path, fresh):
    pins = tmp_path / "models.yaml"
    pins.write_text(
        "models:\n  local/judge:\n    model: openai/x\n    api_base: http://127.0.0.1:1/v1\n"
        "    efforts: [low, high]\n"
    )
    prompt = load_prompt(str(emitted(tmp_path / "run")))
    wanted = asking(model="local/judge", models=pins)
    with pytest.raises(BadInput, match="does not take reasoning_effort 'medium'"):
        rerun(prompt, RUNGS[1:], fresh, wanted, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_accept_needs_a_run_and_a_plain_file_has_no_pairs(tmp_path):
    prompt = load_prompt(str(emitted(tmp_path / "run")))
    with pytest.raises(BadInput, match="belong to a run"):
        rerun(prompt, RUNGS, "accept", asking(), out=tmp_path / "out")
    notes = tmp_path / "notes.csv"
    notes.write_text("transcript,note\na,b\n")
    with pytest.raises(BadInput, match="a ladder needs pairs"):
        rerun(prompt, RUNGS, NoteFile(notes), asking(), out=tmp_path / "out")


def test_the_control_must_be_another_block_of_the_same_design(tmp_path, fresh):
    prompt = load_prompt(str(emitted(tmp_path / "run")))
    checker = load_prompt(str(emitted(tmp_path / "b", "per_fact_checker", "Check each fact.")))
    for control, said in ((prompt, "is the same block"), (checker, "not comparable")):
        with pytest.raises(BadInput, match=said):
            rerun(prompt, RUNGS, fresh, asking(), control=control, out=tmp_path / "o")


def test_a_candidate_that_a_run_does_not_have_is_named(campaign):
    with pytest.raises(BadInput, match="no such candidate; the run has c00 to"):
        load_prompt(f"{campaign}:c99")


def test_where_a_rerun_goes_depends_on_what_is_asked(campaign):
    taken = load_prompt(str(campaign))
    first = default_out(taken, RUNGS, "accept")
    assert first.parent == campaign / "reruns"
    assert first != default_out(taken, RUNGS[:2], "accept")
