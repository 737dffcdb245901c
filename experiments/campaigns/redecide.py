"""`heldout gate`: a finished run decided again under another rule, from its journal alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.experiments.runs.run_directory import existing_run
from heldout.gepa.gate.decide import decide
from heldout.gepa.record.codec import plain
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.settings import RuleName
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures
from heldout.splits.errors import BadInput


def redecide(run_dir: Path, rule: RuleName) -> dict[str, Any]:
    """What `rule` says of a run that looked at held-out; the decision of the run stays.

    Raises BadInput for a run without a held-out comparison.
    """
    run = Run.at(existing_run(run_dir).path)
    gate, settings = run.gate, run.settings
    if gate is None or settings is None or gate.heldout is None:
        raise BadInput.one(str(run_dir), "has no held-out comparison to decide again")
    decision = decide(
        _judged(run, Purpose.CONFIRM, gate.heldout.winner),
        _judged(run, Purpose.BASELINE, gate.heldout.baseline),
        replace(settings.gate, rule=rule),
        primary=run.primary,
        planned_looks=gate.planned_looks or 1,
        seed=run.opened.seed,
    )
    because = f" ({decision.reason})" if decision.reason else ""
    return {
        **plain(decision),
        "emits": False,
        "simulated": run.opened.simulated,
        "run_decision": {"rule": gate.rule, "decision": gate.decision},
        "sentences": [
            f"{rule} would say: {decision.decision}{because}; "
            f"the run decided by {gate.rule}: {gate.decision}",
            *decision.sentences,
            "nothing is emitted by deciding again",
            *([run.simulated_words] if run.simulated_words else []),
        ],
    }


def _judged(run: Run, purpose: Purpose, measures: Measures) -> Judged:
    """One block's held-out tables at its frozen threshold."""
    frozen = measures.at_threshold
    found = run.judged_on_heldout(purpose, None if frozen is None else frozen.threshold)
    assert found is not None  # a run with held-out figures has their evaluations
    return found
