"""Designs that put one question: the ablation grid and the reference judges."""

from __future__ import annotations

from heldout.students.answer_forms import GapListContract, VerdictLineContract, YesNoContract
from heldout.students.contracts import Contract, ScoreContract
from heldout.students.designs.context import DesignContext
from heldout.students.designs.whole_note import (
    SEVEN_OR_LESS,
    FactListJudge,
    Sampled,
    WholeNoteJudge,
)
from heldout.students.flag_rules import AnyListed, AtMost, Below, FlagRule
from heldout.students.frames import load_frame
from heldout.students.student import Student

SAMPLES = 8
"""Samples of the repeated ablation designs."""


def question(
    context: DesignContext, design: str, frame: str, contract: Contract, rule: FlagRule | None
) -> WholeNoteJudge:
    """One question in the frame called `frame`."""
    return WholeNoteJudge(
        load_frame(frame),
        context.roles.judge,
        context.caller,
        context.run_seed,
        contract=contract,
        rule=rule,
        occasion=context.occasion,
        design=design,
    )


def whole_note(context: DesignContext) -> Student:
    """Faithfulness and completeness in one score; flagged at 7 or less."""
    return question(context, "whole_note", "whole_note", ScoreContract(), SEVEN_OR_LESS)


def fact_list(context: DesignContext) -> Student:
    """The whole-note judge with the audited facts in its prompt and one open score."""
    asked = question(context, "fact_list", "fact_list", ScoreContract(), SEVEN_OR_LESS)
    return FactListJudge(asked, context.audited())


def yes_no(context: DesignContext, design: str) -> WholeNoteJudge:
    """Does the note meet the criterion? No is a fail."""
    return question(context, design, "criterion_yes_no", YesNoContract(), AtMost(5.0))


def yes_no_repeated(context: DesignContext, design: str) -> Student:
    """Eight answers encoded 10 and 0; flagged at a winsorised mean of 5 or less."""
    return Sampled(yes_no(context, design), SAMPLES, AtMost(5.0), design)


def score(context: DesignContext, design: str) -> WholeNoteJudge:
    """How far does the note meet the criterion? Flagged at 7 or less."""
    return question(context, design, "criterion_score", ScoreContract(), SEVEN_OR_LESS)


def score_repeated(context: DesignContext, design: str) -> Student:
    """Eight scores; flagged at a winsorised mean below 8."""
    return Sampled(score(context, design), SAMPLES, Below(8.0), design)


def faithfulness(context: DesignContext, design: str) -> Student:
    """The production-style judge: item by item, one verdict line."""
    return question(context, design, "verdict_line", VerdictLineContract(), AtMost(0.0))


def engineered(context: DesignContext) -> Student:
    """A severity procedure with eight worked examples; flagged if a critical gap is listed."""
    return question(context, "engineered", "gap_list", GapListContract(), AnyListed())


def geval(context: DesignContext, design: str) -> Student:
    """Criterion and steps, a mark from 1 to 5; no rule of its own."""
    return question(context, design, "scale_1_to_5", ScoreContract(1.0, 5.0), None)
