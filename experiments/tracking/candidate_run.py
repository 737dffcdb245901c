"""All that MLflow is told of a candidate: its child run, one function a kind of entry.

Name and note say the lineage in words. Artifacts are `candidate.html` and `candidate.md`; where
texts may be shown also `block.txt` and a `diff_<parent>.txt` for each parent; and
`tables/notes.json`, the errored notes of the minibatch and the accept notes that changed hands.

All but what is said of the winner is a function of events up to the candidate, so that what was
written while the run was live is not written again.
"""

from __future__ import annotations

from heldout.experiments.report.candidate_files import candidate_files
from heldout.experiments.report.candidates import candidate_page, fate
from heldout.experiments.report.reflections import Reflections
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.tracking.content import Figures, RunContent, points_at, tag_texts
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.events import CandidateEvent
from heldout.gepa.record.run import Run
from heldout.gepa.statistics.slices import Axis, slices
from heldout.splits.visible import visible

SLICED: tuple[Axis, ...] = ("class", "trace", "severity")


def candidate_content(
    run: Run, id_: str, reflections: Reflections, policy: TextPolicy
) -> RunContent:
    """The child run of candidate `id_`, which has no params and no inputs."""
    candidate, moment = run.candidates[id_], run.moments[id_]
    page = candidate_page(run, id_, reflections, policy)
    won = run.winner is not None and run.winner.id == id_
    return RunContent(
        key=id_,
        name=f"{page.title} · winner" if won else page.title,
        status="FINISHED",
        start_ms=moment.time_ms,
        end_ms=moment.time_ms,
        tags=tag_texts(candidate_tags(run, candidate)),
        points=points_at(candidate_metrics(run, candidate), moment.time_ms, moment.calls),
        files=candidate_files(page),
        note=visible(candidate_note(candidate, page.title)),
    )


def candidate_tags(run: Run, candidate: CandidateEvent) -> dict[str, object]:
    """Tags by name, `heldout.` before each; those that are None are left out."""
    settings, winner = run.settings, run.winner
    return {
        "kind": candidate.kind,
        "parents": ",".join(candidate.parents),
        "iteration": candidate.iteration,
        "status": candidate.status,
        "block_sha256": candidate.sha256 or "",
        "block_characters": candidate.length,
        "frame_sha256": settings.frame_sha256 if settings else "",
        "student_max_tokens": settings.budget.max_tokens if settings else "",
        "student_effort": (settings and settings.budget.reasoning_effort) or "none",
        "simulated": bool(run.simulated),
        "seed_name": candidate.name or None,
        "reason": candidate.reason or None,
        "detail": candidate.detail or None,
        "winner": None if winner is None else winner.id == candidate.id,
        "frontier_leads": None if winner is None else run.leads.get(candidate.id, 0),
    }


def candidate_metrics(run: Run, candidate: CandidateEvent) -> Figures:
    """Metrics, one point each at the calls spent by the proposal.

    `reflect/` compares child and parent on the minibatch, `accept/` is the whole accept set,
    `accept_<axis>/` a slice of it with the pairs behind it, which is descriptive only.
    """
    if found := candidate.minibatch:
        yield "reflect/reward_before", found.parent_reward
        yield "reflect/reward_after", found.child_reward
        yield "reflect/reward_change", found.child_reward - found.parent_reward
        before, after = found.parent_separation, found.child_separation
        yield "reflect/separation_before", before
        yield "reflect/separation_after", after
        if before is not None and after is not None:
            yield "reflect/separation_change", after - before
    accept, table = candidate.accept, run.accept_table(candidate.id)
    if accept is None or table is None:
        return
    yield "accept/paired_omissions", accept.paired_omissions
    yield "accept/paired_commissions", accept.paired_commissions
    yield "accept/swept_detection", accept.swept.detection.rate
    yield "accept/swept_false_alarms", accept.swept.false_alarms.rate
    yield "accept/violations", accept.violations.rate
    if accept.at_rule:
        yield "accept/rule_detection", accept.at_rule.detection.rate
        yield "accept/rule_false_alarms", accept.at_rule.false_alarms.rate
    for axis in SLICED:
        parts = slices(table, axis, "errored" if axis == "class" else primary_pairs(run.primary))
        for key, part in parts.items():
            yield f"accept_{axis}/{key}", part.value
            yield f"accept_{axis}/{key}_pairs", float(part.n)


def candidate_note(candidate: CandidateEvent, title: str) -> str:
    """The description: what became of the candidate, and its minibatch."""
    lines = [f"**{fate(candidate)}**", "", title]
    if found := candidate.minibatch:
        change = f"{found.parent_reward:.3f} → {found.child_reward:.3f}"
        lines += ["", f"minibatch reward {change}"]
    lines += ["", "Open `candidate.html` under Artifacts for block, differences and notes."]
    return "\n".join(lines)
