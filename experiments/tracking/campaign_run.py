"""All that MLflow is told of a campaign: the parent run and the prompt, one function each.

Artifacts are made at the end: `report.html`, `report.md` and `lineage.html`, and copies of
`journal.jsonl`, `gate.json` and `config.yaml` unless `tracking.text` lets no block out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from heldout.experiments.report.decision import headline, sentences, worded
from heldout.experiments.report.text import TextPolicy, markdown
from heldout.experiments.tracking.content import (
    CAMPAIGN,
    RUN_TAG,
    Figures,
    MetricPoint,
    PromptContent,
    RunContent,
    SplitInput,
    tag_texts,
)
from heldout.gepa.candidates import Status
from heldout.gepa.record.codec import EventBody, plain
from heldout.gepa.record.events import (
    CandidateEvent,
    FinishedEvent,
    GateEvent,
    HeldoutMeasures,
    IterationEvent,
    WinnerEvent,
)
from heldout.gepa.record.run import Run
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.measures import Measures
from heldout.splits.hashing import sha256_text
from heldout.splits.visible import visible

MLFLOW_STATUS = {
    "running": "RUNNING",
    "finished": "FINISHED",
    "stopped": "KILLED",
    "failed": "FAILED",
}
DIGEST_CHARACTERS = 32
"""MLflow takes at most 36."""
PARAM_CHARACTERS = 500

EMITTED = "emitted"
"""Alias of the newest emission of a campaign name."""


def campaign_content(
    run: Run, points: tuple[MetricPoint, ...], files: Mapping[str, str], policy: TextPolicy
) -> RunContent:
    """The parent run as far as the campaign has come; `points` are its metrics so far."""
    return RunContent(
        key=CAMPAIGN,
        name=visible(f"{run.name} · {run.decision or run.status}"),
        status=MLFLOW_STATUS[run.status],
        start_ms=run.moment(run.events[0]).time_ms,
        end_ms=None if run.status == "running" else run.moment(run.events[-1]).time_ms,
        tags=tag_texts(campaign_tags(run, policy)),
        params=campaign_params(run),
        points=points,
        files=files,
        inputs=campaign_inputs(run),
        note=campaign_note(run),
    )


def campaign_tags(run: Run, policy: TextPolicy) -> dict[str, object]:
    """Tags by name, `heldout.` before each; those that are None are left out."""
    opened, partition, heldout = run.opened, run.partition, run.gate and run.gate.heldout
    return {
        "campaign": run.name,
        "status": run.status,
        "finish_reason": run.finish_reason,
        "simulated": bool(run.simulated),
        "simulated_models": run.simulated_words,
        "tracking_text": policy.value,
        "seed": opened.seed,
        "config_sha256": opened.config_sha256,
        "source_sha256": opened.source_sha256,
        "commit": opened.commit,
        "dirty": len(opened.dirty or ()),
        "platform": opened.platform,
        "versions": ", ".join(f"{k} {v}" for k, v in sorted(opened.versions.items())) or None,
        "manifest_sha256": partition and partition.manifest_sha256,
        "planned_looks": partition and partition.planned_looks,
        "seen_before": ("; ".join(partition.seen_before) or None) if partition else None,
        "caps_raised": ", ".join(run.raised) or None,
        "candidates": len(run.candidates),
        "entered": len(run.entered),
        "winner": run.winner and run.winner.id,
        "decision": run.decision,
        "reason": run.reason,
        "sentence": run.gate and run.sentence,
        "usable": run.usable and run.usable.usable,
        "usable_reason": run.usable and run.usable.reason,
        "family": "; ".join(map(str, run.family)) or None,
        "rule": run.gate and run.gate.rule,
        "goal": run.gate and run.gate.goal,
        "looks": heldout and heldout.looks,
        "exploratory": heldout and heldout.exploratory,
        "lineage_sha256": run.finished and run.finished.lineage_sha256,
    }


def campaign_params(run: Run) -> dict[str, str]:
    """Params by dotted name: the two models and every field of the settings event.

    Hashes stand for texts, and nothing here changes once it is set.
    """
    tree = {"student": run.opened.student, "reflector": run.opened.reflector}
    fields = {name: plain(value) for name, value in tree.items()}
    if run.settings is not None:
        fields |= plain(run.settings)
    return {name: text[:PARAM_CHARACTERS] for name, text in _flat(fields)}


def campaign_inputs(run: Run) -> tuple[SplitInput, ...]:
    """The three splits as dataset inputs; the name says the role, as MLflow keeps one a name."""
    if run.partition is None:
        return ()
    return tuple(
        SplitInput(
            name=f"{run.partition.benchmark.name}-{role}",
            digest=split.digest[:DIGEST_CHARACTERS],
            role=role,
            profile=f"{split.consultations} consultations, {split.notes} notes",
        )
        for role, split in sorted(run.partition.splits.items())
    )


def campaign_metrics(body: EventBody) -> Figures:
    """Metrics by the event that adds a point to them, at the calls spent by then.

    `reflect/` is a proposal on its minibatch, `accept/` the accept set, `heldout/` the look,
    `budget/` what is spent. The winner's figures have the names that candidates' own runs give
    them.
    """
    match body:
        case CandidateEvent(minibatch=found):
            if found is not None:
                yield "reflect/reward_child", found.child_reward
                yield "reflect/separation_child", found.child_separation
                yield "reflect/reward_parent", found.parent_reward
                yield "reflect/separation_parent", found.parent_separation
            if body.status is Status.ENTERED and body.accept is not None:
                yield from _accept("accept/entry_", body.accept)
        case IterationEvent():
            yield "accept/best", body.best
            yield "accept/frontier_size", body.frontier
            yield from _spent(body.judgements, body.spent)
        case WinnerEvent():
            yield from _accept("accept/", body.accept.winner)
            yield from _accept("accept/baseline_", body.accept.baseline)
        case GateEvent():
            if body.difference is not None:
                yield "heldout/difference_estimate", body.difference.estimate
                yield "heldout/difference_low", body.difference.low
                yield "heldout/difference_high", body.difference.high
            if body.usable is not None and body.usable.above_clean is not None:
                yield "heldout/above_clean_low", body.usable.above_clean.low
            if body.heldout is not None:
                yield from _heldout("heldout/baseline_", body.heldout.baseline)
                yield from _heldout("heldout/winner_", body.heldout.winner)
        case FinishedEvent():
            yield from _spent(body.judgements, body.spent)


def _accept(prefix: str, measures: Measures) -> Figures:
    yield f"{prefix}paired_omissions", measures.paired_omissions
    yield f"{prefix}paired_commissions", measures.paired_commissions
    yield f"{prefix}swept_detection", measures.swept.detection.rate


def _heldout(prefix: str, measures: Measures) -> Figures:
    yield from _accept(prefix, measures)
    if at := measures.at_threshold:
        yield f"{prefix}detection", at.detection.rate
        yield f"{prefix}false_alarms", at.false_alarms.rate
    yield f"{prefix}violations", measures.violations.rate


def _spent(judgements: int, spent: Spent) -> Figures:
    yield "budget/judgements", judgements
    yield "budget/calls", spent.calls
    yield "budget/tokens", spent.tokens
    yield "budget/usd", spent.usd


def campaign_note(run: Run) -> str:
    """The description, the verdict first: the page shows three lines of it."""
    lines = [f"**{markdown(headline(run))}**", ""]
    lines += [f"- {markdown(sentence)}" for sentence in sentences(run)]
    if run.gate is not None and run.gate.heldout is not None:
        lines += ["", "| | baseline | winner |", "|---|---|---|", *_rows(run, run.gate.heldout)]
    lines += ["", "Open `report.html` and `lineage.html` under Artifacts."]
    return "\n".join(lines)


def _rows(run: Run, heldout: HeldoutMeasures) -> Iterator[str]:
    blocks = (heldout.baseline, heldout.winner)
    frozen = [block.at_threshold for block in blocks]
    threshold = "at the frozen threshold"
    rows: dict[str, list[float | None]] = {
        "held-out paired omissions": [block.paired_omissions for block in blocks],
        "held-out paired commissions": [block.paired_commissions for block in blocks],
        f"detection {threshold}": [None if at is None else at.detection.rate for at in frozen],
        worded(run, f"false alarms {threshold}"): [
            None if at is None else at.false_alarms.rate for at in frozen
        ],
    }
    for name, values in rows.items():
        cells = ["–" if value is None else f"{value:.3f}" for value in values]
        yield f"| {name} | {' | '.join(cells)} |"


def prompt_content(run: Run) -> PromptContent | None:
    """The emitted prompt as a version in the registry, named after the campaign.

    None without an emission, and where the file no longer has the recorded hash.
    """
    path, winner, gate = run.prompt_file, run.winner, run.gate
    if path is None or run.emission is None or winner is None or gate is None:
        return None
    text = path.read_bytes().decode("utf-8") if path.is_file() else ""
    if sha256_text(text) != run.emission.prompt_sha256:
        return None
    run_id = run.opened.run_id
    identity = {RUN_TAG: run_id, **tag_texts({"prompt_sha256": run.emission.prompt_sha256})}
    facts = {
        "candidate_id": winner.id,
        "block_sha256": winner.sha256,
        "frame_sha256": run.settings and run.settings.frame_sha256,
        "card_sha256": run.emission.card_sha256,
        "decision": gate.decision,
        "usable": gate.usable and gate.usable.usable,
        "rule": gate.rule,
        "looks": gate.heldout and gate.heldout.looks,
        "lineage_sha256": run.lineage_sha256,
        "simulated": bool(run.simulated),
    }
    return PromptContent(
        # The registry takes letters, digits, dots, dashes and underscores.
        name=re.sub(r"[^A-Za-z0-9._-]", "-", run.opened.name),
        text=text,
        summary=visible(headline(run)),
        identity=identity,
        tags={**identity, **tag_texts(facts)},
        aliases=(EMITTED, f"run-{run_id.rpartition('-')[2].lower()}"),
    )


def _flat(tree: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{child}", text) for child, text in _flat(value))
        else:
            yield name, "none" if value is None else visible(str(value))
