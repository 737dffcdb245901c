"""Whole campaigns on the simulated models: what a person gets, and what must never happen."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.campaigns import SMALL, merged, resume_small, run_small, summary, write_config

from heldout.experiments.campaigns.running import prepare
from heldout.experiments.campaigns.verify import verify_run
from heldout.gepa.emission import withdraw
from heldout.gepa.record.events import PhaseEvent
from heldout.gepa.record.kinds import EventKind, Phase
from heldout.gepa.record.run import Run
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.errors import BadInput, LooksSpent
from heldout.splits.hashing import sha256_file, sha256_text
from heldout.students.models.chat import ChatModel, ChatReply, ChatRequest, StopReason, Usage

pytestmark = pytest.mark.campaign

CONFIGS = Path(__file__).parents[3] / "configs"


class Scripted:
    """A judge double: the score is a function of block and note."""

    def __init__(self, score: Any) -> None:
        self._score = score

    async def complete(self, request: ChatRequest) -> ChatReply:
        text = request.messages[0].content
        note = text.split("<note>\n")[1].split("\n</note>")[0]
        block = text.split("<instructions>\n")[1].split("\n</instructions>")[0]
        answer = json.dumps({"assessment": "made", "score": self._score(block, note)})
        return ChatReply(answer, StopReason.STOP, Usage(50, 10), 0.0, "sim/judge")


class Seeing:
    """Wraps a model and keeps every message it is sent."""

    def __init__(self, model: ChatModel) -> None:
        self._model, self.seen = model, []

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.seen += [message.content for message in request.messages]
        return await self._model.complete(request)


class Copying:
    """A reflector that copies its input into the block, but for lines that a reply may not hold."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        text = "\n".join(m.content for m in request.messages)
        inside = "\n".join(line for line in text.splitlines() if not set("<>`") & set(line))
        answer = f"<<<BLOCK\n{inside}\nBLOCK>>>"
        return ChatReply(answer, StopReason.STOP, Usage(50, 10), 0.0, "sim/reflector")


def better_when_longer(block: str, note: str) -> float:
    """Seeds see nothing; every evolved block orders notes by length, so it sees omissions."""
    if block in {seed["text"] for seed in SMALL["seeds"]}:
        return 7.0
    return min(10.0, len(note) / 300)


def test_an_emitted_run_has_file_card_and_journal_that_agree_hash_for_hash(tmp_path: Path) -> None:
    ended = run_small(
        tmp_path,
        {"gate": {"side_margins": {"commissions": 1.0}}},
        doubles={"sim/judge": Scripted(better_when_longer)},
    )
    found = summary(ended)
    assert (found["status"], found["decision"], found["reason"]) == ("finished", "emitted", None)
    prompt = Path(found["prompt_file"])
    card = yaml.safe_load(prompt.with_suffix(".card.yaml").read_text())
    emission = ended.run.emission
    assert sha256_file(prompt) == card["prompt_sha256"] == emission.prompt_sha256
    assert sha256_file(prompt.with_suffix(".card.yaml")) == emission.card_sha256
    winner = ended.run.candidates[found["winner"]["id"]]
    assert winner.block in prompt.read_text()
    assert sha256_text(winner.block) == card["block_sha256"] == found["winner"]["sha256"]
    gate = next(e for e in ended.run.events if e.body == PhaseEvent(name=Phase.EMIT))
    assert card["journal_head"] == gate.hash
    assert card["student_budget"] == {"max_tokens": 1500, "reasoning_effort": None}
    assert card["simulated"] is True
    assert any("simulated" in line for line in card["does_not_show"])
    assert json.loads((ended.files.gate).read_text())["decision"] == "emitted"
    assert verify_run(ended.files.path).exit_status == 0


def test_no_prompt_file_exists_after_a_refused_gate(tmp_path: Path) -> None:
    def chance(block: str, note: str) -> float:
        return int(sha256_text(block + note)[:6], 16) / 0xFFFFFF * 10

    ended = run_small(
        tmp_path, {"gate": {"pre_gate": "off"}}, doubles={"sim/judge": Scripted(chance)}
    )
    found = summary(ended)
    assert found["decision"] in ("refused", "not_confirmed")
    assert found["prompt_file"] is None
    assert not (ended.files.path / "prompts").exists()
    assert not list(ended.files.path.rglob("*.card.yaml"))
    assert json.loads(ended.files.gate.read_text())["decision"] == found["decision"]


