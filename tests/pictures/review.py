"""The pictures of `docs/reviewing.md`, taken from a real run in the real MLflow UI.

    python -m tests.pictures.review RUN [--out docs/pictures]

Needs Chromium and the Python package playwright. The run is synced to a store of its own, so that
nothing else is in the picture.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from heldout.experiments.report import write_lineage, write_report
from heldout.experiments.tracking import OpenUi, open_ui
from heldout.gepa.record.run import load_run

WIDTH, HEIGHT = 1400, 800
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
NO_ASSISTANT = """try {
  localStorage.setItem("mlflow.assistant.panelOpen_v1", "false");
  localStorage.setItem("mlflow.assistant.fab.autoOpenedOnFirstLoad_v1", "true");
} catch (error) { }"""
PATIENCE_S = 120.0


def take_pictures(run_dir: Path, out: Path) -> None:
    """Write every picture of the walk-through to `out`."""
    from playwright.sync_api import sync_playwright

    out.mkdir(parents=True, exist_ok=True)
    with _served(run_dir) as opened, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=ARGUMENTS
        )
        context = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light"
        )
        context.add_init_script(NO_ASSISTANT)
        page = context.new_page()
        page.set_default_timeout(1000 * PATIENCE_S)
        _mlflow_pictures(page, opened, out)
        _page_pictures(page, run_dir, out)
        browser.close()


def _mlflow_pictures(page: Any, opened: OpenUi, out: Path) -> None:
    """The saved view with its rows open, a candidate's page, the lineage, the verdict."""
    page.goto(opened.url)
    page.locator("[row-id] [col-id='attributes.`Run Name`'] button").first.click()
    page.wait_for_function(
        "document.querySelectorAll('.ag-center-cols-container [row-id]').length > 5"
    )
    page.wait_for_timeout(1000)
    _widen(page)
    page.wait_for_timeout(1000)
    page.screenshot(path=out / "mlflow_runs.png")
    page.get_by_role("link", name="winner").first.click()
    page.get_by_role("tab", name="Artifacts").click()
    page.get_by_test_id("artifact-tree-node").filter(has_text="candidate.html").click()
    page.frame_locator("iframe.mlflow-html-iframe").locator("h1").wait_for()
    page.wait_for_timeout(500)
    page.screenshot(path=out / "mlflow_candidate.png")
    page.goto("about:blank")
    page.goto(opened.run_url)
    page.get_by_role("tab", name="Artifacts").wait_for()
    page.wait_for_timeout(1500)
    page.screenshot(path=out / "mlflow_verdict.png")


def _widen(page: Any) -> None:
    """Let the name column be as wide as its names: a double click on its edge."""
    page.locator(
        ".ag-header-cell[col-id='attributes.`Run Name`'] .ag-header-cell-resize"
    ).dblclick()


def _page_pictures(page: Any, run_dir: Path, out: Path) -> None:
    """The lineage page, and the report from its verdict to its first figure."""
    page.set_viewport_size({"width": 1100, "height": 900})
    page.goto(write_lineage(run_dir).resolve().as_uri())
    page.screenshot(path=out / "lineage.png")
    page.goto(write_report(run_dir).resolve().as_uri())
    page.screenshot(path=out / "report.png")
    figure = page.locator("figure").nth(0)
    figure.scroll_into_view_if_needed()
    figure.screenshot(path=out / "report_figure.png")


@contextmanager
def _served(run_dir: Path) -> Iterator[OpenUi]:
    """The run in a store of its own behind a server."""
    with tempfile.TemporaryDirectory(prefix="heldout-") as folder:
        uri = f"sqlite:///{folder}/mlflow.db"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = int(probe.getsockname()[1])
        opened = open_ui(run_dir, port, uri)
        assert opened.command is not None  # a database needs a server
        process = subprocess.Popen(
            opened.command,
            env={**os.environ, **opened.environment},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _until_it_answers(f"http://127.0.0.1:{port}/health")
            yield opened
        finally:
            process.terminate()
            process.wait()


def _until_it_answers(address: str) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        try:
            with urllib.request.urlopen(address, timeout=2):
                return
        except OSError:
            time.sleep(0.2)
    raise SystemExit("the server did not start")


def main() -> None:
    """Take the pictures of one run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("--out", type=Path, default=Path("docs/pictures"))
    arguments = parser.parse_args()
    load_run(arguments.run)  # a folder that holds no run is refused before anything is started
    take_pictures(arguments.run, arguments.out)


if __name__ == "__main__":
    main()
