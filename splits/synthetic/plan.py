"""Which edits a consultation gets, and the candidates for each."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.splits.benchmark import NoteClass, TraceLevel
from heldout.splits.randomness import integer, shuffled
from heldout.splits.synthetic.changes import changes
from heldout.splits.synthetic.edits import Edit, addition, detail_removal, removal
from heldout.splits.synthetic.sheets import Path, Sheet

FEWEST_PAIRS, MOST_PAIRS = 3, 6

Sort = NoteClass | TraceLevel
"""A trace level stands for an omission that leaves it, a class for an addition or a change."""


def wanted(sheet: Sheet) -> tuple[Sort, ...]:
    """Three to six edits to make: always a complete omission, a partial one and a commission."""
    path = (*sheet.path, "wanted")
    partial = shuffled((TraceLevel.PARTIAL_WEAK, TraceLevel.PARTIAL_STRONG), *path, "partial")
    commission = shuffled((NoteClass.ADD, NoteClass.CHANGE), *path, "commission")
    sorts: tuple[Sort, ...] = (
        TraceLevel.COMPLETE,
        partial[0],
        *commission,
        partial[1],
        TraceLevel.COMPLETE,
    )
    return sorts[: integer(FEWEST_PAIRS, MOST_PAIRS, *path, "count")]


def candidates(sort: Sort, sheet: Sheet, path: Path) -> Iterator[Edit]:
    """Edits of this sort in random order; none where the sheet offers none."""
    if sort is NoteClass.CHANGE:
        yield from changes(sheet, path)
        return
    pool = sheet.left_out if sort is NoteClass.ADD else sheet.facts
    for fact in shuffled(pool, *path, "facts"):
        edit: Edit | None = None
        if sort is NoteClass.ADD:
            edit = addition(fact, sheet)
        elif sort is TraceLevel.PARTIAL_WEAK:
            edit = detail_removal(fact, sheet, (*path, fact.slot.id))
        elif isinstance(sort, TraceLevel) and fact.slot.kind.name != "problem":
            # The reason for the visit stands in every note: only its details are edited.
            edit = removal(fact, sheet, sort)
        if edit is not None:
            yield edit
