"""Draw `docs/run.svg`: a real run of a configuration as it looks in a terminal.

python -m tests.pictures.terminal
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

WIDTH = 118
DECISION = re.compile(r"^(Decision|Accept|Held-out|Prompt|Run|Report|Lineage in MLflow):")


def terminal_lines(config: Path) -> list[str]:
    """What `heldout run` prints for `config`, progress and ending, in the order of printing."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "heldout.experiments.cli.main",
                "run",
                str(config),
                "--run-dir",
                f"{folder}/quickstart",
                "--set",
                "tracking.enabled=false",
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        )
        # The place of a temporary run is nobody's business.
        return done.stdout.replace(f"{folder}/", "runs/").splitlines()


def draw(command: str, lines: list[str], path: Path) -> None:
    """Write the picture."""
    with Path("/dev/null").open("w", encoding="utf-8") as nowhere:
        console = Console(record=True, width=WIDTH, file=nowhere)
        console.print(Text(f"$ {command}", style="bold"))
        for line in lines:
            console.print(_styled(line))
        svg = console.export_svg(title="heldout (simulated models)")
    # Rich's own style sheet asks the network for a font; the reader's fixed-width font will do.
    path.write_text(re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL), encoding="utf-8")


def _styled(line: str) -> Text:
    if line.startswith("Decision:"):
        return Text(line, style="bold green" if "emitted" in line else "bold yellow")
    return Text(line, style="" if DECISION.match(line) else "dim")


def main() -> None:
    """Run the quickstart and draw it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--config", type=Path, default=Path("configs/quickstart.yaml"))
    parser.add_argument("--out", type=Path, default=Path("docs/run.svg"))
    arguments = parser.parse_args()
    draw(f"heldout run {arguments.config}", terminal_lines(arguments.config), arguments.out)
    print(f"wrote {arguments.out}")


if __name__ == "__main__":
    main()
