"""A run in words: commands that can be typed as they stand."""

from __future__ import annotations

import sys
from pathlib import Path

from heldout.experiments.campaigns.ending import program


def test_the_program_is_named_so_that_it_can_be_typed(tmp_path, monkeypatch) -> None:
    on_path = tmp_path / "heldout"
    on_path.write_text("#!/bin/sh\n")
    on_path.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program() == "heldout"
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    beside = Path(sys.executable).with_name("heldout")
    assert program().split(" -m ")[0].endswith(("heldout", Path(sys.executable).name))
    assert beside.exists() == program().endswith("/heldout")
