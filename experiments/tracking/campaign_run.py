"""A campaign as the parent run: pins, data, series over budget spent, decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.experiments.report.decision import headline, sentences, worded
from heldout.experiments.report.text import TextPolicy, markdown
from heldout.experiments.report.view import Body, RunView, milliseconds
from heldout.experiments.report.words import rate
from heldout.experiments.tracking.content import CAMPAIGN, TAG, RunContent, SplitData
from heldout.experiments.tracking.series import series
from heldout.gepa.record.events import EventKind

MLFLOW_STATUS = {
    "running": "RUNNING",
    "finished": "FINISHED",
    "stopped": "KILLED",
    "failed": "FAILED",
}
DIGEST_CHARACTERS = 32
"""MLflow takes at most 36."""


def campaign_content(view: RunView, files: Mapping[str, str], policy: TextPolicy) -> RunContent:
    """Parent run of the campaign as far as it has come."""
    last = milliseconds(view.events[-1].time)
    return RunContent(
        key=CAMPAIGN,
        name=f"{view.name} · {view.decision or view.status}",
        status=MLFLOW_STATUS[view.status],
        start_ms=milliseconds(view.events[0].time),
        end_ms=None if view.status == "running" else last,
        tags={f"{TAG}{key}": value for key, value in _tags(view, policy).items()},
        params=_params(view),
        points=tuple(series(view)),
        files=files,
        inputs=split_inputs(view),
        note=_note(view),
    )


def split_inputs(view: RunView) -> tuple[SplitData, ...]:
    """The three splits as dataset inputs; the name says the role, as MLflow keeps one a name."""
    if not view.partition:
        return ()
    benchmark = view.partition["benchmark"]
    return tuple(
        SplitData(
            name=f"{benchmark['name']}-{role}",
            digest=facts["digest"][:DIGEST_CHARACTERS],
            role=role,
            profile=f"{facts['consultations']} consultations, {facts['notes']} notes",
        )
        for role, facts in view.partition["splits"].items()
    )


def _tags(view: RunView, policy: TextPolicy) -> dict[str, str]:
    opened, gate = view.opened, view.last(EventKind.GATE)
    tags: dict[str, Any] = {
        "campaign": view.name,
        "status": view.status,
        "finish_reason": view.finish_reason,
        "simulated": "yes" if view.simulated else "no",
        "tracking_text": policy.value,
        "seed": opened.get("seed"),
        "config_sha256": opened.get("config_sha256"),
        "source_sha256": opened.get("source_sha256"),
        "commit": opened.get("commit"),
        "dirty": len(opened.get("dirty") or ()),
        "platform": opened.get("platform"),
        "versions": ", ".join(f"{k} {v}" for k, v in opened.get("versions", {}).items()),
        "manifest_sha256": view.partition.get("manifest_sha256"),
        "planned_looks": view.partition.get("planned_looks"),
        "caps_raised": ", ".join(view.raised) or None,
        "candidates": len(view.candidates),
        "entered": len(view.entered),
        "winner": None if view.winner is None else view.winner["id"],
    }
    if gate is not None:
        heldout: Body = gate["heldout"] or {}
        tags |= {
            "decision": gate["decision"],
            "reason": gate["reason"],
            "rule": gate["rule"],
            "looks": heldout.get("looks"),
            "exploratory": {True: "yes", False: "no"}.get(heldout.get("exploratory", None)),
        }
    finished = view.last(EventKind.FINISHED)
    if finished is not None:
        tags["lineage_sha256"] = finished["lineage_sha256"]
    return {key: str(value) for key, value in tags.items() if value not in (None, "")}


def _params(view: RunView) -> dict[str, str]:
    """Settings and pins; hashes stand for texts, and nothing here changes once it is set."""
    opened, settings = view.opened, view.settings
    params = dict(_flat("student", opened.get("student", {})))
    params |= _flat("reflector", opened.get("reflector", {}))
    for key, value in settings.items():
        params |= _flat(key, value)
    return {key: value[:500] for key, value in params.items()}


def _flat(key: str, value: Any) -> dict[str, str]:
    if isinstance(value, Mapping):
        return {
            k: v for name, child in value.items() for k, v in _flat(f"{key}.{name}", child).items()
        }
    return {key: "none" if value is None else str(value)}


def _note(view: RunView) -> str:
    """The verdict first: the page shows three lines of it."""
    lines = [f"**{markdown(headline(view))}**", ""]
    lines += [f"- {markdown(sentence)}" for sentence in sentences(view)]
    gate = view.last(EventKind.GATE)
    if gate is not None and gate["heldout"]:
        lines += ["", "| | baseline | winner |", "|---|---|---|", *_rows(view, gate["heldout"])]
    lines += ["", "Open `report.html` and `lineage.html` under Artifacts."]
    return "\n".join(lines)


def _rows(view: RunView, heldout: Body) -> Iterator[str]:
    for name in ("paired_omissions", "paired_commissions"):
        values = [heldout[side][name] for side in ("baseline", "winner")]
        yield _row(f"held-out {name.replace('_', ' ')}", values)
    for name in ("detection", "false_alarms"):
        values = [
            rate(at.get(name)) if (at := heldout[side]["at_threshold"]) else None
            for side in ("baseline", "winner")
        ]
        yield _row(worded(view, f"{name.replace('_', ' ')} at the frozen threshold"), values)


def _row(name: str, values: list[float | None]) -> str:
    cells = ["–" if value is None else f"{value:.3f}" for value in values]
    return f"| {name} | {' | '.join(cells)} |"
