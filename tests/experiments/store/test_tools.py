import json
import re
import shutil
import sqlite3

import pytest
from tests.support.calls import reply, spec
from typer.testing import CliRunner

from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions
from heldout.experiments.cli.main import app
from heldout.experiments.store.check import check_store
from heldout.experiments.store.tools import (
    export_calls,
    import_calls,
    list_calls,
    source_of,
)
from heldout.gepa.record.run import Run
from heldout.splits.errors import BadInput, HardCapReached
from heldout.students.calls.store import CallStore

SMALL = (
    "benchmark.synthetic.consultations=16",
    "search.iterations=2",
    "search.stall=2",
    "tracking.enabled=false",
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory, pytestconfig):
    """One run of ranks_only.yaml on a small scale; tests copy it before they harm it."""
    folder = tmp_path_factory.mktemp("finished")
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    return start(
        prepare(config, SMALL, folder / "run"), folder / "run", RunOptions(quiet=True)
    ).files


@pytest.fixture
def run(finished, tmp_path):
    shutil.copytree(finished.path, tmp_path / "run")
    return tmp_path / "run"


def change(run, sql):
    with sqlite3.connect(run / "calls.sqlite") as connection:
        assert connection.execute(sql).rowcount == 1
    connection.close()


def lineage(run):
    return Run.at(run.path).finished.lineage_sha256


def content(run):
    return {p.name: p.read_bytes() for p in run.iterdir() if p.is_file() and "sqlite" not in p.name}


def test_a_whole_store_gives_the_journal_again_and_the_run_is_not_touched(run):
    before = content(run)
    found = check_store(run)
    assert (found.exit_status, found.fault) == (0, None)
    assert found.calls > 50
    assert content(run) == before


def test_a_call_that_is_missing_is_named(run):
    sql = "delete from calls where id = (select min(id) from calls where stage = 'judge')"
    change(run, sql)
    found = check_store(run)
    assert found.exit_status == 1
    assert "no stored call for judge of" in found.fault


def test_a_reply_that_was_changed_shows_in_the_event_that_used_it(run):
    with sqlite3.connect(run / "calls.sqlite") as connection:
        wanted = "select id, text from calls where stage = 'judge' order by id desc limit 1"
        id_, text = connection.execute(wanted).fetchone()
        other = re.sub(r'"score": [\d.]+', '"score": 0.25', text)
        assert other != text
        connection.execute("update calls set text = ? where id = ?", (other, id_))
    connection.close()
    found = check_store(run)
    assert found.exit_status == 1
    assert "differs from what this run computes" in found.fault


def test_a_question_that_was_changed_shows_in_its_key(run):
    change(run, "update calls set temperature = 2 where id = 1")
    found = check_store(run)
    assert found.exit_status == 1
    assert "key does not fit" in found.fault


def test_a_run_that_was_stopped_is_whole_as_far_as_it_got(tmp_path, pytestconfig):
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    probe = prepare(config, SMALL, tmp_path / "run")
    cap = f"budget.calls={2 * probe.confirmation.calls}"
    ended = start(
        prepare(config, [*SMALL, cap], tmp_path / "run"), tmp_path / "run", RunOptions(quiet=True)
    )
    assert isinstance(ended.error, HardCapReached)
    assert check_store(tmp_path / "run").fault is None


def test_listing_counts_by_run_stage_and_model(run):
    found = list_calls(source_of(str(run)), details=True)
    assert {g.stage for g in found.groups} >= {"judge", "reflect"}
    assert sum(g.calls for g in found.groups) == len(found.rows)
    printed = found.to_json()["calls"]
    assert len(printed) == len(found.rows)
    texts = {"text", "reasoning", "raw", "messages"}
    assert all(texts.isdisjoint(call) and "key" in call for call in printed)
    assert "judge · sim/judge" in found.text


def test_an_unknown_price_is_told_as_unknown(tmp_path):
    url = f"sqlite:///{tmp_path}/calls.sqlite"
    store = CallStore(url, "r")
    store.put(spec("a"), reply(usd=None))
    store.put(spec("b"), reply(usd=1.0))
    store.close()
    found = list_calls(source_of(url))
    assert found.groups[0].usd is None
    assert "unknown price" in found.text


def test_exported_calls_replay_under_another_name(run, tmp_path):
    exported = export_calls(source_of(str(run)), tmp_path / "calls.jsonl.gz")
    url = f"sqlite:///{tmp_path}/other.sqlite"
    added = import_calls(tmp_path / "calls.jsonl.gz", url, run_id="another")
    assert added["added"] == exported["calls"]
    store = CallStore(url, "another")
    assert {call.origin for call in store.calls()} == {source_of(str(run)).run_id}
    store.close()
    with pytest.raises(BadInput, match="already exists"):
        export_calls(source_of(str(run)), tmp_path / "calls.jsonl.gz")


def test_a_campaign_replays_from_an_export_without_any_model(finished, run, tmp_path, pytestconfig):
    export_calls(source_of(str(run)), tmp_path / "calls.jsonl")
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    import_calls(tmp_path / "calls.jsonl", url)
    config = pytestconfig.rootpath / "configs" / "ranks_only.yaml"
    settings = (*SMALL, f"store.url={url}", "store.reuse=replay")
    again = tmp_path / "again"
    ended = start(prepare(config, settings, again), again, RunOptions(quiet=True))
    assert lineage(ended.files) == lineage(finished)
    assert ended.error is None


def test_what_is_no_store(tmp_path):
    with pytest.raises(BadInput, match="no run directory"):
        source_of(str(tmp_path / "absent"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match=r"config\.yaml"):
        source_of(str(tmp_path / "empty"))


def heldout(*words):
    return CliRunner().invoke(app, list(map(str, words)))


def test_the_commands(run, tmp_path):
    listed = heldout("store", "list", run, "--json")
    assert listed.exit_code == 0
    count = sum(group["calls"] for group in json.loads(listed.stdout)["groups"])
    out, url = tmp_path / "calls.jsonl.gz", f"sqlite:///{tmp_path}/other.sqlite"
    assert (
        json.loads(heldout("store", "export", run, "--out", out, "--json").stdout)["calls"] == count
    )
    assert f"{count} of {count} calls new" in heldout("store", "import", out, "--to", url).stdout
    assert f"0 of {count} calls new" in heldout("store", "import", out, "--to", url).stdout
    assert f"{count} stored calls for" in heldout("store", "check", run).stdout
    change(run, "delete from calls where id = 1")
    assert heldout("store", "check", run).exit_code == 1
    refused = heldout("store", "list", tmp_path / "absent")
    assert (refused.exit_code, len(refused.stderr.splitlines())) == (2, 1)
