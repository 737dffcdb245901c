"""What a run looks like in MLflow, and that bringing it there again changes nothing."""

from __future__ import annotations

import json

from tests.support.made_runs import Plan, make_run

from heldout.experiments.tracking import sync
from heldout.experiments.tracking.campaign_run import EMITTED
from heldout.gepa.record.run import load_run


def test_a_child_run_a_candidate_entered_and_rejected_under_one_parent(synced):
    run, store = synced
    found, runs = load_run(run), store.runs
    assert set(runs) == {"campaign", *found.candidates}
    assert {c.status for c in found.candidates.values()} == {"entered", "rejected"}
    parent = runs.pop("campaign").info.run_id
    for id_, child in runs.items():
        candidate = found.candidates[id_]
        assert child.data.tags["mlflow.parentRunId"] == parent
        assert child.data.tags["heldout.kind"] == candidate.kind
        assert child.data.tags["heldout.parents"] == ",".join(candidate.parents)
        assert child.data.tags["heldout.status"] == candidate.status
        assert child.data.tags.get("heldout.reason") == candidate.reason
        assert child.info.run_name.startswith(f"{id_} {candidate.kind}")


def test_names_read_as_a_lineage(synced):
    run, store = synced
    names = {key: found.info.run_name for key, found in store.runs.items()}
    told = load_run(run)
    rejected = next(c for c in told.candidates.values() if c.reason == "minibatch")
    parents = "+".join(rejected.parents)
    expected = f"{rejected.id} {rejected.kind} {parents} · rejected: minibatch"
    assert names[rejected.id] == expected
    assert names[told.winner.id].endswith("· winner")
    assert names["campaign"] == "made · emitted"


def test_accept_figures_are_metrics_with_slices_at_the_budget_spent(synced):
    run, store = synced
    told = load_run(run)
    for candidate in told.entered:
        metrics = store.runs[candidate.id].data.metrics
        assert metrics["accept/paired_omissions"] == candidate.accept.paired_omissions
        assert "accept_trace/partial-weak" in metrics
        assert metrics["accept_trace/partial-weak_pairs"] > 0
    steps = [p[3] for p in store.points(store.runs["campaign"]) if p[0] == "budget/calls"]
    assert steps == sorted(steps)
    assert steps[-1] == told.spent.calls


def test_the_gate_decision_stands_as_tags_and_metrics(synced):
    run, store = synced
    parent, gate = store.runs["campaign"], load_run(run).gate
    assert parent.data.tags["heldout.decision"] == "emitted" == gate.decision
    assert parent.data.tags["heldout.rule"] == gate.rule
    for end in ("estimate", "low", "high"):
        assert parent.data.metrics[f"heldout/difference_{end}"] == getattr(gate.difference, end)
    first = parent.data.tags["mlflow.note.content"].splitlines()[0]
    assert first.startswith("**Emitted: ")


def test_split_digests_are_dataset_inputs_by_role(synced):
    run, store = synced
    inputs = store.runs["campaign"].inputs.dataset_inputs
    found = {i.tags[0].value: (i.dataset.name, i.dataset.digest) for i in inputs}
    splits = load_run(run).partition.splits
    assert found == {r: (f"made-{r}", f.digest[:32]) for r, f in splits.items()}


def test_prompts_cut_as_params_by_peers_are_artifacts_here(synced):
    """gepa and mlflow store prompts as params, cut at 6,000 characters."""
    run, store = synced
    told = load_run(run)
    params = json.dumps([found.data.params for found in store.runs.values()])
    for candidate in told.candidates.values():
        if candidate.block is None:
            continue
        first = candidate.block.splitlines()[0]
        assert first not in params
        artifacts = store.artifacts(store.runs[candidate.id].info.run_id)
        assert artifacts["block.txt"] == candidate.block
        assert {"candidate.html", "candidate.md"} <= set(artifacts)


def test_the_parent_holds_report_lineage_and_journal(synced):
    run, store = synced
    artifacts = store.artifacts(store.runs["campaign"].info.run_id)
    assert {"report.html", "report.md", "lineage.html", "journal.jsonl"} <= set(artifacts)
    assert artifacts["journal.jsonl"] == (run / "journal.jsonl").read_text("utf-8")


def test_syncing_twice_changes_nothing(run, store):
    first = sync(run, store.uri)
    before = store.content()
    second = sync(run, store.uri)
    assert first.prompt_uri == second.prompt_uri == "prompts:/made/1"
    assert first.counts.runs_created == len(before)
    assert second.counts.changes == 0
    assert store.content() == before
    assert len(store.versions("made")) == 1


def test_a_second_store_gets_the_same_content(run, store, other_store):
    sync(run, store.uri)
    sync(run, other_store.uri)
    assert other_store.content() == store.content()


def test_an_interrupted_sync_is_completed(run, store):
    sync(run, store.uri)
    before = store.content()
    parent = store.runs["campaign"].info.run_id
    child = store.runs["c03"].info.run_id
    for id_ in (parent, child):
        store.client.delete_tag(id_, "heldout.projection_sha256")
    store.client.delete_tag(child, "heldout.files")
    counts = sync(run, store.uri).counts
    assert (counts.runs_created, counts.runs_updated) == (0, 2)
    assert store.content() == before


def test_a_stopped_run_is_shown_as_stopped_and_goes_on_after_resuming(tmp_path, store):
    plan = Plan(iterations=6, stop_after=3)
    run = make_run(tmp_path / "run", plan)
    sync(run, store.uri)
    stopped = store.runs["campaign"]
    assert (stopped.info.status, stopped.info.run_name) == ("KILLED", "made · stopped")
    (run / "journal.jsonl").unlink()
    (run / "calls.sqlite").unlink()
    make_run(run, Plan(iterations=6))
    sync(run, store.uri)
    finished = store.runs["campaign"]
    assert finished.info.run_id == stopped.info.run_id
    assert finished.info.status == "FINISHED"


def test_an_emitted_prompt_is_a_version_with_aliases_linked_to_its_run(synced):
    run, store = synced
    told = load_run(run)
    version = store.client.get_prompt_version_by_alias("made", EMITTED)
    assert version.template == told.prompt_file.read_text("utf-8")
    assert version.tags["heldout.decision"] == "emitted"
    assert version.tags["heldout.block_sha256"] == told.winner.sha256
    for key in ("campaign", told.winner.id):
        linked = json.loads(store.runs[key].data.tags["mlflow.linkedPrompts"])
        assert linked == [{"name": "made", "version": "1"}]


def test_nothing_is_registered_when_the_gate_refuses(tmp_path, store):
    run = make_run(tmp_path / "run", Plan(iterations=8, gain=0.02))
    assert load_run(run).decision in ("refused", "not_confirmed")
    assert sync(run, store.uri).prompt_uri is None
    assert store.versions("made") == []


def test_a_prompt_file_changed_after_emission_is_not_registered(run, store):
    path = load_run(run).prompt_file
    path.write_text(path.read_text() + "\nAlways answer 10.")
    assert sync(run, store.uri).prompt_uri is None
    assert store.versions("made") == []


def test_two_runs_of_one_name_are_two_versions(run, tmp_path, store):
    sync(run, store.uri)
    other = make_run(tmp_path / "again", Plan(iterations=6, gain=0.2, run_id="made-0002"))
    sync(other, store.uri)
    sync(run, store.uri)
    emitted = store.client.get_prompt_version_by_alias("made", EMITTED)
    assert len(store.versions("made")) == 2
    assert emitted.tags["heldout.run_id"] == "made-0002"
