"""A real MLflow server: the same content as SQLite, a reviewer's way through it, a sudden end."""

from __future__ import annotations

import time

import pytest
from tests.support.browser import launched, opened, shoot
from tests.support.made_runs import Plan, make_run
from tests.support.servers import free_port, kill, serving
from tests.support.stores import Store

from heldout.experiments.tracking import TrackingSettings, TrackingWriter, open_ui, sync
from heldout.experiments.tracking.ui import SERVER_ENVIRONMENT, server_command
from heldout.gepa.record.journal import read_journal
from heldout.gepa.record.run import load_run

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def server(empty_database, tmp_path_factory):
    """A server on a store of its own."""
    folder = tmp_path_factory.mktemp("server")
    database = folder / "mlflow.db"
    database.write_bytes(empty_database.read_bytes())
    port = free_port()
    command = server_command(f"sqlite:///{database}", port)
    with serving(command, SERVER_ENVIRONMENT, port, folder):
        yield Store(f"http://127.0.0.1:{port}", database=database)
    left = {path.name for path in folder.iterdir()} - {"mlflow.db", "artifacts", "server.log"}
    assert left == set(), "the server leaves nothing else in its working folder"


@pytest.fixture(scope="module")
def reviewed(server, emitted):
    """The emitted run on the server, and how to open it."""
    return open_ui(emitted, tracking_uri=server.uri)


def test_a_remote_server_gets_the_same_content(reviewed, server, synced, emitted):
    _, local = synced
    assert server.content() == local.content()
    assert sync(emitted, server.uri).counts.changes == 0


def test_the_address_of_the_saved_view_is_the_same_from_everywhere(reviewed, server, emitted):
    assert reviewed.command is None
    assert reviewed.url == sync(emitted, server.uri).url
    assert reviewed.url.startswith(f"{server.uri}/#/experiments/")


def test_a_reviewer_goes_from_the_view_to_a_candidate_the_lineage_and_the_decision(
    reviewed, server, emitted
):
    runs = server.runs
    parent, winner = runs["campaign"].info.run_id, load_run(emitted).winner.id
    with launched() as browser, opened(browser, width=1500, height=950) as page:
        page.goto(reviewed.url)
        _expand(page, parent, len(runs))
        columns = page.locator(".ag-header-cell").evaluate_all(
            "all => all.map(c => c.getAttribute('col-id'))"
        )
        assert "metrics.`accept/paired_omissions`" in columns
        assert "tags.`heldout.status`" in columns
        shoot(page, "mlflow_runs")
        page.get_by_role("link", name="winner").first.click()
        page.get_by_role("tab", name="Artifacts").click()
        page.get_by_test_id("artifact-tree-node").filter(has_text="candidate.html").click()
        frame = page.frame_locator("iframe.mlflow-html-iframe")
        assert frame.locator("h1").inner_text().startswith(f"{winner} ")
        assert frame.locator("ins").count() > 0
        shoot(page, "mlflow_candidate")
        frame = _artifact(page, reviewed.run_url, "lineage.html")
        assert frame.locator("#selected").inner_text().startswith(winner)
        frame.locator('#graph .node[data-id="c03"]').click()
        assert frame.locator("#selected").inner_text().startswith("c03 ")
        frame.locator("body").press("Home")
        assert frame.locator("#selected").inner_text().startswith("c00 ")
        shoot(page, "mlflow_lineage")
        frame = _artifact(page, reviewed.run_url, "report.html")
        assert frame.locator("#decision").get_attribute("data-decision") == "emitted"
        page.goto("about:blank")
        page.goto(reviewed.run_url)
        page.get_by_text("Emitted: ").first.wait_for()
        shoot(page, "mlflow_decision")


def _expand(page, parent: str, rows: int) -> None:
    """Open the parent's row; the table then holds a row a candidate."""
    page.locator(f'[row-id="{parent}"] [col-id="attributes.`Run Name`"] button').click()
    page.wait_for_function(
        "n => document.querySelectorAll('.ag-center-cols-container [row-id]').length >= n", arg=rows
    )


def _artifact(page, run_url: str, name: str):
    """The frame in which MLflow shows an HTML artifact, by deep link."""
    page.goto("about:blank")
    page.goto(f"{run_url}/artifacts/{name}")
    return page.frame_locator("iframe.mlflow-html-iframe")


def test_a_server_killed_in_mid_run_costs_seconds_and_a_sync_makes_up(
    empty_database, emitted, tmp_path, store
):
    database = tmp_path / "mlflow.db"
    database.write_bytes(empty_database.read_bytes())
    port = free_port()
    command = server_command(f"sqlite:///{database}", port)
    run = make_run(tmp_path / "run", Plan(iterations=6))
    events = read_journal(run / "journal.jsonl")
    with serving(command, SERVER_ENVIRONMENT, port, tmp_path) as process:
        address = f"http://127.0.0.1:{port}"
        writer = TrackingWriter(run, TrackingSettings(address, text="full"))
        for event in events[: len(events) // 2]:
            writer.observe(event, False)
        _until(lambda: len(_runs(address)) > 2)
        kill(process)
        started = time.monotonic()
        for event in events[len(events) // 2 :]:
            writer.observe(event, False)
        writer.close()
        assert time.monotonic() - started < 10
        assert writer.failure is not None
    with serving(command, SERVER_ENVIRONMENT, port, tmp_path):
        counts = sync(run, address).counts
        assert counts.runs_created > 0
        sync(run, store.uri)
        assert Store(address, database=database).content() == store.content()


def _runs(address: str) -> dict:
    reader = Store(address)
    known = reader.client.get_experiment_by_name("heldout")
    return {} if known is None else reader.runs


def _until(condition, patience_s: float = 60.0) -> None:
    deadline = time.monotonic() + patience_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.2)
