"""Commands on a run that exists: report, lineage, sync, ui, gate, optimism."""

from __future__ import annotations

from typing import Annotated

import typer

from heldout.experiments.cli.entry import JsonFlag, RunArgument, guarded, note, show

app = typer.Typer()


@app.command()
def report(run: RunArgument) -> None:
    """Write report.html, report.md and lineage.html from the journal, and say where they are.

    Of the folder of a family: family.html and family.md, the joint page.
    """
    with guarded():
        from heldout.experiments.report.family_page import write_family  # noqa: PLC0415
        from heldout.experiments.report.pages import (  # noqa: PLC0415
            note_pages,
            write_lineage,
            write_report,
        )
        from heldout.experiments.runs.run_directory import (  # noqa: PLC0415
            FAMILY_FILE,
            working_in,
        )
        from heldout.splits.errors import BadInput, StoreUnavailable  # noqa: PLC0415

        if (run / FAMILY_FILE).is_file():
            page = write_family(run)
            show(f"{page}\n{page.with_suffix('.md')}")
            return
        page, lineage_page = write_report(run), write_lineage(run)
        try:
            with working_in(run):
                note_pages(run)
        except (BadInput, StoreUnavailable) as error:
            note(f"the journal does not note these pages: {error}")
        show(f"{page}\n{page.with_suffix('.md')}\n{lineage_page}")


@app.command()
def lineage(
    run: RunArgument,
    entered: Annotated[bool, typer.Option("--entered", help="Leave out rejected ones.")] = False,
) -> None:
    """Show the family tree of candidates in the terminal."""
    with guarded():
        from heldout.experiments.report.lineage_tree import lineage_view  # noqa: PLC0415

        show(lineage_view(run, rejected=not entered))


@app.command()
def sync(
    run: RunArgument,
    tracking_uri: Annotated[
        str | None, typer.Option(help="Another MLflow store or server than the run's own.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Bring MLflow in step with the run's journal; doing it again changes nothing."""
    with guarded():
        from dataclasses import asdict  # noqa: PLC0415

        from heldout.experiments.campaigns.ending import typed  # noqa: PLC0415
        from heldout.experiments.tracking import sync as synchronise  # noqa: PLC0415

        done = asdict(synchronise(run, tracking_uri))
        words = [f"{count} {name.replace('_', ' ')}" for name, count in done["counts"].items()]
        place = done["url"] or f"open it with: {typed('ui', run)}"
        show(done if as_json else f"written: {', '.join(words)}\n{place}")


@app.command()
def ui(
    run: RunArgument,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port of the local server.")] = 5000,
    tracking_uri: Annotated[str | None, typer.Option(help="Another store or server.")] = None,
) -> None:
    """Open MLflow on the run: start a local server on its store and print the page's address."""
    with guarded():
        import os  # noqa: PLC0415
        import subprocess  # noqa: PLC0415

        from heldout.experiments.tracking import open_ui  # noqa: PLC0415

        opened = open_ui(run, port, tracking_uri)
        show(f"candidates of this run: {opened.url}\nthe run itself:         {opened.run_url}")
        if opened.command is not None:
            show("the server needs about 12 seconds to start; Ctrl-C stops it")
            environment = {**os.environ, **opened.environment}
            status = subprocess.run(opened.command, env=environment, check=False).returncode
            raise typer.Exit(0 if status in (0, -2, 130) else status)


@app.command()
def gate(
    run: RunArgument,
    rule: Annotated[
        str,
        typer.Option(
            help="studentised, interval, bootstrap, permutation, point, or package.module:Name."
        ),
    ],
    as_json: JsonFlag = False,
) -> None:
    """Decide a finished run again under another rule, from its stored scores. Never emits."""
    with guarded():
        from heldout.experiments.campaigns.redecide import redecide  # noqa: PLC0415

        found = redecide(run, rule)
        show(found if as_json else "\n".join(found["sentences"]))


@app.command()
def optimism(
    run: RunArgument,
    searches: Annotated[
        int, typer.Option(min=0, help="Searches on the simulated placebo, 5 to 10 s each.")
    ] = 20,
    as_json: JsonFlag = False,
) -> None:
    """Say how much accept overstated the winner: from choosing it, by placebo, and as seen."""
    with guarded():
        from heldout.experiments.analysis import overstatement  # noqa: PLC0415
        from heldout.gepa.record.codec import plain  # noqa: PLC0415

        report = overstatement.optimism_of(run, searches, note)
        show(plain(report) if as_json else overstatement.optimism_text(report))
