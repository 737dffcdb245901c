"""A candidate as a child run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from heldout.experiments.report.candidate_files import candidate_files
from heldout.experiments.report.candidates import candidate_page, fate
from heldout.experiments.report.reflections import Reflections
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.report.view import Body, RunView
from heldout.experiments.report.words import rate
from heldout.experiments.tracking.content import TAG, Point, RunContent
from heldout.gepa.statistics.slices import Axis, slices

SLICED: tuple[Axis, ...] = ("class", "trace", "severity")


def candidate_content(
    view: RunView, id_: str, reflections: Reflections, policy: TextPolicy
) -> RunContent:
    """Child run of candidate `id_`.

    All but the two tags of the end of the run (winner, leads) is a function of events up to the
    candidate, so that what was written while the run was live is not written again.
    """
    body, moment = view.candidates[id_], view.moments[id_]
    page = candidate_page(view, id_, reflections, policy)
    points = tuple(
        Point(key, float(value), moment.time_ms, moment.calls)
        for key, value in _figures(view, body)
        if value is not None
    )
    return RunContent(
        key=id_,
        name=_name(view, page.title, body),
        status="FINISHED",
        start_ms=moment.time_ms,
        end_ms=moment.time_ms,
        tags={f"{TAG}{key}": value for key, value in _tags(view, body).items()},
        points=points,
        files=candidate_files(page),
        note=_note(page.title, body),
    )


def _name(view: RunView, title: str, body: Body) -> str:
    winner = view.winner
    return f"{title} · winner" if winner is not None and winner["id"] == body["id"] else title


def _tags(view: RunView, body: Body) -> dict[str, str]:
    budget = view.settings.get("budget", {})
    tags = {
        "kind": body["kind"],
        "parents": ",".join(body["parents"]),
        "iteration": str(body["iteration"]),
        "status": body["status"],
        "block_sha256": body["sha256"] or "",
        "block_characters": str(body["length"]),
        "frame_sha256": str(view.settings.get("frame_sha256", "")),
        "student_max_tokens": str(budget.get("max_tokens", "")),
        "student_effort": str(budget.get("reasoning_effort") or "none"),
        "simulated": _yes(view.simulated),
    }
    optional = {"seed_name": body["name"], "reason": body["reason"], "detail": body["detail"]}
    tags |= {key: str(value) for key, value in optional.items() if value}
    if view.winner is not None:
        tags["winner"] = _yes(view.winner["id"] == body["id"])
        tags["frontier_leads"] = str(view.leads.get(body["id"], 0))
    return tags


def _figures(view: RunView, body: Body) -> Iterator[tuple[str, float | None]]:
    minibatch: Mapping[str, Any] = body["minibatch"] or {}
    for key in ("reward", "separation"):
        before, after = minibatch.get(f"parent_{key}"), minibatch.get(f"child_{key}")
        yield f"reflect/{key}_before", before
        yield f"reflect/{key}_after", after
        if before is not None and after is not None:
            yield f"reflect/{key}_change", after - before
    accept = body["accept"]
    if accept is None:
        return
    yield "accept/paired_omissions", accept["paired_omissions"]
    yield "accept/paired_commissions", accept["paired_commissions"]
    yield "accept/swept_detection", rate(accept["swept"]["detection"])
    yield "accept/swept_false_alarms", rate(accept["swept"]["false_alarms"])
    yield "accept/violations", rate(accept["violations"])
    if accept["at_rule"]:
        yield "accept/rule_detection", rate(accept["at_rule"]["detection"])
        yield "accept/rule_false_alarms", rate(accept["at_rule"]["false_alarms"])
    yield from _sliced(view, body["id"])


def _sliced(view: RunView, id_: str) -> Iterator[tuple[str, float | None]]:
    """Paired figure of every slice, with the pairs behind it; descriptive."""
    table = view.accept_table(id_)
    if table is None:
        return
    for axis in SLICED:
        found = slices(table, axis, "omission" if axis == "trace" else "errored")
        for key, part in found.items():
            yield f"accept_{axis}/{key}", part.value
            yield f"accept_{axis}/{key}_pairs", float(part.n)


def _note(title: str, body: Body) -> str:
    lines = [f"**{fate(body)}**", "", title]
    if body["minibatch"]:
        m = body["minibatch"]
        lines += ["", f"minibatch reward {m['parent_reward']:.3f} → {m['child_reward']:.3f}"]
    lines += ["", "Open `candidate.html` under Artifacts for block, differences and notes."]
    return "\n".join(lines)


def _yes(value: bool) -> str:
    return "yes" if value else "no"
