"""A judged roster in MLflow: a run for the set, a child run for each design. No text leaves."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict, replace

from heldout.experiments.judging.command import JudgeReport
from heldout.experiments.judging.roster import DesignFigures, DesignResult
from heldout.experiments.judging.table import to_csv, to_markdown
from heldout.experiments.runs.terminal import note
from heldout.experiments.tracking.client import StoredRun, TrackingClient
from heldout.experiments.tracking.content import (
    CAMPAIGN,
    TAG,
    MetricPoint,
    RunContent,
    SplitInput,
    TrackingFailed,
)
from heldout.experiments.tracking.settings import TrackingSettings, default_uri

CONTENT = f"{TAG}content_sha256"
DIGEST_CHARACTERS = 32
"""MLflow takes at most 36."""


def track(report: JudgeReport, settings: TrackingSettings) -> None:
    """Write `report` to the tracking store; a second time changes nothing.

    Raises TrackingFailed when the store does not answer.
    """
    client = TrackingClient(settings)
    known = client.runs(report.run_id)
    now = int(time.time() * 1000)
    parent = _put(client, report.run_id, _roster(report, now), known, None)
    for result in report.results:
        _put(client, report.run_id, _design(report, result, now), known, parent.id)


def track_or_say(report: JudgeReport, uri: str | None) -> None:
    """`track` at `uri` or the default; a store that fails is one line on standard error."""
    try:
        track(report, TrackingSettings(default_uri(uri)))
    except (TrackingFailed, OSError) as error:
        note(f"not recorded in MLflow: {error}")


def _put(
    client: TrackingClient,
    run_id: str,
    content: RunContent,
    known: dict[str, StoredRun],
    parent: str | None,
) -> StoredRun:
    """The run of `content`, made or brought up to date; one a reviewer deleted stays deleted."""
    run = known.get(content.key) or client.create(run_id, content, parent)
    if run.deleted or run.tags.get(CONTENT) == _digest(content):
        return run
    client.log(
        run.id,
        points=content.points,
        params={} if run.params else content.params,
        tags={**content.tags, CONTENT: _digest(content)},
    )
    if content.inputs and content.key not in known:
        client.inputs(run.id, content.inputs)
    client.put_files(run, content.files)
    client.set_info(run, content)
    return run


def _digest(content: RunContent) -> str:
    """Hash of what was measured, whenever it was written down."""
    points = tuple(replace(point, time_ms=0) for point in content.points)
    return replace(content, points=points, start_ms=0, end_ms=0).sha256


def _roster(report: JudgeReport, now: int) -> RunContent:
    first = report.results[0].notes
    results, simulated = report.results, report.simulated
    table = to_markdown(results, simulated=simulated, words=report.simulated_words)
    sizes = ", ".join(f"{count} {name}" for name, count in asdict(first.sizes).items())
    return RunContent(
        key=CAMPAIGN,
        name=f"judge · {first.name}",
        status="FINISHED",
        start_ms=now,
        end_ms=now,
        tags={
            f"{TAG}kind": "judge",
            f"{TAG}simulated": "yes" if simulated else "no",
            "mlflow.note.content": table,
        },
        params=dict(report.params),
        files={
            "judge.json": json.dumps(report.to_json(), indent=2),
            "judge.csv": to_csv(results),
            "judge.md": table,
        },
        inputs=(SplitInput(first.name, first.digest[:DIGEST_CHARACTERS], "judged", sizes),),
    )


def _design(report: JudgeReport, result: DesignResult, now: int) -> RunContent:
    found = result.figures
    return RunContent(
        key=result.design.name,
        name=result.design.name,
        status="FINISHED",
        start_ms=now,
        end_ms=now,
        tags={
            f"{TAG}kind": "judged design",
            f"{TAG}family": found.family,
            f"{TAG}simulated": "yes" if report.simulated else "no",
        },
        params={
            "frame_sha256": found.frame_sha256,
            "facts_sha256": found.facts_sha256 or "",
            "set": found.set,
        },
        points=tuple(MetricPoint(name, value, now, 0) for name, value in metrics(found)),
        files={"design.json": json.dumps(result.to_json(), indent=2)},
    )


def metrics(found: DesignFigures) -> Iterator[tuple[str, float]]:
    """Figures of one design as metrics; a rate that is `na` or unknown is left out."""
    values: dict[str, float | None] = {
        "paired_omissions": found.paired_omissions,
        "paired_commissions": found.paired_commissions,
        "calls_per_note": found.calls_per_note,
    }
    for name, rule in (("at_rule", found.at_rule), ("swept", found.swept)):
        if rule is not None:
            values[f"{name}/detection"] = rule.detection.rate
            values[f"{name}/false_alarms"] = rule.false_alarms.rate
    axes = {
        "by_trace": found.by_trace,
        "by_severity": found.by_severity,
        "by_class": found.by_class,
    }
    for axis, parts in axes.items():
        values |= {f"{axis}/{key}": part.paired for key, part in parts.items()}
    values |= {f"cost/{name}": value for name, value in asdict(found.cost).items()}
    yield from ((name, value) for name, value in values.items() if value is not None)
    yield "violations", found.violations.k
