"""How a person stops long work: the first signal asks, the second is the default again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from heldout.experiments.runs.stopping import stop_requests


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
