"""What the commands do, as functions: the command line only parses and prints."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.checks import check
from heldout.experiments.campaigns.ending import ending, status_text
from heldout.experiments.campaigns.examination import new_partition
from heldout.experiments.campaigns.family import prepare_family, resume_family, start_family
from heldout.experiments.campaigns.plan import plan, plan_text
from heldout.experiments.campaigns.running import prepare, resume, start
from heldout.experiments.campaigns.session import RunOptions, SessionResult
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import (
    FAMILY_FILE,
    RunDirectory,
    default_run_dir,
    existing_run,
)
from heldout.experiments.runs.terminal import note, show
from heldout.gepa.record.run import Run
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.partition.manifest import freeze
from heldout.splits.synthetic import draw, write_jsonl

Json = dict[str, Any]


def run_campaigns(
    configs: Sequence[Path],
    *,
    run_dir: Path | None,
    settings: Sequence[str],
    dry_run: bool,
    acknowledge_reuse: bool,
    as_json: bool,
) -> int:
    """Run one campaign, or several as one family, and return the exit status."""
    options = RunOptions(acknowledge_reuse=acknowledge_reuse)
    if len(configs) > 1:
        folder = run_dir or default_run_dir("family")
        members = prepare_family(configs, settings, folder, options)
        if dry_run:
            plans = [plan(member.checked) for member in members]
            told = "\n\n".join(map(plan_text, plans))
            show({"campaigns": plans} if as_json else told)
            return 0
        return _finish_family(start_family(members, folder), as_json)
    config = configs[0]
    where = run_dir or default_run_dir(load_config(config, settings).name)
    checked = prepare(config, settings, where, options)
    if dry_run:
        planned = plan(checked)
        show(planned if as_json else plan_text(planned))
        return 0
    ended = start(checked, where, options)
    return _finish(ended, as_json)


def resume_campaign(
    run: Path,
    settings: Sequence[str],
    *,
    leave_out: Sequence[str] = (),
    acknowledge_reuse: bool = False,
    as_json: bool,
) -> int:
    """Continue a run, or a family of runs, and return the exit status."""
    options = RunOptions(acknowledge_reuse=acknowledge_reuse)
    if (run / FAMILY_FILE).is_file():
        return _finish_family(resume_family(run, settings, options, leave_out), as_json)
    return _finish(resume(run, settings, options, leave_out), as_json)


def show_status(path: Path, *, as_json: bool) -> None:
    """Print where a run stands."""
    run = Run.at(existing_run(path).path)
    show(run.to_json() if as_json else status_text(run))


def freeze_split(
    config_file: Path, out: Path, settings: Sequence[str], *, as_json: bool
) -> Json | str:
    """Draw and freeze a partition; what it holds, as JSON or in words."""
    if out.exists():
        raise BadInput.one(str(out), "already exists; a frozen partition is never overwritten")
    config = load_config(config_file, settings)
    if config.benchmark.synthetic is not None:
        raise BadInput.one(
            str(config_file),
            "benchmark.synthetic is drawn inside each run; write it to files with heldout synth "
            "and name them with benchmark.pairs to split it beforehand",
        )
    checked = check(config, RunDirectory(out.resolve().parent))
    partition = new_partition(config, checked.load(), checked.exclude)
    freeze(partition, out)
    sizes = {name: len(ids) for name, ids in partition.splits.items()}
    found = {"manifest": str(out.resolve()), "sha256": partition.sha256, "consultations": sizes}
    found["warnings"] = list(partition.warnings)
    if as_json:
        return found
    counts = ", ".join(f"{name} {count}" for name, count in sizes.items())
    return "\n".join([f"{out}: {counts} consultations", *partition.warnings])


def make_synthetic(consultations: int, seed: int, out: Path, *, as_json: bool) -> Json | str:
    """Write a synthetic benchmark: the pairs to `out`, the consultations beside it."""
    name, dot, suffix = out.name.partition(".jsonl")
    if not dot or suffix not in ("", ".gz") or not name:
        raise BadInput.one("--out", f"{out} must end in .jsonl or .jsonl.gz")
    beside = out.with_name(f"{name}.consultations.jsonl{suffix}")
    for path in (out, beside):
        if path.exists():
            raise BadInput.one("--out", f"{path} already exists")
    made = draw(consultations, seed)
    try:
        write_jsonl(made, out, beside)
    except OSError as error:
        raise BadInput.one("--out", f"{out} cannot be written ({error.strerror})") from error
    pairs = sum(len(c.errored) for c in made.benchmark)
    found = {
        "pairs_file": str(out.resolve()),
        "consultations_file": str(beside.resolve()),
        "consultations": consultations,
        "pairs": pairs,
        "dropped": dict(made.dropped),
        "seed": seed,
    }
    if as_json:
        return found
    dropped = ", ".join(f"{count} {why}" for why, count in made.dropped.items()) or "none"
    return (
        f"{counted(pairs, 'pair')} over {counted(consultations, 'consultation')} "
        f"(dropped: {dropped})\n"
        f"pairs:          {out}\nconsultations:  {beside}"
    )


def _finish(ended: SessionResult, as_json: bool) -> int:
    """Print how a session ended and return the exit status."""
    show(ended.run.to_json() if as_json else ending(ended.run))
    _say_untracked(ended)
    if ended.error is not None:
        note(ended.error)
    return ended.exit_status


def _finish_family(done: Sequence[SessionResult], as_json: bool) -> int:
    """Print how every campaign of a family ended and return the worst exit status."""
    runs = [ended.run for ended in done]
    if as_json:
        show({"campaigns": [run.to_json() for run in runs]})
    else:
        for run in runs:
            show(f"\n{run.name}{ending(run)}")
    for ended in done:
        _say_untracked(ended)
    # One fault stops them all; it is told once.
    for error in dict.fromkeys(str(ended.error) for ended in done if ended.error is not None):
        note(error)
    return max(ended.exit_status for ended in done)


def _say_untracked(ended: SessionResult) -> None:
    if ended.untracked:
        note(f"MLflow did not follow: {ended.untracked}; try heldout sync")
