"""The counts of `docs/reliability.md`: campaigns over a network that misbehaves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.soak.jobs import NETWORKED, Job

MARK = "<!-- What follows is written by `make soak`. -->"
Found = Sequence[Mapping[str, Any]]


def write_counts(
    results: Sequence[tuple[Job, Mapping[str, Any]]], made_with: Mapping[str, Any], page: Path
) -> None:
    """Replace what stands below the mark in `page`; nothing is written without results."""
    found = {
        count: [result for job, result in results if job.count == count] for count in NETWORKED
    }
    if not any(found.values()):
        return
    head = page.read_text(encoding="utf-8").partition(MARK)[0]
    lines = [
        MARK,
        "",
        f"Commit `{made_with['commit']}`, sources `{made_with['source_sha256'][:16]}`. "
        "Judge and reflector behind the server are simulated.",
        "",
        *_faults(found["network_faults"], "Misbehaving against well-behaved server"),
        *_faults(found["network_odd"], "A tenth of the replies of odd shapes, either door"),
        *_odd(found["odd_replies"]),
        *_memory(found["odd_memory"]),
        *_kills(found["network_kill"]),
        *_outages(found["network_outage"]),
        *_caps(found["network_cap"]),
        *_walls(found["network_wall"]),
    ]
    page.write_text(head + "\n".join(lines).rstrip() + "\n", encoding="utf-8")


def _faults(found: Found, title: str) -> list[str]:
    if not found:
        return []
    at_server: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for result in found:
        at_server.update(result["faults_at_server"])
        told.update(result["faults_told"])
    return [
        f"### {title}",
        "",
        "| campaigns | same lineage | requests needed | sent | beyond need | faults at the server "
        "| faults told in the report |",
        "|---|---|---|---|---|---|---|",
        f"| {len(found)} | {_count(found, 'same_lineage')} | {_sum(found, 'needed')} "
        f"| {_sum(found, 'sent')} | {_sum(found, 'beyond_need')} | {at_server.total()} "
        f"| {told.total()} |",
        "",
        "By kind, at the server: " + _kinds(at_server) + ".",
        "",
        "By kind, as told: " + _kinds(told) + ".",
        "",
    ]


def _odd(found: Found) -> list[str]:
    if not found:
        return []
    kinds: Counter[str] = Counter()
    for result in found:
        kinds.update(result["kinds"])
    return [
        "### Bodies and headers drawn at random",
        "",
        "| answers | another exception, or another meaning on the other door |",
        "|---|---|",
        f"| {_sum(found, 'answers')} | {sum(len(result['wrong']) for result in found)} |",
        "",
        "What they were: " + _kinds(kinds) + ".",
        "",
    ]


def _memory(found: Found) -> list[str]:
    if not found:
        return []
    rows = [
        f"| {r['door']} | {r['with']['endless']} | {r['with']['exit_status']} "
        f"| {r['without']['peak'] / 1e6:.0f} | {r['with']['peak'] / 1e6:.0f} |"
        for r in found
    ]
    return [
        "### Bodies of 100 MB and gzip bombs of a gigabyte",
        "",
        "| door | sent | exit status | peak of `heldout apply` without them, MB | with them |",
        "|---|---|---|---|---|",
        *rows,
        "",
    ]


def _kills(found: Found) -> list[str]:
    if not found:
        return []
    stored = [result["stored_at_kill"] for result in found]
    return [
        "### SIGKILL at random points of a networked campaign",
        "",
        "| kills | stored calls at the kill | same lineage | most calls sent twice (in flight "
        "allowed) | sent twice in all | told as perhaps sent twice |",
        "|---|---|---|---|---|---|",
        f"| {len(found)} | {min(stored)} to {max(stored)} | {_count(found, 'same_lineage')} "
        f"| {max(r['sent_twice'] for r in found)} ({found[0]['in_flight_allowed']}) "
        f"| {_sum(found, 'sent_twice')} | {_sum(found, 'told_maybe_twice')} |",
        "",
    ]


def _outages(found: Found) -> list[str]:
    if not found:
        return []
    statuses = sorted({result["exit_status"] for result in found})
    return [
        "### Everything fails from a random moment on",
        "",
        "| outages | exit status | calls stored that the server never answered | requests sent "
        "while it was down, at most | same lineage once it is back |",
        "|---|---|---|---|---|",
        f"| {len(found)} | {', '.join(map(str, statuses))} "
        f"| {_sum(found, 'stored_beyond_answered')} "
        f"| {max(r['requests_while_down'] for r in found)} | {_count(found, 'same_lineage')} |",
        "",
    ]


def _caps(found: Found) -> list[str]:
    if not found:
        return []
    statuses = sorted({result["exit_status"] for result in found})
    return [
        "### Hard caps under faults",
        "",
        "| campaigns with a cap of calls | exit status | answered beyond the cap, at most "
        "(in flight allowed) |",
        "|---|---|---|",
        f"| {len(found)} | {', '.join(map(str, statuses))} "
        f"| {max(r['overshoot'] for r in found)} ({found[0]['in_flight_allowed']}) |",
        "",
    ]


def _walls(found: Found) -> list[str]:
    if not found:
        return []
    lines = [
        "### `budget.wall_s` while the server keeps the run waiting",
        "",
        "| the server | campaigns | exit status | seconds beyond the cap, at most "
        "| calls in flight abandoned, at most | finished when resumed |",
        "|---|---|---|---|---|---|",
    ]
    for way in dict.fromkeys(result["way"] for result in found):
        some = [result for result in found if result["way"] == way]
        statuses = sorted({result["exit_status"] for result in some})
        finished = sum(result["resumed_to"] == 0 for result in some)
        lines.append(
            f"| {way} | {len(some)} | {', '.join(map(str, statuses))} "
            f"| {max(r['overshoot_s'] for r in some):.2f} "
            f"| {max(r['abandoned'] for r in some)} | {finished} of {len(some)} |"
        )
    return [*lines, ""]


def _count(found: Found, name: str) -> str:
    return f"{sum(bool(result[name]) for result in found)} of {len(found)}"


def _sum(found: Found, name: str) -> int:
    return sum(int(result[name]) for result in found)


def _kinds(counted: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {counted[kind]}" for kind in sorted(counted)) or "none"
