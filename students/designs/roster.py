"""All designs by name: what `heldout judge` and a campaign's `student.design` accept."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from heldout.splits.errors import BadInput
from heldout.students.designs import controls, per_fact, single
from heldout.students.designs.context import DesignContext
from heldout.students.frames import load_block
from heldout.students.student import Student


class DesignGroup(StrEnum):
    """What a design is in the roster for."""

    ABLATION = "ablation"
    REFERENCE = "reference"
    PIPELINE = "pipeline"
    EXPERIMENTAL = "experimental"
    CONTROL = "control"


@dataclass(frozen=True)
class Design:
    """One design: its name, how it is built, and the block it starts from (None: a control)."""

    name: str
    group: DesignGroup
    build: Callable[[DesignContext], Student]
    block_name: str | None

    @property
    def block(self) -> str:
        """The text of the block, empty for a control."""
        return "" if self.block_name is None else load_block(self.block_name)


def _grid() -> tuple[Design, ...]:
    """Criterion x answer x samples."""
    ways = {
        "yes_no": single.yes_no,
        "yes_no_8": single.yes_no_repeated,
        "score": single.score,
        "score_8": single.score_repeated,
    }
    return tuple(
        Design(name, DesignGroup.ABLATION, partial(way, design=name), f"criterion_{criterion}")
        for criterion in ("f", "fc")
        for answer, way in ways.items()
        for name in [f"{criterion}_{answer}"]
    )


def _named(
    group: DesignGroup, blocks: dict[str, str], way: Callable[..., Student]
) -> tuple[Design, ...]:
    """One way of building under several names, each with its block."""
    return tuple(
        Design(name, group, partial(way, design=name), block) for name, block in blocks.items()
    )


ROSTER: tuple[Design, ...] = (
    Design("whole_note", DesignGroup.REFERENCE, single.whole_note, "whole_note"),
    *_grid(),
    *_named(
        DesignGroup.REFERENCE,
        {
            "faithfulness": "faithfulness_shipped",
            "faithfulness_neutral": "faithfulness_neutral",
            "faithfulness_omissions": "faithfulness_omissions",
        },
        single.faithfulness,
    ),
    Design("engineered", DesignGroup.REFERENCE, single.engineered, "engineered"),
    *_named(
        DesignGroup.REFERENCE,
        {
            "geval_completeness": "geval_completeness",
            "geval_consistency": "geval_consistency",
        },
        single.geval,
    ),
    Design("checklist", DesignGroup.REFERENCE, per_fact.checklist, "check_items"),
    Design("coverage", DesignGroup.REFERENCE, per_fact.coverage, "check_covered"),
    Design("per_fact_checker", DesignGroup.PIPELINE, per_fact.two_stage, "check_captured"),
    Design("three_stage", DesignGroup.PIPELINE, per_fact.three_stage, "check_graded"),
    Design(
        "three_stage_widened", DesignGroup.PIPELINE, per_fact.three_stage_widened, "check_graded"
    ),
    Design("union", DesignGroup.PIPELINE, per_fact.union, "check_graded"),
    Design("fact_list", DesignGroup.REFERENCE, single.fact_list, "fact_list"),
    Design("section_coverage", DesignGroup.EXPERIMENTAL, per_fact.section_coverage, "check_placed"),
    Design("word_count", DesignGroup.CONTROL, lambda _: controls.word_count(), None),
    Design("transcript_words", DesignGroup.CONTROL, lambda _: controls.transcript_words(), None),
    Design("constant", DesignGroup.CONTROL, lambda _: controls.constant(), None),
    Design(
        "random",
        DesignGroup.CONTROL,
        lambda context: controls.random_scores(context.run_seed),
        None,
    ),
)

DESIGNS = {design.name: design for design in ROSTER}


def find_design(name: str, where: str) -> Design:
    """The design called `name`; `where` is the option that asks for it.

    Raises BadInput for an unknown name.
    """
    if name in DESIGNS:
        return DESIGNS[name]
    near = difflib.get_close_matches(name, DESIGNS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"designs: {', '.join(DESIGNS)}"
    raise BadInput.one(where, f"there is no design {name}; {hint}")
