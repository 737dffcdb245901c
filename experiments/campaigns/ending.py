"""A run in words: what a person reads at the end of a command."""

from __future__ import annotations

import shlex
import shutil
import sys
from pathlib import Path

from heldout.experiments.campaigns.calls_told import calls_lines
from heldout.gepa.record.remarks import StoppedEvent
from heldout.gepa.record.run import Run
from heldout.gepa.record.summary import left_out_in_words
from heldout.splits.counted import counted

MODULE = "heldout.experiments.cli.main"

SEARCH_ENDS = {
    "stall": "no new best for a while (search.stall)",
    "stop_usd": "search.stop_usd was reached",
    "max_judgements": "search.max_judgements was reached",
}


def status_text(run: Run) -> str:
    """Where a run stands, a line a fact."""
    if not run.has_begun:
        again = typed("resume", run.run_dir)
        return (
            f"{_shown(run.run_dir)}: its journal has no event yet; a start is under way, or died "
            f"before its first. If no process is at work on it: {again}"
        )
    counts, cost = run.candidates, run.budget
    usd = "unknown" if cost.usd is None else f"{cost.usd:.2f}"
    why = f" ({run.finish_reason})" if run.finish_reason else ""
    lines = [
        f"{run.name}: {run.status}{why}",
        f"decision: {run.sentence}",
        *([f"flag: {run.usable.sentence}"] if run.usable else []),
        f"candidates: {counted(counts.seeds, 'seed')}, {counts.proposed} proposed, "
        f"{counts.entered} entered, {counted(counts.merges, 'merge')}",
        *([run.unusable_words] if run.unusable_words else []),
        f"spent: {counted(cost.calls, 'call')}, {counted(cost.tokens, 'token')}, USD "
        f"{usd}, {cost.wall_s:.0f} s",
        *calls_lines(run.calls),
        *_figures(run),
        *left_out_in_words(run.left_out),
        *([run.simulated_words] if run.simulated_words else []),
        *_next_step(run),
        f"lineage {run.lineage_sha256}",
    ]
    return "\n".join(lines)


STOPPED = {
    "hard_cap": "a hard cap was reached",
    "stop_requested": "a person asked for it",
    "circuit_open": "calls failed again and again",
    "call_refused": "a provider refused a call for good, such as for a rejected key",
    "unanswered": "some notes were not answered while others were",
    "store_unavailable": "the disk or the call store took no more",
    "fault": "something has to be mended first",
}


def _next_step(run: Run) -> list[str]:
    """How to go on with a run that is not finished."""
    again = typed("resume", run.run_dir)
    match run.status:
        case "stopped" | "failed":
            why = STOPPED.get(run.finish_reason or "", run.finish_reason)
            lines = [f"it stopped because {why}; continue: {again}"]
            stopped = run.newest(StoppedEvent)
            if stopped is not None and stopped.unanswered:
                notes = " ".join(stopped.unanswered)
                lines.append(f"or without the notes that it named: {again} --leave-out {notes}")
            return lines
        case "running":
            return [f"if no process is at work on it: {again}"]
    return []


def ending(run: Run) -> str:
    """What `run` and `resume` print last: the decision, the figures, where everything is."""
    run_dir = _shown(run.run_dir)
    lines = ["", f"Decision: {run.sentence}", *_figures(run)]
    lines += [f"Flag:     {run.usable.sentence}"] if run.usable else []
    if run.unusable_words:
        lines.append(f"Search:   {run.unusable_words}")
    lines += [f"Calls:    {line}" for line in calls_lines(run.calls)]
    lines += [f"          but {line}" for line in run.caveats]
    lines += [f"Left out: {line}" for line in left_out_in_words(run.left_out)]
    if run.simulated_words:
        lines.append(f"          {run.simulated_words}")
    if run.prompt_file:
        lines.append(f"Prompt:   {_shown(run.prompt_file)} (its card beside it)")
    lines.append(f"Run:      {run_dir}")
    if run.finish_reason in SEARCH_ENDS:
        lines.append(f"          the search ended early: {SEARCH_ENDS[run.finish_reason]}")
    if run.status == "finished":
        lines.append(f"Report:   {run_dir}/report.html")
        lines.append(f"Lineage in MLflow: {typed('ui', run.run_dir)}")
    else:
        lines.append(f"Continue: {typed('resume', run.run_dir)}")
    return "\n".join(lines)


def typed(command: str, path: Path | None) -> str:
    """A command on `path` as it can be typed here, whatever stands in its name."""
    return f"{program()} {command} {shlex.quote(_shown(path))}"


def program() -> str:
    """How this program is called from here: by name, or by its path where it is not on PATH.

    Quoted where a path of it needs that.
    """
    if shutil.which("heldout"):
        return "heldout"
    beside = Path(sys.executable).with_name("heldout")
    if beside.exists():
        return shlex.quote(_shown(beside))
    return f"{shlex.quote(_shown(Path(sys.executable)))} -m {MODULE}"


def _figures(run: Run) -> list[str]:
    """Accept and held-out figures of the primary pairs, with the interval of the difference."""
    return [f"{f'{name}:' if name else '':<9} {words}" for name, words in run.figures_in_words]


def _shown(path: Path | None) -> str:
    """A path relative to the working folder where it lies below it."""
    if path is None:
        return "nowhere"
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
