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
    shop: DesignContext, design: str, frame: str, contract: Contract, rule: FlagRule | None
) -> WholeNoteJudge:
    """One question in the frame called `frame`."""
    return WholeNoteJudge(
        load_frame(frame),
        shop.roles.judge,
        shop.caller,
        shop.run_seed,
        contract=contract,
        rule=rule,
        occasion=shop.occasion,
        design=design,
    )


def whole_note(shop: DesignContext) -> Student:
    """Faithfulness and completeness in one score; flagged at 7 or less."""
    return question(shop, "whole_note", "whole_note", ScoreContract(), SEVEN_OR_LESS)


def fact_list(shop: DesignContext) -> Student:
    """The whole-note judge with the audited facts in its prompt and one open score."""
    asked = question(shop, "fact_list", "fact_list", ScoreContract(), SEVEN_OR_LESS)
    return FactListJudge(asked, shop.audited())


def yes_no(shop: DesignContext, design: str) -> WholeNoteJudge:
    """Does the note meet the criterion? No is a fail."""
    return question(shop, design, "criterion_yes_no", YesNoContract(), AtMost(5.0))


def yes_no_repeated(shop: DesignContext, design: str) -> Student:
    """Eight answers encoded 10 and 0; flagged at a winsorised mean of 5 or less."""
    return Sampled(yes_no(shop, design), SAMPLES, AtMost(5.0), design)


def score(shop: DesignContext, design: str) -> WholeNoteJudge:
    """How far does the note meet the criterion? Flagged at 7 or less."""
    return question(shop, design, "criterion_score", ScoreContract(), SEVEN_OR_LESS)


def score_repeated(shop: DesignContext, design: str) -> Student:
    """Eight scores; flagged at a winsorised mean below 8."""
    return Sampled(score(shop, design), SAMPLES, Below(8.0), design)


def faithfulness(shop: DesignContext, design: str) -> Student:
    """The production-style judge: item by item, one verdict line."""
    return question(shop, design, "verdict_line", VerdictLineContract(), AtMost(0.0))


def engineered(shop: DesignContext) -> Student:
    """A severity procedure with eight worked examples; flagged if a critical gap is listed."""
    return question(shop, "engineered", "gap_list", GapListContract(), AnyListed())


def geval(shop: DesignContext, design: str) -> Student:
    """Criterion and steps, a mark from 1 to 5; no rule of its own."""
    return question(shop, design, "scale_1_to_5", ScoreContract(1.0, 5.0), None)
