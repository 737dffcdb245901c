"""What every command shares: faults become lines and an exit status, never a traceback."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from heldout.experiments.runs.terminal import note, show
from heldout.splits.errors import HeldoutError, InfrastructureFailure, UserFault
from heldout.splits.private_files import private_files

__all__ = [
    "Concurrency",
    "JsonFlag",
    "RunArgument",
    "SetOption",
    "Ticker",
    "Transcript",
    "end_unanswered",
    "guarded",
    "note",
    "show",
    "version_option",
]

MOST_LINES = 40
"""Faults printed one by one; a wrong file can have thousands of the same."""

EVERY_S = 5.0
"""How often progress is told on standard error."""

JsonFlag = Annotated[
    bool, typer.Option("--json", help="Print JSON on standard output and nothing else.")
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="Change a configuration value; repeatable."),
]
Concurrency = Annotated[int, typer.Option(min=1, max=512)]
Transcript = Annotated[
    Literal["present", "absent"], typer.Option(help="Whether the notes have transcripts.")
]
RunArgument = Annotated[Path, typer.Argument(metavar="RUN", help="A run directory.")]


def end_unanswered(unanswered: Mapping[str, str]) -> None:
    """End with status 4 where some notes got no reply: what there is, is written and printed.

    Raises typer.Exit.
    """
    if unanswered:
        raise typer.Exit(InfrastructureFailure.exit_status)


@dataclass
class Ticker:
    """Progress on standard error, now and then."""

    told_at: float = -EVERY_S

    def tell(self, line: str) -> None:
        """Print `line` unless another one was printed a moment ago."""
        if time.monotonic() - self.told_at >= EVERY_S:
            self.now(line)

    def now(self, line: str) -> None:
        """Print `line`."""
        self.told_at = time.monotonic()
        note(line)


@contextmanager
def guarded() -> Iterator[None]:
    """Print what a person can act on, one line a fault on standard error, and end.

    Raises typer.Exit with the error's exit status.
    """
    try:
        with private_files():
            yield
    except UserFault as fault:
        for line in fault.lines[:MOST_LINES]:
            note(line)
        if len(fault.lines) > MOST_LINES:
            note(f"… and {len(fault.lines) - MOST_LINES} more faults")
        raise typer.Exit(fault.exit_status) from None
    except HeldoutError as error:
        note(error)
        raise typer.Exit(error.exit_status) from None
    except BrokenPipeError:
        # Whoever read our output has gone (`heldout looks … | head`); not a fault.
        sys.stderr.close()
        raise typer.Exit(0) from None
    except OSError as error:
        # A path that no system call takes, such as a name of 300 letters.
        note(f"{error.filename or 'output'}: {error.strerror}")
        raise typer.Exit(2) from None


def version_option() -> Any:
    """`--version`."""

    def show(wanted: bool) -> None:
        if wanted:
            from importlib.metadata import version  # noqa: PLC0415

            typer.echo(f"heldout {version('heldout')}")
            raise typer.Exit

    return typer.Option("--version", callback=show, is_eager=True, help="Show the version.")
