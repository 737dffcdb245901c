"""`heldout store`: the calls of a run or of a shared store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heldout.experiments.cli.entry import JsonFlag, RunArgument, guarded, show
from heldout.splits.counted import counted

app = typer.Typer(help="List, export, import and check stored model calls.", no_args_is_help=True)

StoreArgument = Annotated[
    str,
    typer.Argument(metavar="STORE", help="A run directory, an SQLite file, or a store's address."),
]
RunIdOption = Annotated[str | None, typer.Option("--run-id", help="Only the calls of this run.")]


@app.command("list")
def list_(
    store: StoreArgument,
    run_id: RunIdOption = None,
    stage: Annotated[str | None, typer.Option(help="Only calls of this stage.")] = None,
    details: Annotated[bool, typer.Option("--details", help="Every call, without texts.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Count the calls of a store by run, stage and model, with tokens and cost."""
    with guarded():
        from heldout.experiments.store.tools import list_calls, source_of  # noqa: PLC0415

        found = list_calls(source_of(store, run_id), stage=stage, details=details)
        show(found.to_json() if as_json else found.text)


@app.command("export")
def export(
    store: StoreArgument,
    out: Annotated[Path, typer.Option("--out", help="The file to write: .jsonl or .jsonl.gz.")],
    run_id: RunIdOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Write calls as JSON lines. Replies may quote notes: treat the file like the notes."""
    with guarded():
        from heldout.experiments.store.tools import export_calls, source_of  # noqa: PLC0415

        found = export_calls(source_of(store, run_id), out)
        show(found if as_json else f"{found['file']}: {counted(found['calls'], 'call')}")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="An export.")],
    url: Annotated[str, typer.Option("--to", help="Address of the store, such as sqlite:///F.")],
    run_id: Annotated[
        str | None, typer.Option("--run-id", help="Book them under this run, as bought before.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Add exported calls to a store; a line that was changed is refused by name."""
    with guarded():
        from heldout.experiments.store.tools import import_calls  # noqa: PLC0415

        found = import_calls(file, url, run_id=run_id)
        words = f"{found['store']}: {found['added']} of {counted(found['calls'], 'call')} new"
        show(found if as_json else words)


@app.command("check")
def check(run: RunArgument, as_json: JsonFlag = False) -> None:
    """Run a campaign again from its stored calls alone and compare every event. Writes nothing.

    Exit status 1 names the first call that is missing or was changed.
    """
    with guarded():
        from heldout.experiments.store.check import check_store  # noqa: PLC0415

        found = check_store(run)
        show(found.to_json() if as_json else found.text)
    raise typer.Exit(found.exit_status)
