"""The command line. Each command imports what it needs when it runs, so that help is instant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heldout.experiments.cli import judges as cli_judges
from heldout.experiments.cli import practice as cli_practice
from heldout.experiments.cli import runs as cli_runs
from heldout.experiments.cli import store as cli_store
from heldout.experiments.cli.entry import (
    JsonFlag,
    RunArgument,
    SetOption,
    guarded,
    show,
    version_option,
)
from heldout.experiments.runs.terminal import take_any_letter

app = typer.Typer(
    name="heldout",
    help=(
        "Evolve the one instruction block of an LLM judge, and ship the result only when data "
        "the search never saw agrees.\n\nStart with: heldout run configs/quickstart.yaml"
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def _root(version: Annotated[bool, version_option()] = False) -> None:
    """Options of the program itself."""


@app.command()
def run(
    configs: Annotated[list[Path], typer.Argument(metavar="CONFIG", help="Campaign files (YAML).")],
    run_dir: Annotated[
        Path | None,
        typer.Option(help="Where to write the run; by default runs/<name>-<UTC time>."),
    ] = None,
    settings: SetOption = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything, print the plan, write nothing.")
    ] = False,
    acknowledge_reuse: Annotated[
        bool,
        typer.Option(
            "--acknowledge-reuse",
            help="Go on although the planned looks are used up; exploratory, never emits.",
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Run a campaign from data to a held-out decision.

    Ctrl-C once, or `touch RUN/gepa.stop`, stops after the calls in flight and leaves a run that
    `heldout resume RUN` continues. Exit status: 0 finished, whatever the gate said; 2 bad input;
    3 stopped by a cap or a person; 4 infrastructure failed again and again.
    """
    with guarded():
        from heldout.experiments.campaigns.commands import run_campaigns  # noqa: PLC0415

        status = run_campaigns(
            configs,
            run_dir=run_dir,
            settings=settings or [],
            dry_run=dry_run,
            acknowledge_reuse=acknowledge_reuse,
            as_json=as_json,
        )
    raise typer.Exit(status)


