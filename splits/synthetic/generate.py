"""Draws the synthetic benchmark: consultations from fact sheets, pairs from single edits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from heldout.splits.benchmark import Benchmark, CleanMeans, Consultation
from heldout.splits.errors import BadInput
from heldout.splits.loading.grouping import consultation_of
from heldout.splits.loading.pairs import PairRow
from heldout.splits.randomness import bits, shuffled
from heldout.splits.synthetic.catalogue import Complaint, catalogue
from heldout.splits.synthetic.checks import Rendered, fault_of, unsupported
from heldout.splits.synthetic.dialogue import transcript
from heldout.splits.synthetic.difference import TextDifference, one_difference
from heldout.splits.synthetic.edits import Edit, clean_statements
from heldout.splits.synthetic.notes import layout_of, note_text
from heldout.splits.synthetic.plan import FEWEST_PAIRS, Sort, candidates, wanted
from heldout.splits.synthetic.sheets import Sheet, draw_sheet

VERSION = "synthetic-v1"
MOST_ATTEMPTS = 20
"""How often a consultation is drawn again when too few of its pairs stand."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A clean note, its errored twin, and the one stretch in which they differ."""

    id: str
    edit: Edit
    clean: str
    errored: str
    difference: TextDifference


@dataclass(frozen=True, slots=True)
class Draw:
    """One consultation with everything that is known of it."""

    id: str
    sheet: Sheet
    transcript: str
    clean: str
    pairs: tuple[Pair, ...]

    @property
    def stratum(self) -> str:
        """The style of the notes: `terse` or `full`."""
        return self.sheet.style


@dataclass(frozen=True)
class SyntheticDraw:
    """A synthetic benchmark, the draws behind it, and how much was dropped for which reason."""

    benchmark: Benchmark
    draws: tuple[Draw, ...]
    dropped: Mapping[str, int]


def draw(consultations: int, seed: int) -> SyntheticDraw:
    """`consultations` made consultations, each a pure function of `seed` and its ordinal.

    Complaints come round equally often. Raises BadInput for fewer than one consultation.
    """
    if consultations < 1:
        raise BadInput.one("consultations", f"{consultations} is not a positive number")
    dropped: Counter[str] = Counter()
    draws = [_consultation(index, seed, dropped) for index in range(consultations)]
    draws.sort(key=lambda item: item.id)
    benchmark = Benchmark(
        name="synthetic",
        version=VERSION,
        consultations=tuple(map(_as_consultation, draws)),
        clean_means=CleanMeans.VERIFIED,
        public=True,
    )
    return SyntheticDraw(benchmark, tuple(draws), dict(sorted(dropped.items())))


def _consultation(index: int, seed: int, dropped: Counter[str]) -> Draw:
    complaint = _complaint(index, seed)
    for attempt in range(MOST_ATTEMPTS):
        sheet = draw_sheet(complaint, ("synthetic", seed, index, attempt))
        drawn = _from_sheet(sheet, dropped)
        if drawn is not None:
            return drawn
    raise RuntimeError(f"no consultation on {complaint.name} in {MOST_ATTEMPTS} attempts")


def _complaint(index: int, seed: int) -> Complaint:
    """Every complaint once in each round, the order of a round drawn."""
    all_of_them = catalogue().complaints
    turn, place = divmod(index, len(all_of_them))
    return shuffled(all_of_them, "synthetic", seed, "complaints", turn)[place]


def _from_sheet(sheet: Sheet, dropped: Counter[str]) -> Draw | None:
    clean = note_text(clean_statements(sheet), layout_of(sheet))
    spoken = transcript(sheet)
    if unsupported(sheet.facts, spoken, clean):
        dropped["consultation drawn again: a fact got lost in wording"] += 1
        return None
    name = f"{sheet.style}|{sheet.complaint}-{bits(*sheet.path, 'id', width=40):010x}"
    unfinished = Draw(name, sheet, spoken, clean, ())
    pairs: list[Pair] = []
    for ordinal, sort in enumerate(wanted(sheet), start=1):
        used = {pair.edit.fact.slot.id for pair in pairs}
        pair = _pair(ordinal, sort, unfinished, used, dropped)
        if pair is not None:
            pairs.append(pair)
    if len(pairs) < FEWEST_PAIRS:
        dropped["consultation drawn again: too few pairs"] += 1
        return None
    return replace(unfinished, pairs=tuple(pairs))


def _pair(
    ordinal: int, sort: Sort, drawn: Draw, used: set[str], dropped: Counter[str]
) -> Pair | None:
    """The first candidate of its sort that stands; the reasons against the others are counted."""
    sheet, clean = drawn.sheet, drawn.clean
    statements, layout = clean_statements(sheet), layout_of(sheet)
    for edit in candidates(sort, sheet, (*sheet.path, "edit", ordinal)):
        if edit.fact.slot.id in used:
            continue
        errored = note_text(edit.statements, layout)
        difference = one_difference(clean, errored)
        texts = Rendered(drawn.transcript, clean, errored, difference)
        fault = fault_of(edit, texts, statements)
        if fault is None:
            return Pair(f"{drawn.id}|{ordinal}", edit, clean, errored, difference)
        dropped[f"{edit.note_class}: {fault}"] += 1
    return None


def _as_consultation(drawn: Draw) -> Consultation:
    rows = [
        PairRow(
            where="",
            consultation=drawn.id,
            pair_id=pair.id,
            note_class=pair.edit.note_class,
            trace=pair.edit.trace,
            severity=pair.edit.severity,
            clean=drawn.clean,
            errored=pair.errored,
            fact=pair.edit.description,
            residual=pair.edit.sites,
            source=VERSION,
        )
        for pair in drawn.pairs
    ]
    return consultation_of(drawn.id, drawn.transcript, {drawn.clean}, rows)
