"""What a reviewer does in the UI survives a re-sync."""

from __future__ import annotations

import pytest
from tests.support.made_runs import Plan, make_run

from heldout.experiments.tracking import TrackingFailed, sync


def _resynced(run, store):
    """Sync again after the run has changed, so that every run is written once more."""
    for found in store.runs.values():
        if found.info.lifecycle_stage == "active":
            store.client.delete_tag(found.info.run_id, "heldout.projection_sha256")
    return sync(run, store.uri).counts


def test_tags_and_an_edited_note_survive(run, store):
    sync(run, store.uri)
    child = store.runs["c02"].info.run_id
    parent = store.runs["campaign"].info.run_id
    store.client.set_tag(child, "reviewed by", "Ada")
    store.client.set_tag(parent, "mlflow.note.content", "I do not believe c05.")
    _resynced(run, store)
    assert store.runs["c02"].data.tags["reviewed by"] == "Ada"
    assert store.runs["campaign"].data.tags["mlflow.note.content"] == "I do not believe c05."


def test_a_note_nobody_edited_follows_the_run(tmp_path, store):
    run = make_run(tmp_path / "run", Plan(iterations=5, stop_after=2))
    sync(run, store.uri)
    before = store.runs["campaign"].data.tags["mlflow.note.content"]
    (run / "journal.jsonl").unlink()
    make_run(run, Plan(iterations=5))
    sync(run, store.uri)
    after = store.runs["campaign"].data.tags["mlflow.note.content"]
    assert before.startswith("**No decision")
    assert not after.startswith("**No decision")


def test_a_deleted_child_is_not_made_again(run, store):
    sync(run, store.uri)
    child = store.runs["c04"].info.run_id
    store.client.delete_run(child)
    counts = _resynced(run, store)
    assert (counts.runs_created, counts.deleted_by_reviewer) == (0, 1)
    assert store.runs["c04"].info.run_id == child
    assert store.runs["c04"].info.lifecycle_stage == "deleted"


def test_nothing_is_written_under_a_deleted_parent(run, store):
    sync(run, store.uri)
    store.client.delete_run(store.runs["campaign"].info.run_id)
    counts = _resynced(run, store)
    assert counts.changes == 0
    assert len(store.versions("made")) == 1


def test_a_deleted_experiment_is_a_fault_that_names_it(run, store):
    sync(run, store.uri)
    store.client.delete_experiment(store.experiment_id)
    with pytest.raises(TrackingFailed, match="'heldout' was deleted"):
        sync(run, store.uri)
