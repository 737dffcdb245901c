"""A run in words: commands that can be typed as they stand."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from heldout.experiments.campaigns.ending import program, typed


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


@pytest.mark.parametrize("name", ["run", "my run", "it's", 'a "b"', "$HOME", "-x", "a;b", "naïve"])
def test_printed_commands_can_be_typed_as_they_stand(name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    *before, command, path = shlex.split(typed("resume", tmp_path / name))
    assert (command, path) == ("resume", name)
    assert shlex.join(before) == program()
