"""The emitted prompt as a version in the registry: only after an emission event, and only once."""

from __future__ import annotations

import json
import re
from pathlib import Path

from heldout.experiments.report.decision import headline
from heldout.experiments.report.text import TextPolicy
from heldout.experiments.report.view import RunView
from heldout.experiments.tracking.content import CAMPAIGN, TAG, PromptContent
from heldout.experiments.tracking.projection import Projection
from heldout.gepa.record.events import EventKind
from heldout.splits.hashing import sha256_text

EMITTED = "emitted"
"""Alias of the newest emission of a campaign name."""
LINKED = "mlflow.linkedPrompts"
"""Run tag that MLflow shows as the prompts of a run."""


def register(
    projection: Projection, run_dir: Path, view: RunView, policy: TextPolicy
) -> str | None:
    """Register what the run has emitted, unless it is there; `prompts:/name/version` or None.

    Nothing is registered without an emission event, where the file no longer has the recorded
    hash, where the policy lets no text out, or where a reviewer deleted the winner's run.
    """
    content = None if policy is TextPolicy.NONE else prompt_content(run_dir, view)
    winner = view.winner
    if content is None or winner is None or projection.abandoned:
        return None
    run = projection.known.get(winner["id"])
    if run is None or run.deleted:
        return None
    version = projection.door.prompt_version(content.name, content.identity)
    if version is None:
        version = projection.door.register_prompt(content)
        projection.door.point_aliases(content, version)
        projection.counts.prompt_versions += 1
    # The client's own call for this looks the run up in a store of the process, not in ours.
    link = json.dumps([{"name": content.name, "version": str(version)}])
    projection.tag(winner["id"], LINKED, link)
    projection.tag(CAMPAIGN, LINKED, link)
    return f"prompts:/{content.name}/{version}"


def prompt_content(run_dir: Path, view: RunView) -> PromptContent | None:
    """The version for a run's emission; None where there is none that holds."""
    emission, winner = view.last(EventKind.EMISSION), view.winner
    if emission is None or winner is None:
        return None
    path = run_dir / emission["prompt_file"]
    text = path.read_bytes().decode("utf-8") if path.is_file() else ""
    if sha256_text(text) != emission["prompt_sha256"]:
        return None
    gate = view.last(EventKind.GATE) or {}
    identity = {f"{TAG}run_id": view.run_id, f"{TAG}prompt_sha256": emission["prompt_sha256"]}
    facts = {
        "candidate_id": winner["id"],
        "block_sha256": winner["sha256"],
        "frame_sha256": view.settings["frame_sha256"],
        "card_sha256": emission["card_sha256"],
        "decision": gate["decision"],
        "rule": gate["rule"],
        "looks": str(gate["heldout"]["looks"]),
        "lineage_sha256": view.lineage_sha256,
        "simulated": "yes" if view.simulated else "no",
    }
    return PromptContent(
        name=prompt_name(view.name),
        text=text,
        summary=headline(view),
        identity=identity,
        tags={**identity, **{f"{TAG}{key}": value for key, value in facts.items()}},
        aliases=(EMITTED, f"run-{view.run_id.rpartition('-')[2].lower()}"),
    )


def prompt_name(campaign: str) -> str:
    """A name the registry takes: letters, digits, dots, dashes and underscores."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", campaign)
