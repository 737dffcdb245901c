"""The table of a soak: every count with its bar, as Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import sqrt
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from scipy.stats import norm
from tests.soak.jobs import EFFECTS, Job

Results = Sequence[tuple[Job, Mapping[str, Any]]]


def write_table(results: Results, made_with: Mapping[str, Any], path: Path) -> None:
    """Write the page for `results`."""
    dirty = made_with["dirty"]
    lines = [
        "# Full counts",
        "",
        "Written by `make soak`. All models are simulated: the figures say how Heldout behaves, "
        "nothing about any language model.",
        "",
        f"Commit `{made_with['commit']}`"
        + (f" with {len(dirty)} changed path(s)" if dirty else "")
        + f", sources `{made_with['source_sha256'][:16]}`, "
        + f"Python {made_with['versions']['python']}.",
        "",
        *_emission(_of(results, "emission")),
        *_placebo(_of(results, "placebo")),
        *_determinism(_of(results, "determinism")),
        *_kills(_of(results, "kill")),
        *_guard(_of(results, "guard")),
        *_tables(_of(results, "malformed_tables")),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _of(results: Results, count: str) -> list[tuple[Job, Mapping[str, Any]]]:
    return [(job, result) for job, result in results if job.count == count]


def predicted_pass(results: Sequence[Mapping[str, Any]]) -> float | None:
    """Share of campaigns that should pass the rule, from the spread of held-out differences.

    Among campaigns that bought the look the estimates are taken as normal with their own mean and
    standard deviation; each interval's half-width stays as it was. A campaign passes the rule when
    its estimate exceeds its half-width; one that bought no look passes nothing. None with fewer
    than two looks.
    """
    gaps = [result["difference"] for result in results if result["difference"]]
    if len(gaps) < 2:
        return None
    mean, spread = fmean(g["estimate"] for g in gaps), stdev(g["estimate"] for g in gaps)
    halves = [g["estimate"] - g["low"] for g in gaps]
    if spread == 0:
        return fmean(float(mean > half) for half in halves) * len(gaps) / len(results)
    passes = fmean(float(norm.cdf((mean - half) / spread)) for half in halves)
    return passes * len(gaps) / len(results)


def _not_harmful(results: Sequence[Mapping[str, Any]]) -> float:
    """Of the campaigns that passed the rule, the share no side condition refused; 1 for none."""
    emitted = sum(result["decision"] == "emitted" for result in results)
    refused = sum(str(result["reason"]).startswith("side:") for result in results)
    return emitted / (emitted + refused) if emitted + refused else 1.0


def _emission(results: Results) -> list[str]:
    if not results:
        return []
    lines = [
        "## Emission rate of ranks_only.yaml, by simulated effect",
        "",
        "«Passed»: the rule alone; its prediction comes from the spread of held-out differences, "
        "which says nothing of side conditions. «Emitted»: the prediction takes the share that "
        "side conditions refuse as it was seen. Predictions with two binomial standard errors.",
        "",
        "| effect | passed the rule | predicted | emitted | predicted | other decisions | mean "
        "held-out difference (SD) | inventory in emitted blocks | seconds a campaign |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for effect in EFFECTS:
        found = [result for job, result in results if job.parameters["effect"] == effect]
        if found:
            lines.append(_emission_row(effect, found))
    return [*lines, ""]


def _emission_row(effect: float, found: Sequence[Mapping[str, Any]]) -> str:
    emitted = [r for r in found if r["decision"] == "emitted"]
    passed = len(emitted) + sum(str(r["reason"]).startswith("side:") for r in found)
    rate = predicted_pass(found)
    whole = None if rate is None else rate * _not_harmful(found)
    gaps = [r["difference"]["estimate"] for r in found if r["difference"]]
    others = Counter(
        f"{r['decision']} ({r['reason']})" for r in found if r["decision"] != "emitted"
    )
    wrote = sum(r["inventory"] and r["own_wording"] for r in emitted)
    gap = f"{fmean(gaps):+.3f} ({stdev(gaps):.3f})" if len(gaps) > 1 else "n/a"
    return (
        f"| {effect:g} | {_share(passed, found)} | {_expected(rate, found)} "
        f"| {_share(len(emitted), found)} | {_expected(whole, found)} "
        f"| {', '.join(f'{n} {why}' for why, n in others.items()) or 'none'} | {gap} "
        f"| {wrote} of {len(emitted)} | {fmean(r['wall_s'] for r in found):.1f} |"
    )


def _share(count: int, found: Sequence[object]) -> str:
    return f"{count} of {len(found)} = {count / len(found):.3f}"


def _expected(rate: float | None, found: Sequence[object]) -> str:
    if rate is None:
        return "n/a"
    return f"{rate:.3f} ± {2 * sqrt(rate * (1 - rate) / len(found)):.3f}"


def _placebo(results: Results) -> list[str]:
    if not results:
        return []
    looked = [result for _, result in results if result["ships"]]
    lines = [
        "## Placebo: what each rule ships when candidates differ by noise alone",
        "",
        f"{len(results)} campaigns with the pre-gate off; {len(results) - len(looked)} of them "
        "chose a seed on accept and bought no look, which counts as not shipped. The rule alone, "
        "without side conditions.",
        "",
        "| rule | shipped | rate |",
        "|---|---|---|",
    ]
    for rule in looked[0]["ships"] if looked else ():
        shipped = sum(bool(result["ships"][rule]) for result in looked)
        lines.append(f"| {rule} | {shipped} of {len(results)} | {shipped / len(results):.3f} |")
    return [*lines, ""]


def _determinism(results: Results) -> list[str]:
    if not results:
        return []
    lines = [
        "## Equal lineage whatever the concurrency, hash seed and number of BLAS threads",
        "",
        "| concurrency | PYTHONHASHSEED | BLAS threads | lineage |",
        "|---|---|---|---|",
    ]
    for job, result in results:
        p = job.parameters
        lines.append(
            f"| {p['concurrency']} | {p['hash_seed']} | {p['threads']} "
            f"| `{result['lineage_sha256'][:16]}` |"
        )
    same = len({result["lineage_sha256"] for _, result in results}) == 1
    return [*lines, "", f"All equal: {'yes' if same else 'NO'}.", ""]


def _kills(results: Results) -> list[str]:
    if not results:
        return []
    found = [result for _, result in results]
    return [
        "## SIGKILL at random points",
        "",
        "| kills | stored calls at the kill | same lineage | stored calls asked again "
        "| most calls asked twice (in flight allowed) |",
        "|---|---|---|---|---|",
        f"| {len(found)} | {min(r['stored_at_kill'] for r in found)} to "
        f"{max(r['stored_at_kill'] for r in found)} "
        f"| {sum(r['same_lineage'] for r in found)} of {len(found)} "
        f"| {sum(r['stored_asked_again'] for r in found)} "
        f"| {max(r['asked_twice'] for r in found)} ({found[0]['in_flight_allowed']}) |",
        "",
    ]


def _guard(results: Results) -> list[str]:
    if not results:
        return []
    found = [result for _, result in results]
    blocks, anew = (sum(r[name] for r in found) for name in ("blocks", "anew"))
    return [
        "## Blocks that the guard rejects although no leak was planted",
        "",
        "«Copied»: a run of eight words. «Anew»: short pieces of one consultation that add up, or "
        "an identifier of one.",
        "",
        "| shipped configuration | seed | blocks proposed | copied | anew |",
        "|---|---|---|---|---|",
        *(
            f"| {job.parameters['config']} | {job.parameters['seed']} | {r['blocks']} "
            f"| {r['copied']} | {r['anew']} |"
            for job, r in results
        ),
        "",
        f"Rejected anew: {anew} of {blocks} = {anew / max(1, blocks):.3f}.",
        "",
    ]


def _tables(results: Results) -> list[str]:
    if not results:
        return []
    found = [result for _, result in results]
    kinds = {kind for result in found for kind in result["kinds"]}
    wrong = [line for result in found for line in result["wrong"]]
    return [
        "## Malformed tables",
        "",
        "Each is refused with a fault that names the file, or its rows hold their own text only "
        "and none is missing.",
        "",
        "| tables | kinds | refused | read | claims that did not hold |",
        "|---|---|---|---|---|",
        f"| {sum(r['tables'] for r in found)} | {len(kinds)} | {sum(r['refused'] for r in found)} "
        f"| {sum(r['tables'] - r['refused'] for r in found)} | {len(wrong)} |",
        "",
        *wrong[:10],
    ]