def test_a_winner_that_is_a_seed_is_not_confirmed(tmp_path: Path) -> None:
    ended = run_small(tmp_path, doubles={"sim/judge": Scripted(lambda *_: 5.0)})
    found = summary(ended)
    assert (found["decision"], found["reason"]) == ("not_confirmed", "seed_won")
    assert found["heldout"] is None
    kinds = [look.kind for look in ended.run.looks]
    assert kinds == ["baseline"]


def test_the_summary_has_every_key_a_program_relies_on(whole) -> None:
    found = summary(whole)
    assert set(found) >= {
        "run_id", "run_dir", "status", "finish_reason", "decision", "reason", "rule", "winner",
        "accept", "heldout", "prompt_file", "candidates", "budget", "lineage_sha256",
    }  # fmt: skip
    assert set(found["accept"]["winner"]) >= {
        "paired_omissions", "paired_commissions", "at_rule", "swept", "violations",
    }  # fmt: skip
    assert set(found["accept"]["winner"]["violations"]) == {"k", "n"}
    assert set(found["accept"]["winner"]["at_rule"]["detection"]) == {"k", "n"}
    assert set(found["budget"]) == {"calls", "tokens", "usd", "wall_s"}
    counts = found["candidates"]
    assert counts["proposed"] == counts["entered"] + counts["rejected"]
    assert re.fullmatch(r"[0-9a-f]{64}", found["lineage_sha256"])
    assert Path(found["run_dir"]).is_absolute()


# -- determinism and resuming ----------------------------------------------------------------------


def test_equal_lineage_whatever_the_concurrency(tmp_path: Path, whole) -> None:
    for n in (1, 16):
        other = run_small(tmp_path, {"concurrency": n}, run=f"r{n}")
        assert summary(other)["lineage_sha256"] == summary(whole)["lineage_sha256"]


def test_another_seed_is_another_lineage(tmp_path: Path, whole) -> None:
    other = run_small(tmp_path, {"seed": 6})
    assert summary(other)["lineage_sha256"] != summary(whole)["lineage_sha256"]


