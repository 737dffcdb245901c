"""What a run asked of models, fault by fault: on record, in the JSON object, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from heldout.experiments.campaigns.starvation import replies_body, starvation_lines
from heldout.gepa.campaign import Campaign
from heldout.gepa.record.events import EventKind
from heldout.gepa.record.run import Record
from heldout.students.calls.caller import Caller

Json = dict[str, Any]


def calls_body(caller: Caller, campaign: Campaign) -> Json:
    """The remark of one session.

    `maybe_twice` are the calls in flight when the last session died; `replies` is what the replies
    of the whole run took.
    """
    counts = caller.counts
    return {
        "requests": counts.requests,
        "answered": counts.made,
        "from_store": counts.from_store,
        "faults": dict(sorted(counts.faults.items())),
        "maybe_twice": [left.call for left in caller.store.unfinished],
        "replies": replies_body(campaign, caller.store),
    }


def calls_of(record: Record) -> Json:
    """The sum over the sessions of a run that came to an orderly end."""
    total: Json = {"requests": 0, "answered": 0, "from_store": 0, "maybe_twice": []}
    faults: Counter[str] = Counter()
    for body in record.bodies(EventKind.CALLS):
        for name in ("requests", "answered", "from_store", "maybe_twice"):
            total[name] = total[name] + body[name]
        faults.update(body["faults"])
    last = record.last(EventKind.CALLS)
    replies = last["replies"] if last else {"stages": {}, "blocks": []}
    return {**total, "faults": dict(sorted(faults.items())), "replies": replies}


def calls_lines(calls: Mapping[str, Any]) -> list[str]:
    """What is worth telling: faults, and what may be bought twice; nothing if all was well."""
    lines = []
    faults = calls["faults"]
    if faults:
        told = ", ".join(f"{kind} {count}" for kind, count in faults.items())
        lines.append(f"{calls['requests']} requests, {sum(faults.values())} failed ({told})")
    twice = calls["maybe_twice"]
    if twice:
        lines.append(f"{len(twice)} in flight at a kill, perhaps sent twice: {'; '.join(twice)}")
    return [*lines, *starvation_lines(calls["replies"])]