@app.command()
def doctor(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A campaign file (YAML).")],
    run_dir: Annotated[
        Path | None, typer.Option(help="Where the run would be written; by default as in `run`.")
    ] = None,
    settings: SetOption = None,
    ping: Annotated[
        bool,
        typer.Option("--ping", help="Send one call to each model and say what came back."),
    ] = False,
    acknowledge_reuse: Annotated[
        bool,
        typer.Option("--acknowledge-reuse", help="As in `run`: looks beyond the plan."),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Examine a configuration: everything a start checks, one by one, with what mends it.

    Keys, prices, efforts, data files, partition, looks left, caps, folders, the call store: `ok`,
    `fault` or `waits` for a fault above. Nothing is written. `--ping` is the one thing that sends
    something: one short call a model, with its latency, tokens, the name it was served under and
    why it ended. Exit status: 0 everything is well; 2 something is not.
    """
    with guarded():
        from heldout.experiments.campaigns.doctor import doctor as examined  # noqa: PLC0415

        found = examined(
            config,
            settings or [],
            run_dir=run_dir,
            acknowledge_reuse=acknowledge_reuse,
            ping=ping,
        )
        show(found.to_json() if as_json else found.text)
    raise typer.Exit(found.exit_status)


@app.command()
def resume(
    run: RunArgument,
    notes: Annotated[
        list[str] | None, typer.Argument(metavar="[NOTE]…", help="More notes to leave out.")
    ] = None,
    settings: SetOption = None,
    leave_out: Annotated[
        list[str] | None,
        typer.Option(
            "--leave-out",
            metavar="NOTE",
            help="Go on although this note, which the stop named, is not answered; repeatable.",
        ),
    ] = None,
    acknowledge_reuse: Annotated[
        bool,
        typer.Option(
            "--acknowledge-reuse",
            help="Go on although other runs used up the planned looks; exploratory, never emits.",
        ),
    ] = False,
    as_json: JsonFlag = False,
) -> None:
    """Continue a stopped or killed run; on a finished one this changes nothing.

    `--set budget.calls=…` (usd, tokens, wall_s) may raise a hard cap; nothing else can change.
    `--leave-out NOTE [NOTE…]` goes on without notes that are never answered, at most 2% of a split.
    """
    with guarded():
        from heldout.experiments.campaigns.commands import resume_campaign  # noqa: PLC0415
        from heldout.splits.errors import BadInput  # noqa: PLC0415

        if notes and not leave_out:
            raise BadInput.one("resume", f"what is {notes[0]} for? notes stand after --leave-out")
        status = resume_campaign(
            run,
            settings or [],
            leave_out=[*(leave_out or []), *(notes or [])],
            acknowledge_reuse=acknowledge_reuse,
            as_json=as_json,
        )
    raise typer.Exit(status)


@app.command()
def status(run: RunArgument, as_json: JsonFlag = False) -> None:
    """Show where a run stands, from its journal alone."""
    with guarded():
        from heldout.experiments.campaigns.commands import show_status  # noqa: PLC0415

        show_status(run, as_json=as_json)


@app.command()
def verify(run: RunArgument, as_json: JsonFlag = False) -> None:
    """Check a run: hash chain, stored calls, looks, emitted files. Status 1 names the first fault.

    Nothing is written.
    """
    with guarded():
        from heldout.experiments.campaigns.verify import verify_run  # noqa: PLC0415

        found = verify_run(run)
        show(found.to_json() if as_json else found.text)
    raise typer.Exit(found.exit_status)


@app.command()
def split(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A campaign file (YAML).")],
    out: Annotated[Path, typer.Option("--out", help="The manifest to write.")],
    settings: SetOption = None,
    as_json: JsonFlag = False,
) -> None:
    """Draw and freeze the partition of a configuration's benchmark, without running anything."""
    with guarded():
        from heldout.experiments.campaigns.commands import freeze_split  # noqa: PLC0415

        show(freeze_split(config, out, settings or [], as_json=as_json))


@app.command()
def looks(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="MANIFEST|RUN", help="A partition manifest, a run, or a folder of a family."
        ),
    ],
    as_json: JsonFlag = False,
) -> None:
    """List every look at a held-out set: by whom, for what, with what result."""
    with guarded():
        from heldout.experiments.campaigns.look_table import look_table  # noqa: PLC0415
        from heldout.gepa.record.codec import plain  # noqa: PLC0415

        found = look_table(source)
        show(plain(found) if as_json else str(found))


@app.command()
def parts(as_json: JsonFlag = False) -> None:
    """List the built-in parts: judge designs, objectives, acceptance and gate rules, and others.

    Every key listed also takes `package.module:Name`, found beside the campaign file or installed.
    """
    with guarded():
        from heldout.experiments.campaigns.parts import part_kinds  # noqa: PLC0415

        kinds = part_kinds()
        lines = [
            line
            for kind in kinds
            for line in (
                f"{kind.key}:",
                *(f"  {name:<24} {told}" for name, told in kind.names.items()),
            )
        ]
        show({kind.key: dict(kind.names) for kind in kinds} if as_json else "\n".join(lines))


@app.command()
def synth(
    consultations: Annotated[int, typer.Option(min=1, help="How many consultations to make.")],
    seed: Annotated[int, typer.Option(help="Seed of the draw.")],
    out: Annotated[Path, typer.Option("--out", help="Pairs file (.jsonl or .jsonl.gz) to write.")],
    as_json: JsonFlag = False,
) -> None:
    """Make a synthetic benchmark; consultations are written beside the pairs."""
    with guarded():
        from heldout.experiments.campaigns.commands import make_synthetic  # noqa: PLC0415

        show(make_synthetic(consultations, seed, out, as_json=as_json))


app.add_typer(cli_runs.app)
app.add_typer(cli_judges.app)
app.add_typer(cli_practice.app)
app.add_typer(cli_store.app, name="store")


def main() -> None:
    """Entry point of the `heldout` command."""
    take_any_letter()
    app()


if __name__ == "__main__":
    main()