def test_a_run_cut_anywhere_resumes_to_the_same_lineage_and_buys_nothing_twice(
    tmp_path, whole
) -> None:
    expected = summary(whole)["lineage_sha256"]
    lines = whole.files.journal.read_bytes().splitlines(keepends=True)
    for cut in range(1, len(lines), max(1, len(lines) // 12)):
        run = tmp_path / f"cut{cut}"
        shutil.copytree(whole.files.path, run)
        shutil.rmtree(run / "prompts", ignore_errors=True)
        (run / "journal.jsonl").write_bytes(
            b"".join(lines[:cut]) + lines[cut][: len(lines[cut]) // 2]
        )
        models = {name: Seeing(model) for name, model in simulated_models().items()}
        ended = resume_small(run, doubles=models)
        assert summary(ended)["lineage_sha256"] == expected
        assert not any(model.seen for model in models.values())


def test_resume_of_a_finished_run_changes_nothing(ended) -> None:
    before = {p: p.read_bytes() for p in ended.files.path.rglob("*") if p.is_file()}
    again = resume_small(ended.files.path)
    after = {p: p.read_bytes() for p in ended.files.path.rglob("*") if p.is_file()}
    assert summary(again) == summary(ended)
    assert before == after


def test_resume_of_a_directory_with_only_a_configuration_starts_it(tmp_path: Path, whole) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    shutil.copy(whole.files.config, fresh / "config.yaml")
    assert summary(resume_small(fresh))["lineage_sha256"] == summary(whole)["lineage_sha256"]


def test_a_changed_journal_is_refused_on_resume(ended) -> None:
    text = ended.files.journal.read_text()
    ended.files.journal.write_text(text.replace('"best":0', '"best":1', 1))
    found = verify_run(ended.files.path)
    assert found.exit_status == 1
    assert re.search(r"line \d+: was changed after it was written", found.fault)


def test_a_hard_cap_stops_with_status_3_and_resume_with_a_higher_one_goes_on(
    tmp_path, whole
) -> None:
    needed = summary(whole)["budget"]["calls"]
    cap = int(needed * 0.9)
    ended = run_small(tmp_path, {"budget": {"calls": cap}})
    assert ended.exit_status == 3
    found = summary(ended)
    assert (found["status"], found["finish_reason"]) == ("stopped", "hard_cap")
    assert found["decision"] is None
    again = resume_small(ended.files.path)
    assert again.exit_status == 3
    raised = resume_small(ended.files.path, settings=(f"budget.calls={10 * needed}",))
    assert raised.exit_status == 0
    assert summary(raised)["lineage_sha256"] == summary(whole)["lineage_sha256"]


def test_a_cap_that_cannot_pay_for_the_confirmation_is_refused_before_any_call(tmp_path) -> None:
    with pytest.raises(BadInput, match=r"budget.calls: 20 cannot pay for the held-out baseline"):
        run_small(tmp_path, {"budget": {"calls": 20}})
    assert not (tmp_path / "run").exists()


def test_an_edited_configuration_is_refused_on_resume(ended) -> None:
    text = ended.files.config.read_text()
    ended.files.config.write_text(text.replace("max_words: 400", "max_words: 300"))
    with pytest.raises(BadInput, match="was edited after the run began"):
        resume_small(ended.files.path)


def test_a_run_whose_partition_is_gone_draws_no_second_one(tmp_path: Path) -> None:
    planted(tmp_path, {})
    manifest = tmp_path / "partition.json"
    config = from_files(tmp_path) | {"partition": {"manifest": str(manifest)}}
    whole = run_small(tmp_path, config)
    lines = whole.files.journal.read_bytes().splitlines(keepends=True)
    whole.files.journal.write_bytes(b"".join(lines[: len(lines) // 2]))
    manifest.unlink()
    with pytest.raises(BadInput, match="is gone; the run was begun on it"):
        resume_small(whole.files.path)
    assert not manifest.exists()


def test_paths_of_a_configuration_hold_wherever_it_is_resumed(tmp_path, monkeypatch) -> None:
    planted(tmp_path, {})
    relative = {
        "synthetic": None,
        "pairs": "pairs.jsonl",
        "consultations": "consultations.jsonl",
    }
    write_config(tmp_path, {"benchmark": relative, "partition": {"manifest": "m.json"}})
    monkeypatch.chdir(tmp_path)
    checked = prepare(Path("campaign.yaml"), (), tmp_path / "run")
    assert checked.config.benchmark.pairs == tmp_path / "pairs.jsonl"
    assert checked.manifest == tmp_path / "m.json"


def test_a_finished_run_without_its_report_gets_it_on_resume(ended) -> None:
    ended.files.report.unlink()
    resume_small(ended.files.path)
    assert ended.files.report.is_file()


def test_verify_names_a_missing_store_and_a_changed_decision(ended) -> None:
    assert verify_run(ended.files.path).exit_status == 0
    gate = ended.files.gate.read_text()
    ended.files.gate.write_text(gate.replace('"rule": "interval"', '"rule": "point"'))
    assert "says something else than the journal" in verify_run(ended.files.path).fault
    ended.files.gate.write_text(gate)
    ended.files.store.unlink()
    assert "is missing, and with it the calls" in verify_run(ended.files.path).fault


def test_a_late_fault_leaves_an_empty_directory_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    with pytest.raises(BadInput, match="effect"):
        run_small(tmp_path, {"student": {"parameters": {"effect": "abc"}}})
    assert not [p for p in (tmp_path / "run").iterdir() if p.name != ".lock"]


def test_nothing_outside_the_run_is_removed_through_a_link(tmp_path: Path, ended) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "a.txt").write_text("mine")
    shutil.rmtree(ended.files.path / "prompts", ignore_errors=True)
    (ended.files.path / "prompts").symlink_to(victim)
    withdraw(ended.files.path)
    assert (victim / "a.txt").read_text() == "mine"
    assert not (ended.files.path / "prompts").exists()


def test_resume_may_raise_budgets_and_nothing_else(tmp_path: Path) -> None:
    ended = run_small(tmp_path, {"budget": {"calls": 100_000}})
    for setting, message in (
        ("search.iterations=9", "resume may raise budget"),
        ("budget.calls=10", "may only be raised, it was 100000"),
        ("budget.usd=3", "may only be raised, it was no cap"),
    ):
        with pytest.raises(BadInput, match=message):
            resume_small(ended.files.path, settings=(setting,))


def test_the_stop_file_stops_and_resume_removes_it_first(tmp_path: Path, whole) -> None:
    class Touching:
        def __init__(self, model: ChatModel, stop: Path) -> None:
            self._model, self._stop, self._left = model, stop, 150

        async def complete(self, request: ChatRequest) -> ChatReply:
            self._left -= 1
            if self._left == 0:
                self._stop.touch()
            return await self._model.complete(request)

    stop = tmp_path / "run" / "gepa.stop"
    judge = Touching(simulated_models()["sim/judge"], stop)
    ended = run_small(tmp_path, doubles={"sim/judge": judge})
    assert ended.exit_status == 3
    assert summary(ended)["finish_reason"] == "stop_requested"
    assert stop.exists()
    again = resume_small(ended.files.path)
    assert (again.exit_status, stop.exists()) == (0, False)
    assert summary(again)["lineage_sha256"] == summary(whole)["lineage_sha256"]


# -- held-out --------------------------------------------------------------------------------------


def planted(run_files: Path, canaries: dict[str, str]) -> Path:
    """A real-file benchmark whose consultations each hold a word of their own."""
    from heldout.splits.synthetic import draw, write_jsonl

    pairs, consultations = run_files / "pairs.jsonl", run_files / "consultations.jsonl"
    write_jsonl(draw(16, 5), pairs, consultations)
    rows = [json.loads(line) for line in pairs.read_text().splitlines()]
    talks = [json.loads(line) for line in consultations.read_text().splitlines()]
    for number, talk in enumerate(talks):
        canary = f"canary{number:02d}xyzzy"
        canaries[talk["consultation_id"]] = canary
        talk["transcript"] += f"\n[patient] My dog is called {canary} by the way."
        talk["note"] += f"\nDog: {canary}."
    for row in rows:
        canary = canaries[f"{row['stratum']}|{row['id']}"]
        for side in ("clean", "errored"):
            row[side] += f"\nDog: {canary}."
        row["fact"] = f"{row['fact']} ({canary})"
        row.pop("edit", None)
    pairs.write_text("".join(json.dumps(row) + "\n" for row in rows))
    consultations.write_text("".join(json.dumps(talk) + "\n" for talk in talks))
    return pairs


def from_files(folder: Path) -> dict[str, Any]:
    return {
        "benchmark": {
            "synthetic": None,
            "pairs": str(folder / "pairs.jsonl"),
            "consultations": str(folder / "consultations.jsonl"),
            "public": False,
        }
    }


@pytest.mark.parametrize("reflector", ["simulated", "copying"])
def test_canaries_of_accept_and_heldout_stay_where_they_are(tmp_path: Path, reflector: str) -> None:
    canaries: dict[str, str] = {}
    planted(tmp_path, canaries)
    models = simulated_models()
    inner = Copying() if reflector == "copying" else models["sim/reflector"]
    watching = Seeing(inner)
    ended = run_small(
        tmp_path,
        {
            **from_files(tmp_path),
            "tracking": {"enabled": True, "uri": f"sqlite:///{tmp_path}/m.db"},
        },
        doubles={"sim/reflector": watching},
    )
    splits = json.loads(ended.files.manifest.read_text())["splits"]
    prompts = "\n".join(watching.seen)
    assert any(canaries[name] in prompts for name in splits["reflect"])
    hidden = [canaries[name] for name in splits["accept"] + splits["heldout"]]
    assert not [canary for canary in hidden if canary in prompts]
    journal = ended.files.journal.read_text()
    assert not [canary for canary in canaries.values() if canary in journal]
    for file in tmp_path.rglob("*"):
        own_data = file.name in ("pairs.jsonl", "consultations.jsonl")
        if file.is_file() and not own_data and not file.name.startswith("calls.sqlite"):
            data = file.read_bytes()
            assert not [canary for canary in hidden if canary.encode() in data], file
    if reflector == "copying":
        reasons = {
            candidate.reason
            for candidate in ended.run.candidates.values()
            if candidate.kind != "seed"
        }
        assert reasons == {"overlap"}
        assert all(
            candidate.block is None
            for candidate in ended.run.candidates.values()
            if candidate.reason == "overlap"
        )


def test_splits_share_no_consultation_and_no_transcript(whole) -> None:
    splits = json.loads(whole.files.manifest.read_text())["splits"]
    sets = [set(ids) for ids in splits.values()]
    assert sum(map(len, sets)) == len(set.union(*sets)) == 16


def test_a_data_file_changed_after_the_split_is_refused_by_name(tmp_path: Path) -> None:
    planted(tmp_path, {})
    ended = run_small(tmp_path, from_files(tmp_path))
    text = (tmp_path / "pairs.jsonl").read_text()
    (tmp_path / "pairs.jsonl").write_text(text.replace('"critical"', '"supporting"', 1))
    config = from_files(tmp_path) | {"partition": {"manifest": str(ended.files.manifest)}}
    with pytest.raises(BadInput) as caught:
        run_small(tmp_path, config, run="second")
    lines = caught.value.lines
    assert any("pairs.jsonl: changed since" in line for line in lines), lines


def test_a_planted_near_duplicate_across_splits_is_found(tmp_path: Path) -> None:
    planted(tmp_path, {})
    ended = run_small(tmp_path, from_files(tmp_path))
    manifest = json.loads(ended.files.manifest.read_text())
    one, two = manifest["splits"]["reflect"][0], manifest["splits"]["heldout"][0]
    talks = [json.loads(x) for x in (tmp_path / "consultations.jsonl").read_text().splitlines()]
    texts = {talk["consultation_id"]: talk["transcript"] for talk in talks}
    for talk in talks:
        if talk["consultation_id"] == two:
            talk["transcript"] = texts[one] + "\n[doctor] One word more."
    (tmp_path / "consultations.jsonl").write_text("".join(json.dumps(t) + "\n" for t in talks))
    config = from_files(tmp_path) | {"partition": {"manifest": str(ended.files.manifest)}}
    with pytest.raises(BadInput) as caught:
        run_small(tmp_path, config, run="second")
    found = [line for line in caught.value.lines if "near-duplicates in different splits" in line]
    assert any(one in line and two in line for line in found)


def test_a_second_campaign_finds_the_firsts_look_and_is_refused_or_exploratory(tmp_path) -> None:
    planted(tmp_path, {})
    double = {"sim/judge": Scripted(better_when_longer)}
    config = from_files(tmp_path) | {"gate": {"side_margins": {"commissions": 1.0}}}
    first = run_small(tmp_path, config, doubles=double)
    assert summary(first)["decision"] == "emitted"
    second = config | {"partition": {"manifest": str(first.files.manifest)}, "seed": 6}
    with pytest.raises(LooksSpent, match=summary(first)["run_id"]):
        run_small(tmp_path, second, doubles=double, run="second")
    assert not (tmp_path / "second").exists()
    third = run_small(tmp_path, second, doubles=double, acknowledge_reuse=True, run="third")
    found = summary(third)
    assert (found["decision"], found["reason"]) == ("refused", "exploratory")
    # The first winner, the baseline judged again under another seed, and this winner.
    assert found["heldout"]["looks"] == 3
    assert not (third.files.path / "prompts").exists()


def test_a_look_already_bought_gives_the_stored_result_and_costs_nothing(tmp_path: Path) -> None:
    planted(tmp_path, {})
    double = {"sim/judge": Scripted(better_when_longer)}
    config = from_files(tmp_path) | {"gate": {"side_margins": {"commissions": 1.0}}}
    first = run_small(tmp_path, config, doubles=double)
    again = config | {"partition": {"manifest": str(first.files.manifest)}}
    with pytest.raises(LooksSpent):
        run_small(tmp_path, again, doubles=double, run="second")
    judge = Seeing(Scripted(better_when_longer))
    second = run_small(
        tmp_path, again, doubles={"sim/judge": judge}, acknowledge_reuse=True, run="third"
    )
    texts = json.loads(first.files.manifest.read_text())["splits"]["heldout"]
    bought = [
        evaluation.bought_by
        for evaluation in second.run.evaluations
        if evaluation.split == "heldout"
    ]
    # The baseline before the search, the winner, and the baseline beside it.
    assert bought == [summary(first)["run_id"]] * 3
    assert len(texts) > 0
    assert summary(second)["heldout"]["winner"] == summary(first)["heldout"]["winner"]
    assert second.files.report.is_file()
    assert verify_run(second.files.path).faults == ()


def test_a_drawn_benchmark_is_outside_the_registry_and_gives_one_lineage(tmp_path: Path) -> None:
    runs = [
        run_small(tmp_path, {"search": {"iterations": 2}}, run=f"run{number}")
        for number in range(5)
    ]
    assert len({summary(run)["lineage_sha256"] for run in runs}) == 1
    assert all(run.exit_status == 0 for run in runs)
    assert not Path(os.environ["HELDOUT_LOOKS"]).exists()


@pytest.mark.parametrize(
    "changed",
    [{"rule": "point"}, {"alpha": 0.2}, {"goal": "non_inferior", "margin": 0.3}],
    ids=str,
)
def test_a_run_beyond_the_plan_never_emits_by_whatever_gate(tmp_path: Path, changed) -> None:
    planted(tmp_path, {})
    double = {"sim/judge": Scripted(better_when_longer)}
    config = from_files(tmp_path) | {"gate": {"side_margins": {"commissions": 1.0}}}
    first = run_small(tmp_path, config, doubles=double)
    assert first.run.decision == "emitted"
    again = merged(config, {"gate": changed})
    second = run_small(tmp_path, again, doubles=double, acknowledge_reuse=True, run="second")
    assert (second.run.decision, second.run.reason) == ("refused", "exploratory")


def test_looks_carry_their_figures(whole) -> None:
    from heldout.experiments.campaigns.look_table import look_table

    rows = look_table(whole.files.manifest).looks
    assert rows[0].kind == "baseline"
    assert 0 <= rows[0].figures["paired_omissions"] <= 1
    assert str(rows[0]).count(" · ") >= 5


def test_the_baseline_look_comes_before_the_first_search_call(whole) -> None:
    run = whole.run
    events, splits = run.events, [e.split for e in run.evaluations]
    assert splits[0] == "heldout"
    assert splits[1] == "accept"
    look = next(i for i, e in enumerate(events) if e.kind is EventKind.LOOK)
    first = next(i for i, e in enumerate(events) if e.kind is EventKind.EVALUATION)
    assert look < first


# -- inputs ----------------------------------------------------------------------------------------


def test_a_directory_that_holds_something_is_never_written_into(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine.txt").write_text("keep")
    with pytest.raises(BadInput, match="already exists; continue it with resume"):
        run_small(tmp_path)
    assert [p.name for p in (tmp_path / "run").iterdir()] == ["mine.txt"]


def test_an_unknown_design_is_named_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no design whole_not; did you mean whole_note"):
        run_small(tmp_path, {"student": {"design": "whole_not"}})
    with pytest.raises(BadInput, match="word_count is a control"):
        run_small(tmp_path, {"student": {"design": "word_count"}})


def test_too_few_consultations_name_the_minimum(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="the minimum is 12"):
        run_small(tmp_path, {"benchmark": {"synthetic": {"consultations": 10}}})


@pytest.mark.parametrize(
    "name",
    [
        "quickstart",
        "ranks_only",
        "placebo",
        "real_notes",
        "study/exploratory",
        "study/second",
        "study/confirmatory_checker",
        "study/confirmatory_whole_note",
    ],
)
def test_shipped_configurations_are_good(name, tmp_path, monkeypatch, data_folder) -> None:
    monkeypatch.setenv("HELDOUT_DATA", str(data_folder))
    checked = prepare(CONFIGS / f"{name}.yaml", (), tmp_path / "run")
    assert checked.config.name == Path(name).name
    assert not (tmp_path / "run").exists()


def test_the_per_fact_checker_runs_a_whole_campaign(tmp_path: Path) -> None:
    ended = run_small(
        tmp_path,
        {
            "student": {"design": "per_fact_checker", "budget": {"max_tokens": 4000}},
            "seeds": [{"name": "plain", "text": "For each fact, decide if the note records it."}],
            "baseline": None,
        },
    )
    found = summary(ended)
    assert found["status"] == "finished"
    assert all(evaluation.facts_sha256 for evaluation in ended.run.evaluations)


def test_status_of_a_gzipped_or_absent_run_is_a_fault(tmp_path: Path) -> None:
    from heldout.experiments.campaigns.commands import show_status

    with pytest.raises(BadInput, match="is not a run directory"):
        show_status(tmp_path / "absent", as_json=True)
    (tmp_path / "run").mkdir()
    with gzip.open(tmp_path / "run" / "journal.jsonl.gz", "wb") as handle:
        handle.write(b"x")
    with pytest.raises(BadInput, match=r"it has no config\.yaml"):
        show_status(tmp_path / "run", as_json=True)


def test_summaries_of_unfinished_runs_say_so(whole) -> None:
    events = whole.run.events
    half = Run.of(events[: len(events) // 2], whole.run.run_dir).to_json()
    assert (half["status"], half["decision"]) == ("running", None)


def test_write_config_is_what_prepare_reads(tmp_path: Path) -> None:
    path = write_config(tmp_path, {"search": {"iterations": 3}})
    assert prepare(path, (), tmp_path / "run").config.search.iterations == 3
