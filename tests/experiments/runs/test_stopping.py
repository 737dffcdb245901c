"""How a person stops long work: the first signal asks, the second is the default again."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from heldout.experiments.runs.stopping import beside_a_running_loop, stop_requests


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_request_and_the_second_is_not_caught(number: int) -> None:
    before = signal.getsignal(number)
    with stop_requests() as asked:
        assert asked() is None
        os.kill(os.getpid(), number)
        assert asked() == signal.Signals(number).name
        assert signal.getsignal(number) == before
    assert signal.getsignal(number) == before


def test_the_stop_file_is_a_request_while_it_is_there(tmp_path: Path) -> None:
    file = tmp_path / "gepa.stop"
    with stop_requests(file) as asked:
        assert asked() is None
        file.touch()
        assert asked() == "gepa.stop"
        file.unlink()
        assert asked() is None


def test_another_thread_handles_no_signal_and_has_the_file(tmp_path: Path) -> None:
    handler, asked = signal.getsignal(signal.SIGINT), []

    def work() -> None:
        with stop_requests(tmp_path / "gepa.stop") as stop:
            asked.append((stop(), signal.getsignal(signal.SIGINT) is handler))
            (tmp_path / "gepa.stop").touch()
            asked.append((stop(), True))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert asked == [(None, True), ("gepa.stop", True)]


def until_stopped() -> tuple[str, str]:
    """Work that ends when it is asked to stop: by what, and in which thread."""
    with stop_requests() as stop:
        while (by := stop()) is None:
            time.sleep(0.01)
        return by, threading.current_thread().name


def interrupt_soon(times: int) -> threading.Thread:
    def send() -> None:
        for _ in range(times):
            time.sleep(0.2)
            os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_beside_a_running_loop_an_interrupt_is_a_request_to_the_thread_that_works() -> None:
    async def cell() -> tuple[str, str]:
        return beside_a_running_loop(until_stopped)

    before = signal.getsignal(signal.SIGINT)
    sending = interrupt_soon(1)
    by, thread = asyncio.run(cell())
    sending.join()
    assert by == "SIGINT"
    assert thread.startswith("heldout")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_beside_a_running_loop_is_not_caught() -> None:
    release = threading.Event()

    async def cell() -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # as a kernel does for a cell
        beside_a_running_loop(release.wait)

    before = signal.getsignal(signal.SIGINT)
    sending = interrupt_soon(2)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(cell())
    finally:
        release.set()
        signal.signal(signal.SIGINT, before)
        sending.join()


def test_without_a_loop_the_work_is_done_where_it_is_asked_for() -> None:
    found = beside_a_running_loop(lambda: threading.current_thread().name)
    assert found == threading.current_thread().name
