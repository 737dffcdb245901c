"""Designs that check a note fact by fact: pipelines, checklist, coverage, and the union."""

from __future__ import annotations

from dataclasses import replace

from heldout.students.designs.capture import ANSWERED, PLACED, TRICHOTOMY, CaptureScale, PerFactRule
from heldout.students.designs.checker import PerFactChecker
from heldout.students.designs.combined import Coverage, StatementCheck, Union
from heldout.students.designs.context import DesignContext
from heldout.students.designs.facts import FactSource
from heldout.students.designs.single import whole_note
from heldout.students.frames import load_block, load_frame
from heldout.students.student import Student

CRITICAL = PerFactRule()
WIDENED = PerFactRule(("critical", "supporting"))
ANY_FACT = PerFactRule(None)


def checker(context: DesignContext, design: str, frame: str, source: FactSource) -> PerFactChecker:
    """The keyed check of the facts of `source`."""
    return PerFactChecker(
        load_frame(frame),
        context.roles.judge,
        context.caller,
        context.run_seed,
        source,
        occasion=context.occasion,
        design=design,
    )


def two_stage(context: DesignContext) -> Student:
    """Extraction and check; score the share present, no rule of its own."""
    return checker(context, "per_fact_checker", "check", context.extraction())


def three_stage(
    context: DesignContext, design: str = "three_stage", rule: PerFactRule = CRITICAL
) -> PerFactChecker:
    """Extraction, audit, graded check and second look; flagged by the per-fact rule."""
    graded = checker(context, design, "check_graded", context.audited())
    return replace(graded, scale=TRICHOTOMY, second_look=context.second_look(), rule=rule)


def three_stage_widened(context: DesignContext) -> Student:
    """The same verdicts with the rule widened to supporting facts."""
    return three_stage(context, "three_stage_widened", WIDENED)


def checklist(context: DesignContext) -> Student:
    """About 25 items from the transcript, answered one by one."""
    return _scaled(checker(context, "checklist", "check_items", context.checklist()), ANSWERED)


def coverage(context: DesignContext) -> Student:
    """Unaudited statements and their coverage, with the faithfulness of the note's own."""
    wide = checker(context, "coverage", "check", context.extraction("extract_wide"))
    statements = StatementCheck(
        load_frame("statements"), load_block("statements"), context.requests(context.roles.judge)
    )
    return Coverage(replace(wide, rule=ANY_FACT), statements)


def section_coverage(context: DesignContext) -> Student:
    """Experimental: coverage within the section a fact belongs to."""
    placed = checker(
        context, "section_coverage", "check_placed", context.extraction("extract_placed")
    )
    return _scaled(placed, PLACED)


def union(context: DesignContext) -> Student:
    """The per-fact rule or the whole-note judge's flag."""
    return Union(three_stage(context), whole_note(context), load_block("whole_note"))


def _scaled(base: PerFactChecker, scale: CaptureScale) -> PerFactChecker:
    return replace(base, scale=scale)
