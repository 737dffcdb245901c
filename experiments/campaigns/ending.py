"""A run in words: what a person reads at the end of a command."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.calls_told import calls_lines

Json = dict[str, Any]

MEANING = {
    "emitted": "emitted: held-out data agrees",
    "refused": "refused",
    "not_confirmed": "not confirmed",
}
REASONS = {
    "gate": "the held-out difference does not pass the gate",
    "drift": "the baseline scored differently when judged again",
    "exploratory": "the planned looks were used up, so the run is exploratory",
    "seed_won": "a seed won on accept, there is nothing to confirm",
    "pre_gate": "accept showed no gain, so the held-out look was not bought",
}
MODULE = "heldout.experiments.cli.main"
SIMULATED = "simulated models: no figure here is about a real one"

SEARCH_ENDS = {
    "stall": "no new best for a while (search.stall)",
    "stop_usd": "search.stop_usd was reached",
    "max_judgements": "search.max_judgements was reached",
}


def decision_sentence(summary: Json) -> str:
    """The decision with its reason in one sentence."""
    decision, reason = summary["decision"], summary["reason"]
    if decision is None:
        return f"no decision yet ({summary['status']})"
    if reason is None:
        return MEANING[decision]
    side = str(reason).removeprefix("side:")
    told = REASONS.get(reason, f"harm is shown on a side condition ({side.replace('_', ' ')})")
    return f"{MEANING[decision]}: {told}"


def status_text(summary: Json) -> str:
    """Where a run stands, a line a fact."""
    counts, budget = summary["candidates"], summary["budget"]
    usd = "unknown" if budget["usd"] is None else f"{budget['usd']:.2f}"
    lines = [
        f"{summary['name']}: {summary['status']}"
        + (f" ({summary['finish_reason']})" if summary["finish_reason"] else ""),
        f"decision: {decision_sentence(summary)}",
        f"candidates: {counts['seeds']} seeds, {counts['proposed']} proposed, "
        f"{counts['entered']} entered, {counts['merges']} merges",
        f"spent: {budget['calls']} calls, {budget['tokens']} tokens, USD {usd}, "
        f"{budget['wall_s']:.0f} s",
        *calls_lines(summary["calls"]),
        *_figures(summary),
        *(["simulated models"] if summary["simulated"] else []),
        *_next_step(summary),
        f"lineage {summary['lineage_sha256']}",
    ]
    return "\n".join(lines)


STOPPED = {
    "hard_cap": "a hard cap was reached",
    "stop_requested": "a person asked for it",
    "circuit_open": "calls failed again and again",
    "store_unavailable": "the disk or the call store took no more",
    "fault": "something has to be mended first",
}


def _next_step(summary: Json) -> list[str]:
    """How to go on with a run that is not finished."""
    run = _shown(summary["run_dir"])
    match summary["status"]:
        case "stopped" | "failed":
            why = STOPPED.get(summary["finish_reason"], summary["finish_reason"])
            return [f"it stopped because {why}; continue: {program()} resume {run}"]
        case "running":
            return [f"if no process is at work on it: {program()} resume {run}"]
    return []


def ending(summary: Json) -> str:
    """What `run` and `resume` print last: the decision, the figures, where everything is."""
    run_dir = _shown(summary["run_dir"])
    lines = ["", f"Decision: {decision_sentence(summary)}", *_figures(summary)]
    lines += [f"Calls:    {line}" for line in calls_lines(summary["calls"])]
    lines += [f"          but {line}" for line in summary["caveats"]]
    if summary["simulated"]:
        lines.append(f"          {SIMULATED}")
    if summary["prompt_file"]:
        lines.append(f"Prompt:   {_shown(summary['prompt_file'])} (its card beside it)")
    lines.append(f"Run:      {run_dir}")
    if summary["finish_reason"] in SEARCH_ENDS:
        lines.append(f"          the search ended early: {SEARCH_ENDS[summary['finish_reason']]}")
    if summary["status"] == "finished":
        lines.append(f"Report:   {run_dir}/report.html")
        lines.append(f"Lineage in MLflow: {program()} ui {run_dir}")
    else:
        lines.append(f"Continue: {program()} resume {run_dir}")
    return "\n".join(lines)


def looks_text(found: Json) -> str:
    """The looks of a manifest, a line each."""
    looks = found["looks"]
    counted = sum(look["kind"] != "baseline" for look in looks)
    lines = [f"{found['planned_looks']} planned, {counted} opened, baselines counted apart"]
    for look in looks:
        state = "closed" if look["closed"] else "opened"
        mark = " (exploratory)" if look["exploratory"] else ""
        decision = f" · {look['decision']}" if look["decision"] else ""
        figures = "".join(f" · {k} {v:.3f}" for k, v in look["figures"].items() if v is not None)
        lines.append(
            f"{look['opened_at']} · {look['kind']:<8} · {look['run']} · "
            f"{look['model'] or 'model unknown'}{' (simulated)' if look['simulated'] else ''} · "
            f"block {look['block_sha256'][:12]} · {state}{mark}{decision}{figures}"
        )
    return "\n".join(lines)


def program() -> str:
    """How this program is called from here: by name, or by its path where it is not on PATH."""
    if shutil.which("heldout"):
        return "heldout"
    beside = Path(sys.executable).with_name("heldout")
    return _shown(str(beside)) if beside.exists() else f"{_shown(sys.executable)} -m {MODULE}"


def _figures(summary: Json) -> list[str]:
    """Accept and held-out figures of the primary pairs, with the interval of the difference."""
    lines = []
    accept, heldout = summary["accept"], summary["heldout"]
    if accept:
        lines.append(f"Accept:   {_pair(accept, summary['primary'])}")
    if heldout:
        lines.append(f"Held-out: {_pair(heldout, summary['primary'])}")
        gap = heldout["difference"]
        if gap:
            lines.append(
                f"          difference {gap['estimate']:+.3f} "
                f"[{gap['low']:+.3f}, {gap['high']:+.3f}] at level {gap['level']:g}"
            )
    return lines


def _pair(side: Json, primary: str) -> str:
    base, won = side["baseline"][primary], side["winner"][primary]
    shown = ["n/a" if value is None else f"{value:.3f}" for value in (base, won)]
    return f"{primary.replace('_', ' ')} {shown[0]} (baseline) to {shown[1]} (winner)"


def _shown(path: str) -> str:
    """A path relative to the working folder where it lies below it."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except ValueError:
        return path
