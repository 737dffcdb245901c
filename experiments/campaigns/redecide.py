"""`heldout gate`: a finished run decided again under another rule, from its journal alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from heldout.experiments.campaigns.parts import check_own_parts, rule_of
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import RunDirectory, existing_run, read_family
from heldout.gepa.gate.decide import decide, decide_family, not_confirmed
from heldout.gepa.gate.decision import Decision
from heldout.gepa.gate.outcome import overruled
from heldout.gepa.gate.rules import Rule, all_rules
from heldout.gepa.gate.settings import GateSettings, primary_pairs
from heldout.gepa.record.codec import plain
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run, load_run
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
    decision = _final(files, run, replace(settings.gate, rule=rule), own)
    because = f" ({decision.reason})" if decision.reason else ""
    return {
        **plain(decision),
        "emits": False,
        "simulated": run.opened.simulated,
        "run_decision": {"rule": gate.rule, "decision": gate.decision, "reason": gate.reason},
        "sentences": [
            f"{rule} would say: {decision.decision}{because}; "
            f"the run decided by {gate.rule}: {gate.decision}",
            decision.sentence,
            *decision.sentences,
            "nothing is emitted by deciding again",
            *([run.simulated_words] if run.simulated_words else []),
        ],
    }


def _final(files: RunDirectory, run: Run, settings: GateSettings, own: Rule | None) -> Decision:
    """The decision of a run under `settings` as a campaign takes it: in its family, and with what
    lies outside the figures.
    """
    gate, partition, name = run.gate, run.partition, run.opened.name
    assert gate is not None
    assert gate.heldout is not None  # the caller has looked
    assert partition is not None
    members = _members(files, run)
    decisions = {each.opened.name: _decided(each, settings, own) for each in members}
    decided = decide_family(decisions) if len(members) > 1 else decisions
    return overruled(
        decided[name],
        drift=gate.drift,
        exploratory=gate.heldout.exploratory,
        clean_means=partition.benchmark.clean_means,
    )


def _members(files: RunDirectory, run: Run) -> list[Run]:
    """The runs that are decided together with `run`, itself among them.

    Raises BadInput where one of them is not there or not decided yet.
    """
    declared = run.opened.family
    if declared is None or len(declared.targets) < 2:
        return [run]
    if files.shared is None:
        message = "was decided in a family: the other campaigns and family.json must lie beside it"
        raise BadInput.one(str(files.path), message)
    found = []
    for name in read_family(files.shared).members:
        member = load_run(files.shared / name)
        if member.gate is None:
            raise BadInput.one(str(files.shared / name), "is of the same family and not decided")
        found.append(member)
    return found


def _decided(run: Run, settings: GateSettings, own: Rule | None) -> Decision:
    """The decision of a run by itself, from what stands on record."""
    gate = run.gate
    assert gate is not None
    if gate.heldout is None:
        return not_confirmed(gate.reason or "", settings)
    counts = [run.controls[split].words for split in ("accept", "heldout")]
    accept, heldout = (run.table({id_: float(n) for id_, n in of.items()}) for of in counts)
    return decide(
        _judged(run, Purpose.CONFIRM, gate.heldout.winner),
        _judged(run, run.compared_baseline, gate.heldout.baseline),
        settings,
        primary=run.primary,
        planned_looks=gate.planned_looks or 1,
        seed=run.opened.seed,
        rule=own,
        words=word_judge(accept, heldout, settings.cap, primary_pairs(run.primary)),
    )


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
