"""Whole campaigns over a network that misbehaves, on a small scale; `make soak` does the rest."""

import subprocess
import sys
from dataclasses import replace

import pytest
from tests.soak import networked
from tests.soak.networked import (
    CHILD,
    IN_FLIGHT,
    cap,
    faults,
    kill,
    network,
    odd,
    outage,
    told,
    unharmed,
)
from tests.soak.provider import MISBEHAVING
from tests.support.postgres import postgres

from heldout.splits.errors import CallRefused
from heldout.students.calls import caller

SMALL = ("benchmark.synthetic.consultations=16", "search.iterations=2", "search.stall=2")
pytestmark = [pytest.mark.campaign, pytest.mark.usefixtures("in_checkout")]


@pytest.fixture(scope="module")
def whole(tmp_path_factory, pytestconfig):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(pytestconfig.rootpath)
        return unharmed(tmp_path_factory.mktemp("whole"), SMALL)


@pytest.fixture
def in_checkout(monkeypatch, pytestconfig):
    monkeypatch.chdir(pytestconfig.rootpath)


def as_told(at_server):
    """What a run tells of the faults that a server made, whichever door it uses."""
    return {{"hang": "timeout"}.get(kind, kind): count for kind, count in at_server.items()}


def test_a_campaign_is_the_same_against_a_server_that_misbehaves(tmp_path, whole):
    result = faults(tmp_path, 3, SMALL, whole, rates=replace(MISBEHAVING, odd=0.10))
    assert result["same_lineage"]
    assert sum(result["faults_at_server"].values()) > 10
    assert result["beyond_need"] <= sum(result["faults_at_server"].values())
    assert result["faults_told"] == as_told(result["faults_at_server"])


def test_it_is_the_same_through_litellm_where_a_tenth_of_the_replies_is_odd(
    tmp_path, monkeypatch, whole
):
    monkeypatch.setenv("OPENAI_API_KEY", "none-needed")
    result = odd(tmp_path, 3, SMALL, whole)
    assert result["same_lineage"]
    at_server, told_of = as_told(result["faults_at_server"]), dict(result["faults_told"])
    # LiteLLM's import takes longer than a request may here, so there are timeouts beside.
    assert result["beyond_need"] <= sum(told_of.values())
    told_of.pop("timeout", None)
    assert all(count <= at_server[kind] for kind, count in told_of.items())
    assert len(told_of) > 3


@pytest.mark.parametrize("number", [4])
def test_a_kill_buys_nothing_again_that_was_stored(tmp_path, number, whole):
    result = kill(tmp_path, number, SMALL, whole)
    assert result["same_lineage"]
    assert result["never_sent"] == 0
    assert 0 < result["stored_at_kill"] < whole.asked.total()
    assert result["sent_twice"] <= result["told_maybe_twice"] <= result["in_flight_allowed"]


def test_an_outage_opens_the_breaker_and_scores_nothing(tmp_path, whole):
    result = outage(tmp_path, 1, SMALL, whole)
    assert result["exit_status"] == 4
    assert result["stored_beyond_answered"] == 0
    assert result["same_lineage"]


def test_a_cap_is_kept_under_faults(tmp_path):
    result = cap(tmp_path, 1, SMALL)
    assert result["exit_status"] == 3
    assert result["overshoot"] == 0
    assert result["answered"] > 0


def test_a_rejected_key_ends_in_one_line_and_a_run_that_can_be_resumed(tmp_path, whole):
    with network(tmp_path / "refused", scale=SMALL) as net:
        net.provider.refuse_from = 40
        stopped = net.campaign(tmp_path / "refused")
        assert isinstance(stopped.error, CallRefused)
        assert stopped.exit_status == 4
        assert len(str(stopped.error).splitlines()) == 1
        assert stopped.run.status == "stopped"
        assert stopped.run.finish_reason == "call_refused"
        assert net.provider.faults["auth"] <= IN_FLIGHT
        net.provider.refuse_from = None
        ended = net.campaign(tmp_path / "refused")
        assert told(ended)["lineage_sha256"] == whole.told["lineage_sha256"]


def test_no_key_reaches_anything_that_is_written(tmp_path, monkeypatch, caplog):
    key = "orchid-5521-plain-canary"
    monkeypatch.setenv("PLANTED_API_KEY", key)
    with network(
        tmp_path, MISBEHAVING, scale=(*SMALL, "tracking.enabled=true"), key_env="PLANTED_API_KEY"
    ) as net:
        net.provider.echo_headers = True
        mlflow = f"tracking.uri=sqlite:///{tmp_path}/mlflow.db"
        ended = net.campaign(tmp_path, mlflow)
        assert {h["authorization"] for h in net.provider.headers} == {f"Bearer {key}"}
    assert ended.exit_status == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert {"journal.jsonl", "calls.sqlite", "mlflow.db"} <= {path.name for path in written}
    found = [path for path in written if key.encode() in path.read_bytes()]
    assert found == []
    assert key not in caplog.text


def test_two_campaigns_at_once_on_one_postgresql_buy_each_call_once(tmp_path, whole):
    with postgres() as url, network(tmp_path, scale=SMALL) as net:
        shared = (f"store.url={url}", "store.reuse=read-write")
        command = [sys.executable, "-c", CHILD]
        folders = [tmp_path / name for name in ("one", "two")]
        running = [
            subprocess.Popen([*command, str(folder), *net.settings, *shared]) for folder in folders
        ]
        assert [process.wait(120) for process in running] == [0, 0]
        ends = [told(net.campaign(folder)) for folder in folders]
        assert [end["lineage_sha256"] for end in ends] == [whole.told["lineage_sha256"]] * 2
        # At confirmation each campaign judges winner and baseline afresh, for itself: the words of
        # the baseline are those asked twice by one campaign. Each has its own first calls as well.
        again = 2 * sum(count - 1 for count in whole.asked.values())
        assert set(net.provider.asked) == set(whole.asked)
        beyond = net.provider.asked.total() - whole.asked.total()
        # Whichever comes to its first calls later finds them in the store, where they have landed.
        assert again <= beyond <= again + 2
        assert sum(end["calls"]["answered"] for end in ends) == net.provider.asked.total()


@pytest.mark.parametrize("number", [0, 1])
def test_a_cap_of_seconds_ends_a_campaign_that_a_server_keeps_waiting(
    tmp_path, monkeypatch, number
):
    """429 with Retry-After 30, and silence; the soak has dropped connections and slow replies."""
    monkeypatch.setattr(networked, "WALL_S", 0.5)
    monkeypatch.setattr(caller, "GRACE_S", 0.1)
    result = networked.wall(tmp_path, number, SMALL)
    assert result["exit_status"] == 3
    assert result["resumed_to"] == 0
