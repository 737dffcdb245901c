"""Commands on judges and scores: judge, compare, power."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from heldout.experiments.cli.entry import (
    Concurrency,
    JsonFlag,
    Transcript,
    end_unanswered,
    guarded,
    note,
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

DESIGNS = (
    "whole_note, f_yes_no, f_yes_no_8, f_score, f_score_8, fc_yes_no, fc_yes_no_8, fc_score, "
    "fc_score_8, faithfulness, faithfulness_neutral, faithfulness_omissions, engineered, "
    "geval_completeness, geval_consistency, checklist, coverage, per_fact_checker, "
    "three_stage, three_stage_widened, union, fact_list, section_coverage, word_count, "
    "transcript_words, constant, random"
)
"""Written out, so that help need not import the designs; a test holds them to the roster."""

Pairs = Annotated[Path, typer.Option("--benchmark", help="Pairs file of the benchmark.")]
Split = Annotated[
    Literal["reflect", "accept"] | None, typer.Option(help="Which split of --partition.")
]
Consultations = Annotated[
    Path | None,
    typer.Option("--consultations", help="Consultations file, or a folder of transcripts."),
]


@app.command()
def compare(
    candidate: Annotated[str, typer.Argument(help="Scores: a JSON or CSV file, or FILE#NAME.")],
    baseline: Annotated[str, typer.Argument(help="Scores of the baseline, in the same forms.")],
    benchmark: Annotated[
        Path | None, typer.Option(help="Pairs file, for labels and the word-count control.")
    ] = None,
    consultations: Consultations = None,
    primary: Annotated[
        Literal["paired_omissions", "paired_commissions"],
        typer.Option(help="The measure the difference is of."),
    ] = "paired_omissions",
    seed: Annotated[int, typer.Option(help="Seed of the resampling.")] = 1,
    as_json: JsonFlag = False,
) -> None:
    """Compare two judges on the same notes: every figure with its uncertainty.

    A score file maps note keys to scores (null: judged without a score). FILE.json#NAME takes a
    candidate of a campaign file in the published layout, FILE.json#NAME@heldout its held-out
    scores.
    """
    with guarded():
        from heldout.experiments.analysis import compare, compare_table  # noqa: PLC0415
        from heldout.gepa.record.codec import plain  # noqa: PLC0415

        found = compare.compare_files(
            candidate,
            baseline,
            compare.CompareSettings(seed=seed, primary=primary),
            pairs=benchmark,
            consultations=consultations,
        )
        show(plain(found) if as_json else compare_table.render(found))


@app.command()
def power(
    config: Annotated[Path, typer.Argument(metavar="CONFIG", help="A campaign file (YAML).")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change a value.")
    ] = None,
    pilot: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two score files (candidate, baseline) to take the spread from."),
    ] = None,
    draws: Annotated[int, typer.Option(min=100, help="Simulated data sets a figure.")] = 2000,
    wanted: Annotated[float, typer.Option(help="Difference to ask consultations for.")] = 0.05,
    candidates: Annotated[int, typer.Option(min=1, help="Candidates expected on accept.")] = 10,
    as_json: JsonFlag = False,
) -> None:
    """What a configuration's partition can detect, before anything is paid for."""
    with guarded():
        from heldout.experiments.analysis.power_campaign import power_of  # noqa: PLC0415
        from heldout.experiments.analysis.power_report import render_power  # noqa: PLC0415
        from heldout.gepa.record.codec import plain  # noqa: PLC0415

        report = power_of(
            config,
            settings or [],
            pilot=pilot,
            draws=draws,
            wanted=wanted,
            candidates=candidates,
        )
        show(plain(report) if as_json else render_power(report))


@app.command()
def judge(
    designs: Annotated[
        list[str], typer.Argument(metavar="DESIGN", help=f"Designs: {DESIGNS}; or all.")
    ],
    benchmark: Pairs,
    out: Annotated[Path, typer.Option("--out", help="Directory for tables, scores and calls.")],
    consultations: Consultations = None,
    partition: Annotated[Path | None, typer.Option(help="A partition manifest.")] = None,
    split: Split = None,
    model: Annotated[str | None, typer.Option(help="One model for every role.")] = None,
    models: Annotated[Path | None, typer.Option(help="A file of pins and roles.")] = None,
    block: Annotated[Path | None, typer.Option(help="Judge under this instruction block.")] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="Cap of one reply.")] = 1024,
    effort: Annotated[str | None, typer.Option(help="Reasoning effort.")] = None,
    temperature: Annotated[float | None, typer.Option(min=0, max=2)] = None,
    replicates: Annotated[int, typer.Option(min=1, help="Repetitions of the whole.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the calls.")] = 11,
    concurrency: Concurrency = CONCURRENCY,
    usd: Annotated[float | None, typer.Option(help="Most USD to spend in all.")] = None,
    wall_s: Annotated[
        float | None, typer.Option(min=0.1, help="Most seconds to take in all.")
    ] = None,
    clean_means: Annotated[
        Literal["unedited", "verified"], typer.Option(help="What the clean notes are.")
    ] = "unedited",
    transcript: Transcript = "present",
    columns: Columns = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    multiline: Multiline = False,
    tracking: Annotated[bool, typer.Option(help="Record the roster in MLflow.")] = True,
    tracking_uri: Annotated[str | None, typer.Option(help="Where, if not the default.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Judge a benchmark with one or several designs, or all of them.

    Held-out notes are no choice here: they are looks of a campaign or of a rerun.
    """
    with guarded():
        from heldout.experiments.judging.command import JudgeRequest, judge_command  # noqa: PLC0415
        from heldout.experiments.judging.table import render  # noqa: PLC0415
        from heldout.experiments.practice.session import unanswered_lines  # noqa: PLC0415
        from heldout.splits.benchmark import CleanMeans  # noqa: PLC0415
        from heldout.splits.loading.benchmark_files import BenchmarkSource  # noqa: PLC0415
        from heldout.students.calls.ledger import Caps  # noqa: PLC0415
        from heldout.students.models.chat import Budget  # noqa: PLC0415

        means = CleanMeans(clean_means)
        said = table_options(columns, delimiter, encoding, multiline)
        request = JudgeRequest(
            designs=tuple(designs),
            benchmark=BenchmarkSource(
                benchmark, consultations, means, transcript=transcript, table=said
            ),
            out=out,
            seed=seed,
            budget=Budget(max_tokens, effort),
            partition=partition,
            split=split,
            model=model,
            models=models,
            temperature=temperature,
            block=block,
            replicates=replicates,
            concurrency=concurrency,
            caps=Caps(usd=usd, wall_s=wall_s),
        )
        report = judge_command(request)
        for line in report.notices:
            note(line)
        if tracking:
            from heldout.experiments.judging.tracking import track_or_say  # noqa: PLC0415

            track_or_say(report, tracking_uri)
        words = report.simulated_words
        table = render(report.results, simulated=report.simulated, words=words)
        show(report.to_json() if as_json else table)
        for line in unanswered_lines(report.unanswered):
            note(line)
    end_unanswered(report.unanswered)
