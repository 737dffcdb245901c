"""A real Jupyter kernel: cells run in it, interrupted where asked, and what they show."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_client.manager import KernelManager

PATIENCE_S = 120


@dataclass
class Shown:
    """What a cell left: text it printed, lines it displayed and updated, its value in HTML."""

    text: str = ""
    displayed: list[str] = field(default_factory=list)
    html: str = ""


class Kernel:
    """A kernel in `folder`; use as a context manager."""

    def __init__(self, folder: Path) -> None:
        self._manager = KernelManager(kernel_name="python3")
        self._folder = folder

    def __enter__(self) -> Kernel:
        self._manager.start_kernel(cwd=str(self._folder))
        self._client = self._manager.client()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=PATIENCE_S)
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._client.stop_channels()
        self._manager.shutdown_kernel(now=True)
        self._manager.cleanup_resources()

    def run(self, code: str, interrupt_at: str | None = None) -> Shown:
        """Run a cell; interrupt the kernel once, when it has printed `interrupt_at`."""
        asked = self._client.execute(code)
        shown, until = Shown(), time.monotonic() + PATIENCE_S
        while time.monotonic() < until:
            message = self._client.get_iopub_msg(timeout=PATIENCE_S)
            if message["parent_header"].get("msg_id") != asked:
                continue
            if _take(shown, message["msg_type"], message["content"]):
                return shown
            if interrupt_at is not None and interrupt_at in shown.text:
                interrupt_at = None
                self._manager.interrupt_kernel()
        raise TimeoutError(f"the cell did not end: {shown}")


def _take(shown: Shown, kind: str, content: dict[str, Any]) -> bool:
    """Take a message in; True for the one that ends a cell. Raises RuntimeError for its error."""
    match kind:
        case "stream":
            shown.text += content["text"]
        case "display_data" | "update_display_data":
            shown.displayed.append(content["data"]["text/plain"])
        case "execute_result":
            shown.html = content["data"].get("text/html", "")
        case "error":
            raise RuntimeError("\n".join(content["traceback"]))
    return kind == "status" and content["execution_state"] == "idle"
