"""`campaign_run` and `candidate_run` name everything that a run of MLflow holds."""

from __future__ import annotations

import re

from heldout.experiments.report.text import TextPolicy
from heldout.experiments.tracking import campaign_run, candidate_run
from heldout.experiments.tracking.content import tag_texts
from heldout.experiments.tracking.projection import DIGEST_TAG, FILES_TAG, INPUTS_TAG, NOTE_TAG
from heldout.gepa.record.run import load_run

BOOKKEEPING = {
    "heldout.run_id",
    "heldout.candidate_id",
    DIGEST_TAG,
    FILES_TAG,
    INPUTS_TAG,
    NOTE_TAG,
}


def _ours(found) -> dict[str, str]:
    tags = found.data.tags.items()
    return {k: v for k, v in tags if k.startswith("heldout.") and k not in BOOKKEEPING}


def test_the_parent_run_holds_what_the_module_says_and_nothing_else(synced):
    run_dir, store = synced
    run, parent = load_run(run_dir), store.runs["campaign"]
    assert _ours(parent) == tag_texts(campaign_run.campaign_tags(run, TextPolicy.FULL))
    assert parent.data.params == campaign_run.campaign_params(run)
    bodies = [event.body for event in run.events]
    logged = {name for body in bodies for name, _ in campaign_run.campaign_metrics(body)}
    assert set(parent.data.metrics) <= logged
    assert set(store.artifacts(parent.info.run_id)) <= _documented(campaign_run)


def test_a_child_run_holds_what_the_module_says_and_nothing_else(synced):
    run_dir, store = synced
    run = load_run(run_dir)
    for id_, candidate in run.candidates.items():
        child = store.runs[id_]
        assert _ours(child) == tag_texts(candidate_run.candidate_tags(run, candidate))
        figures = dict(candidate_run.candidate_metrics(run, candidate))
        assert child.data.metrics == {k: v for k, v in figures.items() if v is not None}
        assert child.data.params == {}
        names = set(store.artifacts(child.info.run_id))
        parents = {f"diff_{parent}.txt" for parent in candidate.parents}
        assert names - parents <= _documented(candidate_run)


def test_a_tag_without_a_value_is_left_out_and_a_truth_is_a_word():
    tags = tag_texts({"a": None, "b": True, "c": False, "d": 0, "e": ""})
    assert tags == {"heldout.b": "yes", "heldout.c": "no", "heldout.d": "0", "heldout.e": ""}


def _documented(module) -> set[str]:
    """The file names that a module's own text gives."""
    return set(re.findall(r"`([\w/]+\.\w+)`", module.__doc__))
