"""What a run does not show, generated from facts of its journal."""

from __future__ import annotations

from collections.abc import Iterator

from heldout.experiments.campaigns.starvation import starvation_lines
from heldout.experiments.report.compared import ComparedBlock, ComparedBlocks
from heldout.experiments.report.decision import worded
from heldout.experiments.report.words import number, signed
from heldout.gepa.gate.decision import Finding
from heldout.gepa.gate.rules import UNTESTED
from heldout.gepa.record.run import Run
from heldout.gepa.record.summary import left_out_in_words
from heldout.gepa.statistics.agreement.length import length_following
from heldout.gepa.statistics.tests.sides import SideState

GROWN = 1.5
FOLLOWS = 0.5
"""A correlation of scores with words beyond this earns a caveat."""


def caveats(run: Run, blocks: ComparedBlocks | None) -> list[str]:
    """Every caveat this run has earned, each once, the weightiest first."""
    found = [*_nature(run), *_weightiest(run), *_data(run), *_decision(run)]
    if blocks is not None:
        found += _judging(run, blocks)
    found += _process(run)
    return list(dict.fromkeys(found))


def _nature(run: Run) -> Iterator[str]:
    if run.gate is not None and run.gate.heldout and run.gate.heldout.exploratory:
        yield (
            "Exploratory: the held-out set had been looked at by other runs before, so nothing "
            "here confirms anything and nothing is emitted."
        )
    if run.decision is None:
        yield f"There is no decision: the run is {run.status}."


def _weightiest(run: Run) -> Iterator[str]:
    """The caveats of the decision itself: chance, rules that disagree, what counting words does."""
    if run.gate is not None:
        yield from (_sentence(worded(run, line)) for line in run.gate.caveats)
    if run.usable is not None and not run.usable.usable:
        yield _sentence(run.usable.sentence)


def _data(run: Run) -> Iterator[str]:
    partition = run.partition
    if partition is None:
        return
    said = [*partition.seen_before, *partition.caveats, *partition.warnings]
    yield from map(_sentence, said)
    if not partition.benchmark.has_transcripts:
        yield "The benchmark has no transcripts: a placeholder stood in their place."
    if partition.planned_looks > 1:
        yield (
            f"{partition.planned_looks} looks were planned, so each is tested at alpha divided "
            "by that number."
        )


def _sentence(text: str) -> str:
    """A line of the partition event as a sentence."""
    return f"{text[:1].upper()}{text[1:]}" + ("" if text.endswith((".", "!")) else ".")


def _decision(run: Run) -> Iterator[str]:
    gate = run.gate
    if gate is None or not gate.heldout:
        return
    if gate.finding is Finding.COULD_NOT_BE_SEEN and gate.consultations:
        have, hoped = gate.consultations.have, gate.consultations.hoped_gain
        yield f"{have} consultations could neither show nor exclude a gain of {number(hoped)}."
    for side in gate.sides:
        if side.state is SideState.NOT_RESOLVABLE:
            yield f"Not resolvable: {worded(run, side.sentence)}."
    plain, interval = gate.winner_minus_baseline, gate.difference
    if interval and plain is not None and abs(plain - interval.estimate) > 5e-10:
        yield (
            f"The difference is not winner minus baseline ({signed(plain)}): a pair that a block "
            "left unanswered counts as a loss for the winner and a half for the baseline."
        )
    if gate.rule in UNTESTED:
        yield "The rule is «point»: it is blind to noise and ships by luck."
    if gate.run_to_run and len(gate.run_to_run.winner.values) < 2:
        yield "Each block was judged once on held-out, so the run-to-run spread is not known."


def _judging(run: Run, blocks: ComparedBlocks) -> Iterator[str]:
    for block in blocks.measured:
        missing = sum(int(table.missing.sum()) for table in block.on_heldout.tables)
        if missing:
            yield f"{block.name} left {missing} held-out judgings without a score."
    for block in blocks.all:
        yield from _follows(run, block)
    if len(blocks.all) == 2:
        old, new = (block.candidate.length for block in blocks.all)
        if new > GROWN * old:
            yield f"The block grew from {old} to {new} characters."


def _follows(run: Run, block: ComparedBlock) -> Iterator[str]:
    if any(label.id not in run.words for label in block.accept.labels):
        return
    found = length_following(block.accept, run.words).correlation
    if found is not None and found > FOLLOWS:
        yield (
            f"On accept the scores of {block.name} follow note length within a consultation "
            f"(correlation {signed(found, 2)}), and an omission is shorter than its twin."
        )


def _process(run: Run) -> Iterator[str]:
    opened = run.opened
    if run.raised:
        yield f"Caps were raised after the start: {', '.join(run.raised)}."
    yield from map(_sentence, left_out_in_words(run.left_out))
    if opened.reuse != "off":
        yield f"Calls of other runs were used (store.reuse {opened.reuse})."
    if opened.dirty:
        yield f"The checkout had {len(opened.dirty)} changed files that no commit holds."
    if run.spent is not None and run.spent.usd is None:
        yield "The price of some calls is not known, so the cost in USD is not known either."
    for line in starvation_lines(run.calls.replies):
        yield f"Starvation: {line}."
