"""From what a campaign found to the body of its gate event and to the card of its prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import fisher_exact

from heldout.gepa.candidates import Candidate
from heldout.gepa.confirmation import Confirmation, Side
from heldout.gepa.gate.decide import Decision
from heldout.gepa.gate.settings import GateSettings
from heldout.gepa.record.events import FinishReason
from heldout.gepa.spending import Spent
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import judged_json
from heldout.splits.benchmark import CleanMeans

SIDES = ("detection", "false_alarms")


@dataclass(frozen=True)
class Sides:
    """Winner and baseline on the same notes, each at its own threshold frozen on accept."""

    winner: Judged
    baseline: Judged


@dataclass(frozen=True)
class HeldOut:
    """What the held-out look brought."""

    confirmation: Confirmation
    baseline: Side
    sides: Sides


@dataclass(frozen=True)
class Explored:
    """A campaign up to its held-out figures.

    Either `refusal` says why no look was bought (`seed_won`, `pre_gate`), or `found` and
    `decision` hold the figures and what the gate makes of them.
    """

    winner: Candidate
    reason: FinishReason
    refusal: str | None = None
    found: HeldOut | None = None
    decision: Decision | None = None

    def decided(self, decision: Decision) -> Explored:
        """The same findings under a decision adjusted within a family of targets."""
        return replace(self, decision=decision)


@dataclass(frozen=True, slots=True)
class Setting:
    """What the figures have to be read beside.

    `word_count`: paired omissions on held-out of a judge that counts words. `clean_means`: what
    the benchmark promises of its clean notes. `simulated`: a model was a simulated one.
    """

    word_count: float | None
    clean_means: CleanMeans
    simulated: bool


def gate_body(explored: Explored, settings: GateSettings, setting: Setting) -> dict[str, Any]:
    """The gate event: the decision, every figure behind it, and what stands against it."""
    body = _figures(explored, settings)
    if setting.clean_means is CleanMeans.UNEDITED:
        body = _reworded(body)
    return {
        **body,
        "word_count": setting.word_count,
        "caveats": _caveats(body, setting),
        "simulated": setting.simulated,
    }


def _figures(explored: Explored, settings: GateSettings) -> dict[str, Any]:
    found = explored.found
    if found is None or explored.decision is None:
        return {
            "decision": "not_confirmed",
            "reason": explored.refusal,
            "rule": settings.rule,
            "difference": None,
            "heldout": None,
        }
    confirmation = found.confirmation
    return {
        **_overruled(explored.decision, confirmation).to_json(),
        "heldout": {
            "baseline": measures_of(found.sides.baseline, found.baseline.flags, settings.cap),
            "winner": measures_of(found.sides.winner, confirmation.winner.flags, settings.cap),
            "looks": confirmation.looks,
            "exploratory": confirmation.exploratory,
        },
        "drift": confirmation.drift,
    }


def _reworded(body: dict[str, Any]) -> dict[str, Any]:
    """The gate's sentences on a benchmark whose clean notes nobody verified.

    A flag on such a note may be right, so it is not called a false alarm.
    """
    if body["heldout"] is None:
        return body
    old, new = "false alarms", "flags on unedited notes"
    sides = [{**s, "sentence": s["sentence"].replace(old, new)} for s in body["sides"]]
    told = [sentence.replace(old, new) for sentence in body["sentences"]]
    return {**body, "sides": sides, "sentences": told}


def _caveats(body: Mapping[str, Any], setting: Setting) -> list[str]:
    """What the held-out figures of the winner do not show, from the figures themselves."""
    if body["heldout"] is None:
        return []
    winner, lines = body["heldout"]["winner"], []
    paired, words = winner["paired_omissions"], setting.word_count
    if paired is not None and words is not None and words >= paired:
        lines.append(
            f"counting words orders {words:.3f} of the held-out omissions rightly, the winner "
            f"{paired:.3f}: these pairs alone do not show that it reads"
        )
    for name, rule in (("its frozen threshold", "at_threshold"), ("its design's rule", "at_rule")):
        at = winner[rule]
        if at is not None and not _separates(at):
            found, flagged = at["detection"], at["false_alarms"]
            lines.append(
                f"at {name} the winner flags {found['k']} of {found['n']} omissions and "
                f"{flagged['k']} of {flagged['n']} clean notes: it tells the two hardly apart there"
            )
    return lines


def _separates(at: Mapping[str, Any]) -> bool:
    """True if detection exceeds flags on clean notes by more than chance would make it."""
    table = np.array([[at[side]["k"], at[side]["n"] - at[side]["k"]] for side in SIDES])
    rates = [at[side]["k"] / at[side]["n"] if at[side]["n"] else 0.0 for side in SIDES]
    return rates[0] > rates[1] and bool(fisher_exact(table, alternative="greater").pvalue < 0.05)


def measures_of(
    judged: Judged, flags: tuple[Mapping[str, bool], ...] | None, cap: float
) -> dict[str, Any]:
    """Measures at the frozen threshold, with the design's own rule beside it where it has one."""
    by_rule = judged_json(Judged(judged.tables, flags), cap=cap)
    return {**judged_json(judged, cap=cap), "at_rule": by_rule["at_rule"]}


def card_body(
    decision: Mapping[str, Any],
    *,
    accept: Mapping[str, Any],
    run: Mapping[str, Any],
    spent: Spent,
    caveats: Sequence[str],
) -> dict[str, Any]:
    """The card: `run` (hashes, models, budget), threshold, figures, looks, cost, caveats."""
    heldout = decision["heldout"]
    frozen = heldout["winner"]["at_threshold"]
    unseen = [side["sentence"] for side in decision["sides"] if side["state"] == "not_resolvable"]
    return {
        **run,
        "threshold": {
            "rule": "flag a note whose score is below the value; frozen on accept",
            "value": frozen["threshold"],
            "heldout": {key: frozen[key] for key in ("detection", "false_alarms")},
        },
        "accept": accept,
        "heldout": heldout,
        "gate": {key: decision[key] for key in ("rule", "alpha", "margin", "decision")},
        "difference": decision["difference"],
        "looks": heldout["looks"],
        "spent": spent.body(),
        "does_not_show": [*caveats, *decision["caveats"], *unseen],
    }


def _overruled(decision: Decision, confirmation: Confirmation) -> Decision:
    """A drifted or exploratory confirmation never emits, whatever the figures."""
    if confirmation.drift is not None and confirmation.drift["refuses"]:
        return decision.refused("drift")
    return decision.refused("exploratory") if confirmation.exploratory else decision
