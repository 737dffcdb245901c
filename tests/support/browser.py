"""A headless Chromium for tests, and where their screenshots go."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

SCREENSHOTS = Path(os.environ.get("HELDOUT_SCREENSHOTS", "build/screenshots"))
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
# MLflow opens its assistant over the page once; inside sandboxed frames there is no storage.
NO_ASSISTANT = """try {
  localStorage.setItem("mlflow.assistant.panelOpen_v1", "false");
  localStorage.setItem("mlflow.assistant.fab.autoOpenedOnFirstLoad_v1", "true");
} catch (error) { }"""
PATIENCE_MS = 60_000


def chromium_path() -> str:
    """Chromium's program; skips the test, saying so, where there is none."""
    pytest.importorskip("playwright", reason="the Python package playwright is not installed")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if path is None:
        pytest.skip("Chromium is not installed (apt-get install chromium)")
    return path


@contextmanager
def launched() -> Iterator[Any]:
    """A browser; to be closed before any test that runs an event loop of its own."""
    path = chromium_path()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(
    browser: Any, *, scheme: str = "light", width: int = 1300, height: int = 900
) -> Iterator[Any]:
    """A page without history; what its scripts throw is collected in `page.faults`."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    context.add_init_script(NO_ASSISTANT)
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.faults = []
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("dialog", lambda dialog: page.faults.append(f"dialog {dialog.message}"))
    try:
        yield page
    finally:
        context.close()


def shoot(page: Any, name: str, **options: Any) -> None:
    """Keep a screenshot as a build artifact."""
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=SCREENSHOTS / f"{name}.png", **options)
