"""The plan of a run: what it will do and at most cost, before anything is bought."""

from __future__ import annotations

from typing import Any

from heldout.experiments.analysis.power_campaign import (
    acceptance_sentence,
    replicates_sentence,
    short_form,
)
from heldout.experiments.campaigns.estimates import estimate, estimate_text
from heldout.experiments.campaigns.examination import Checked
from heldout.experiments.campaigns.parts import minibatch_of
from heldout.gepa.record.codec import plain
from heldout.gepa.settings import freezes_again


def plan(checked: Checked) -> dict[str, Any]:
    """Sizes of the splits and the largest number of judgements of each phase."""
    config, partition = checked.config, checked.partition
    loaded = checked.made.benchmark if checked.made else checked.load().benchmark
    notes = {
        name: sum(len(loaded.by_id[i].notes) for i in ids) for name, ids in partition.splits.items()
    }
    s, c = config.search, config.confirm
    batch = minibatch_of(config).largest
    held = notes["heldout"] * c.samples * c.replicates
    judgements = {
        "baseline": held,
        "seeds": len(config.seeds) * notes["accept"] * s.samples,
        "search": s.iterations * (2 * batch + notes["accept"]) * s.samples
        + s.max_merges * batch * s.samples,
        "threshold": 2 * notes["accept"] * c.samples * c.replicates if freezes_again(s, c) else 0,
        "confirm": 2 * held,
    }
    resolved, estimated = short_form(checked), estimate(checked, loaded)
    repeating = replicates_sentence(checked, estimated["more_for_replicates"])
    if s.max_judgements is not None:
        judgements["search"] = min(judgements["search"], s.max_judgements)
    return {
        "name": config.name,
        "seed": config.seed,
        "student": {"design": config.student.design, "model": checked.student.pin.id},
        "reflector": {"model": checked.reflector.pin.id},
        "simulated": checked.simulated,
        "simulated_models": checked.simulated_words,
        "consultations": {name: len(ids) for name, ids in partition.splits.items()},
        "notes": notes,
        "planned_looks": partition.planned_looks,
        "at_most": {
            "judgements": judgements,
            "reflections": 2 * s.iterations,
            "confirmation": {
                "calls": checked.confirmation.calls,
                "tokens": checked.confirmation.tokens,
                "usd": checked.confirmation.usd if checked.student.pin.priced else None,
            },
        },
        "estimate": estimated,
        "power": plain(resolved),
        "power_in_words": [
            *resolved.sentences,
            acceptance_sentence(checked),
            *([] if repeating is None else [repeating]),
        ],
        "warnings": [*partition.warnings, *resolved.warnings],
        "notices": list(checked.notices),
    }


def plan_text(planned: dict[str, Any]) -> str:
    """The plan for a person."""
    most = planned["at_most"]
    held = most["confirmation"]
    usd = "unknown price" if held["usd"] is None else f"USD {held['usd']:.2f}"
    lines = [
        f"{planned['name']} (seed {planned['seed']}): {planned['student']['design']} judge on "
        f"{planned['student']['model']}, reflector {planned['reflector']['model']}",
        "consultations: " + _counts(planned["consultations"]),
        "notes:         " + _counts(planned["notes"]),
        "judgements, at most: " + _counts(most["judgements"]),
        f"held for the confirmation: {held['calls']} calls, {held['tokens']} tokens, {usd}",
        *estimate_text(planned["estimate"]),
        f"planned looks at held-out: {planned['planned_looks']}",
        *planned["power_in_words"],
        *(f"warning: {line}" for line in planned["warnings"]),
        *planned["notices"],
        *([planned["simulated_models"]] if planned["simulated_models"] else []),
        "nothing was written (dry run)",
    ]
    return "\n".join(lines)


def _counts(values: dict[str, int]) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())
