"""`heldout gate`: a finished run decided again under another rule, from its journal alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.parts import check_own_parts, rule_of
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, existing_run
from heldout.gepa.gate.decide import decide, with_use
from heldout.gepa.gate.decision import Decision
from heldout.gepa.gate.rules import Rule, all_rules
from heldout.gepa.gate.settings import GateSettings
from heldout.gepa.record.codec import plain
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.settings import RuleName, is_import_path
from heldout.gepa.statistics.judged import Judged
from heldout.gepa.statistics.measures import Measures
from heldout.gepa.word_control import word_judge
from heldout.splits.errors import BadInput


def redecide(run_dir: Path, rule: RuleName) -> dict[str, Any]:
    """What `rule` says of a run that looked at held-out; the decision of the run stays.

    `rule` is built in, or `package.module:Name`, found beside the run's campaign file, in the
    working folder or installed. Raises BadInput for a rule that is neither, and for a run without a
    held-out comparison.
    """
    files = existing_run(run_dir)
    own = _own_rule(files, rule)
    run = Run.at(files.path)
    gate, settings = run.gate, run.settings
    if gate is None or settings is None or gate.heldout is None:
        raise BadInput.one(str(run_dir), "has no held-out comparison to decide again")
    decision = _decided(run, replace(settings.gate, rule=rule), own)
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


def _decided(run: Run, settings: GateSettings, own: Rule | None) -> Decision:
    """The decision of a run under `settings`, from what stands on record."""
    gate = run.gate
    assert gate is not None
    assert gate.heldout is not None  # the caller has looked
    winner = _judged(run, Purpose.CONFIRM, gate.heldout.winner)
    decision = decide(
        winner,
        _judged(run, run.compared_baseline, gate.heldout.baseline),
        settings,
        primary=run.primary,
        planned_looks=gate.planned_looks or 1,
        seed=run.opened.seed,
        rule=own,
    )
    counts = [run.controls[split].words for split in ("accept", "heldout")]
    accept, heldout = (run.table({id_: float(n) for id_, n in of.items()}) for of in counts)
    words = word_judge(accept, heldout, settings.cap)
    return with_use(decision, winner, words, settings, seed=run.opened.seed)


def _own_rule(files: RunDirectory, name: str) -> Rule | None:
    """The rule at an import path, checked as a start checks it; None for a built-in name."""
    built_in = all_rules(0)
    if name in built_in:
        return None
    if not is_import_path(name):
        known = ", ".join(built_in)
        raise BadInput.one("--rule", f"{name} is none of {known}, nor package.module:Name")
    config = load_config(files.config, stored=True)
    gate = replace(config.gate, rule=name)
    config = config.model_copy(update={"gate": gate, "parts": config.parts or Path.cwd()})
    check_own_parts(config)
    return rule_of(config)


def _judged(run: Run, purpose: Purpose, measures: Measures) -> Judged:
    """One block's held-out tables at its frozen threshold."""
    frozen = measures.at_threshold
    found = run.judged_on_heldout(purpose, None if frozen is None else frozen.threshold)
    assert found is not None  # a run with held-out figures has their evaluations
    return found
