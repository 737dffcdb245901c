import os
import threading

import pytest

from heldout.splits.errors import BadInput
from heldout.splits.private_files import SETTING, private_files


def current_mask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def mode(path) -> int:
    return path.stat().st_mode & 0o777


def made(folder, name):
    (folder / name).mkdir()
    (folder / f"{name}.txt").write_text("x")
    return mode(folder / name), mode(folder / f"{name}.txt")


def test_what_is_made_is_the_owners_alone_and_the_mask_comes_back(tmp_path, monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)
    before = current_mask()
    with private_files():
        assert made(tmp_path, "a") == (0o700, 0o600)
    assert current_mask() == before


@pytest.mark.parametrize(
    ("mask", "modes"),
    [
        ("007", (0o770, 0o660)),
        ("022", (0o755, 0o644)),
        ("27", (0o750, 0o640)),
        ("", (0o700, 0o600)),
    ],
)
def test_a_shared_folder_is_asked_for(mask, modes, tmp_path, monkeypatch):
    monkeypatch.setenv(SETTING, mask)
    with private_files():
        assert made(tmp_path, "a") == modes


@pytest.mark.parametrize("mask", ["rw", "777", "0o7", "-1", "099", "100"])
def test_a_mask_that_is_none_is_a_fault_that_names_the_setting(mask, monkeypatch):
    monkeypatch.setenv(SETTING, mask)
    with pytest.raises(BadInput, match=SETTING), private_files():
        raise AssertionError("not reached")


def test_two_threads_that_end_in_another_order_leave_the_mask_as_it_was(tmp_path, monkeypatch):
    monkeypatch.delenv(SETTING, raising=False)
    before, inside, leave = current_mask(), threading.Event(), threading.Event()

    def work():
        with private_files():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=work)
    with private_files():
        thread.start()
        inside.wait(10)
    assert made(tmp_path, "a") == (0o700, 0o600)  # the other one is still at work
    leave.set()
    thread.join()
    assert current_mask() == before
