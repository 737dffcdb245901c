"""Files of a run: whole or not at all, and a full disk is a stop."""

from __future__ import annotations

from pathlib import Path

import pytest

from heldout.gepa.record.files import write_whole
from heldout.splits.errors import StoreUnavailable


def test_a_file_is_replaced_whole_and_nothing_is_left_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "gate.json"
    write_whole(path, "old")
    write_whole(path, "new ü\n")
    assert path.read_bytes() == "new ü\n".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["gate.json"]


def test_a_place_that_takes_nothing_is_a_resumable_stop(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable) as caught:
        write_whole(tmp_path / "absent" / "gate.json", "x")
    assert caught.value.exit_status == 3
