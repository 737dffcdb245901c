"""What a run asked of models, fault by fault: on record and in words."""

from __future__ import annotations

from heldout.experiments.campaigns.starvation import all_replies, starvation_lines
from heldout.gepa.campaign import Campaign
from heldout.gepa.record.remarks import CallsEvent
from heldout.splits.counted import counted
from heldout.splits.errors import may_be_twice
from heldout.students.calls.caller import Caller
from heldout.students.calls.store_rows import replies_sha256


def calls_event(caller: Caller, campaign: Campaign) -> CallsEvent:
    """The remark of one session; its replies are those of the whole run."""
    counts, stored = caller.counts, list(caller.store.calls())
    return CallsEvent(
        requests=counts.requests,
        answered=counts.made,
        from_store=counts.from_store,
        faults=dict(sorted(counts.faults.items())),
        maybe_twice=tuple(left.call for left in caller.store.unfinished),
        abandoned=tuple(counts.abandoned),
        replies=all_replies(campaign, caller.store),
        stored=len(stored),
        stored_sha256=replies_sha256(stored),
        estimated=caller.ledger.totals.estimated or None,
    )


def estimated_line(calls: int) -> str:
    """What is to be known of totals in which the tokens of some calls were counted here."""
    many = counted(calls, "call")
    return f"the tokens of {many} are estimated, and so is the cost: the endpoint counts none"


def calls_lines(calls: CallsEvent) -> list[str]:
    """What is worth telling: faults, and what may be bought twice; nothing if all was well."""
    lines = []
    if calls.faults:
        told = ", ".join(f"{kind} {count}" for kind, count in calls.faults.items())
        lines.append(
            f"{counted(calls.requests, 'request')}, {sum(calls.faults.values())} failed ({told})"
        )
    if calls.estimated:
        lines.append(estimated_line(calls.estimated))
    twice = calls.maybe_twice
    if twice:
        lines.append(f"{len(twice)} in flight at a kill, perhaps sent twice: {'; '.join(twice)}")
    if calls.abandoned:
        lines.append(f"{may_be_twice(len(calls.abandoned))}: {'; '.join(calls.abandoned)}")
    return [*lines, *starvation_lines(calls.replies)]
