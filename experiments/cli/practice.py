"""Commands for practitioners: rerun, calibrate, apply, export, import."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from heldout.experiments.cli.entry import (
    Concurrency,
    JsonFlag,
    Ticker,
    Transcript,
    end_unanswered,
    guarded,
    show,
)
from heldout.experiments.cli.table_options import (
    Columns,
    Delimiter,
    Encoding,
    Multiline,
    table_options,
)
from heldout.students.calls.retry import CONCURRENCY

app = typer.Typer()

JUDGED = Path("judged")

PromptArgument = Annotated[
    str,
    typer.Argument(
        metavar="PROMPT|RUN[:CANDIDATE]", help="An emitted prompt file, or a candidate of a run."
    ),
]
Model = Annotated[str | None, typer.Option(help="Another model than the block came with.")]
Models = Annotated[Path | None, typer.Option(help="A file of model pins.")]
Temperature = Annotated[float | None, typer.Option(min=0, max=2)]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Cap of one reply.")]
Effort = Annotated[str | None, typer.Option(help="Reasoning effort; - sends none.")]
Samples = Annotated[int | None, typer.Option(min=1, help="Samples that make one judging.")]
Efforts = Annotated[str | None, typer.Option(help="Efforts, separated by commas; - sends none.")]
TokenCaps = Annotated[str | None, typer.Option(help="Caps: one, or one a rung.")]
SampleCounts = Annotated[str | None, typer.Option(help="Samples: one, or one a rung.")]
Control = Annotated[
    str | None, typer.Option(help="The block beside it; by default the run's baseline.")
]
Probe = Annotated[
    bool, typer.Option("--probe", help="Judge the top blocks of a run again at larger budgets.")
]
Seed = Annotated[int | None, typer.Option(help="Seed of the calls; by default the run's, or 11.")]
Usd = Annotated[float | None, typer.Option(help="Most USD to spend in all.")]
WallS = Annotated[float | None, typer.Option(min=0.1, help="Most seconds to take in all.")]
Threshold = Annotated[float | None, typer.Option(help="Flag below this score.")]
Consultations = Annotated[
    Path | None,
    typer.Option(
        "--consultations",
        help="A table or a folder of transcripts (.txt, .vtt, .srt, .json), for notes without one.",
    ),
]
CalibrationFile = Annotated[
    Path | None, typer.Option("--calibration", help="What heldout calibrate wrote.")
]
Unconfirmed = Annotated[
    bool,
    typer.Option("--unconfirmed", help="Take a block that no gate passed; it will say so."),
]


@app.command("rerun")
def rerun_(
    source: PromptArgument,
    effort: Efforts = None,
    max_tokens: TokenCaps = None,
    samples: SampleCounts = None,
    replicates: Annotated[int, typer.Option(min=1, help="Repetitions of the whole.")] = 1,
    on: Annotated[str, typer.Option(help="accept, heldout, or a benchmark file.")] = "accept",
    consultations: Annotated[
        Path | None, typer.Option(help="Consultations file of a benchmark given with --on.")
    ] = None,
    control: Control = None,
    probe: Probe = False,
    out: Annotated[Path | None, typer.Option(help="Where the ladder goes.")] = None,
    acknowledge_reuse: Annotated[
        bool,
        typer.Option("--acknowledge-reuse", help="Go on beyond the planned looks, as exploratory."),
    ] = False,
    model: Model = None,
    models: Models = None,
    temperature: Temperature = None,
    seed: Seed = None,
    concurrency: Concurrency = CONCURRENCY,
    usd: Usd = None,
    wall_s: WallS = None,
    as_json: JsonFlag = False,
) -> None:
    """Re-run a block, unchanged, and its control along a ladder of reasoning budgets.

    On held-out every ladder is a declared family of planned looks.
    """
    with guarded():
        from heldout.experiments.practice import budget_probe, rerun, rungs  # noqa: PLC0415
        from heldout.experiments.practice.loaded_prompt import load_prompt  # noqa: PLC0415
        from heldout.experiments.practice.session import JudgeOptions  # noqa: PLC0415
        from heldout.experiments.runs.stopping import stop_requests  # noqa: PLC0415

        prompt, told = load_prompt(source), Ticker().now
        own = rungs.Rung(prompt.budget, prompt.samples)
        asked = rungs.rungs_asked(own, effort, max_tokens, samples)
        options = JudgeOptions(
            model, models, temperature, seed=seed, concurrency=concurrency, usd=usd, wall_s=wall_s
        )
        with stop_requests() as stop:
            found: budget_probe.ProbeReport | rerun.RerunReport
            if probe:
                found = budget_probe.budget_probe(prompt, asked, options, progress=told, stop=stop)
            else:
                found = rerun.rerun(
                    prompt,
                    asked,
                    rerun.notes_named(on, consultations),
                    options,
                    control=load_prompt(control, "--control") if control else None,
                    replicates=replicates,
                    out=out,
                    acknowledge_reuse=acknowledge_reuse,
                    progress=told,
                    stop=stop,
                )
        show(found.to_json() if as_json else found.text)
    end_unanswered(found.unanswered)


@app.command()
def calibrate(
    source: PromptArgument,
    clean: Annotated[Path, typer.Option(help="Your clean notes: a folder or a table.")],
    errored: Annotated[Path | None, typer.Option(help="Notes with errors, for detection.")] = None,
    later: Annotated[Path | None, typer.Option(help="A later batch, to check for drift.")] = None,
    later_unchecked: Annotated[
        bool, typer.Option("--later-unchecked", help="Nobody checked that batch to be clean.")
    ] = False,
    consultations: Consultations = None,
    transcript: Transcript = "present",
    columns: Columns = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    false_alarms: Annotated[float, typer.Option(help="Largest share of clean notes.")] = 0.05,
    confidence: Annotated[float, typer.Option(help="Of the binomial bound.")] = 0.95,
    method: Annotated[Literal["binomial", "conformal"], typer.Option()] = "binomial",
    out: Annotated[Path, typer.Option(help="Where the calibration goes.")] = JUDGED,
    model: Model = None,
    models: Models = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    effort: Effort = None,
    samples: Samples = None,
    seed: Seed = None,
    concurrency: Concurrency = CONCURRENCY,
    usd: Usd = None,
    wall_s: WallS = None,
    as_json: JsonFlag = False,
) -> None:
    """Set a threshold on your own clean notes, and say what it promises."""
    with guarded():
        from heldout.experiments.practice import calibrate_notes, session  # noqa: PLC0415
        from heldout.experiments.practice.loaded_prompt import load_prompt  # noqa: PLC0415
        from heldout.experiments.practice.note_rows import NoteFile  # noqa: PLC0415
        from heldout.experiments.practice.promises import Promise  # noqa: PLC0415
        from heldout.experiments.runs.stopping import stop_requests  # noqa: PLC0415

        table = table_options(columns, delimiter, encoding, multiline)

        def notes(path: Path) -> NoteFile:
            return NoteFile(path, consultations, transcript == "present", table)

        with stop_requests() as stop:
            report = calibrate_notes.calibrate_command(
                load_prompt(source),
                notes(clean),
                Promise(false_alarms, confidence, method),
                out,
                session.JudgeOptions(
                    model,
                    models,
                    temperature,
                    max_tokens,
                    effort,
                    samples,
                    seed,
                    concurrency,
                    usd,
                    wall_s,
                ),
                errored=None if errored is None else notes(errored),
                later=None if later is None else notes(later),
                later_checked=not later_unchecked,
                progress=Ticker().tell,
                stop=stop,
            )
        show(report.to_json() if as_json else report.text)
    end_unanswered(report.unanswered)


@app.command("apply")
def apply_(
    source: PromptArgument,
    notes: Annotated[Path, typer.Argument(metavar="NOTES", help="A folder or a table of notes.")],
    out: Annotated[Path, typer.Option(help="Where table, page and calls go.")] = JUDGED,
    threshold: Threshold = None,
    calibration: CalibrationFile = None,
    then_effort: Annotated[
        str | None, typer.Option(help="Judge what is flagged once more at this effort, …")
    ] = None,
    then_max_tokens: Annotated[int | None, typer.Option(min=1, help="… and with this cap.")] = None,
    consultations: Consultations = None,
    transcript: Transcript = "present",
    columns: Columns = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    unconfirmed: Unconfirmed = False,
    model: Model = None,
    models: Models = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    effort: Effort = None,
    samples: Samples = None,
    seed: Seed = None,
    concurrency: Concurrency = CONCURRENCY,
    usd: Usd = None,
    wall_s: WallS = None,
    as_json: JsonFlag = False,
) -> None:
    """Judge your notes and list the flags; stopped or killed, the same command goes on."""
    with guarded():
        from heldout.experiments.practice.apply_notes import apply  # noqa: PLC0415
        from heldout.experiments.practice.loaded_prompt import load_prompt  # noqa: PLC0415
        from heldout.experiments.practice.note_rows import NoteFile  # noqa: PLC0415
        from heldout.experiments.practice.session import JudgeOptions, budget_asked  # noqa: PLC0415
        from heldout.experiments.runs.stopping import stop_requests  # noqa: PLC0415

        prompt = load_prompt(source)
        table = table_options(columns, delimiter, encoding, multiline)
        with stop_requests() as stop:
            report = apply(
                prompt,
                NoteFile(notes, consultations, transcript == "present", table),
                out,
                JudgeOptions(
                    model,
                    models,
                    temperature,
                    max_tokens,
                    effort,
                    samples,
                    seed,
                    concurrency,
                    usd,
                    wall_s,
                ),
                threshold=threshold,
                calibration=calibration,
                escalation=budget_asked(prompt, then_effort, then_max_tokens),
                unconfirmed=unconfirmed,
                progress=Ticker().tell,
                stop=stop,
            )
        show(report.to_json() if as_json else report.text)
    end_unanswered(report.counts.unanswered)


@app.command("export")
def export_(
    source: PromptArgument,
    to: Annotated[str, typer.Option(help="dspy, mlflow-judge, inspect, promptfoo or python.")],
    out: Annotated[Path, typer.Option(help="A folder that is absent or empty.")],
    threshold: Threshold = None,
    calibration: CalibrationFile = None,
    unconfirmed: Unconfirmed = False,
    model: Model = None,
    models: Models = None,
    temperature: Temperature = None,
    max_tokens: MaxTokens = None,
    effort: Effort = None,
    samples: Samples = None,
    seed: Seed = None,
    as_json: JsonFlag = False,
) -> None:
    """Write a block as files that run in another stack and give the same scores there."""
    with guarded():
        from heldout.experiments.practice.export import export  # noqa: PLC0415
        from heldout.experiments.practice.loaded_prompt import load_prompt  # noqa: PLC0415
        from heldout.experiments.practice.session import JudgeOptions  # noqa: PLC0415

        report = export(
            load_prompt(source),
            to,
            out,
            JudgeOptions(model, models, temperature, max_tokens, effort, samples, seed),
            threshold=threshold,
            calibration=calibration,
            unconfirmed=unconfirmed,
        )
        show(report.to_json() if as_json else report.text)


@app.command("import")
def import_(
    release: Annotated[
        str,
        typer.Argument(metavar="RELEASE", help="primock57, aci-bench, omissionbench or medec."),
    ],
    path: Annotated[Path, typer.Argument(metavar="PATH", help="Your own copy of it.")],
    out: Annotated[Path, typer.Option(help="The file to write: .csv or .jsonl, or that and .gz.")],
    columns: Columns = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    as_json: JsonFlag = False,
) -> None:
    """Read a public release from your own copy and write a file that loads."""
    with guarded():
        from heldout.experiments.practice.import_release import import_release  # noqa: PLC0415

        table = table_options(columns, delimiter, encoding, multiline)
        report = import_release(release, path, out, table)
        show(report.to_json() if as_json else report.text)
