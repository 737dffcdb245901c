"""`heldout gate RUN --rule <its own>` against the run's decision, for shipped simulated campaigns.

`python -m tests.benchmarks.own_rule` runs each at its full size, some minutes in all, and prints
what was decided, whether deciding again says the same, and whether the winner is usable as a flag.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import yaml

from heldout.experiments.campaigns.redecide import redecide
from heldout.experiments.campaigns.running import prepare, start
from heldout.experiments.campaigns.session import RunOptions

CONFIGS = Path(__file__).parents[2] / "configs"


def simulated() -> list[str]:
    """Shipped campaigns that need neither data nor a model from outside."""
    found = []
    for path in sorted(CONFIGS.rglob("*.yaml")):
        tree = yaml.safe_load(path.read_text(encoding="utf-8"))
        made = isinstance(tree, dict) and "synthetic" in (tree.get("benchmark") or {})
        if made and str(tree["student"]["model"]).startswith("sim/"):
            found.append(str(path.relative_to(CONFIGS)))
    return found


def compared(name: str, folder: Path) -> str:
    """One campaign at its full size, decided and decided again."""
    options = RunOptions(quiet=True)
    ended = start(
        prepare(CONFIGS / name, ("tracking.enabled=false",), folder, options), folder, options
    )
    gate = ended.run.gate
    assert gate is not None
    again = "no look, nothing to decide again"
    if gate.heldout is not None:
        found = redecide(folder, gate.rule)
        same = all(found[key] == getattr(gate, key) for key in ("decision", "reason", "sentence"))
        again = "the same again" if same else f"DIFFERS: {found['sentence']}"
    flag = "" if gate.usable is None else f"; {gate.usable.sentence}"
    return f"{name}: {ended.run.sentence}: {again}{flag}"


def main() -> None:
    """Print a line a campaign."""
    for name in simulated():
        with tempfile.TemporaryDirectory() as folder:
            print(compared(name, Path(folder) / "run"), flush=True)


if __name__ == "__main__":
    main()
