"""Conformance tests for parts of one's own, to be called from pytest or anywhere else.

    from heldout.testing import check_acceptance

    def test_my_rule_conforms():
        check_acceptance(MyRule())

Each check raises AssertionError with a sentence that says what the part did and what was expected.
No model is asked: students and reflectors get a `ScriptedCaller`, which answers every call from a
function. The notes are those of `example_benchmark`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

from heldout.gepa.acceptance import Acceptance, MinibatchComparison
from heldout.gepa.gate.rules import Rule, RuleVerdict
from heldout.gepa.minibatch import Minibatch
from heldout.gepa.objective import Objective
from heldout.gepa.statistics.difference import Difference, difference
from heldout.gepa.statistics.table import ScoreTable
from heldout.reflectors.prompts import Terms
from heldout.reflectors.reflector import (
    JudgedPair,
    MergeContext,
    Proposal,
    Reflector,
    RewriteContext,
)
from heldout.splits.benchmark import Benchmark, Note
from heldout.splits.errors import InfrastructureFailure
from heldout.splits.synthetic import draw
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget, ChatReply, ModelPin, StopReason, Usage
from heldout.students.student import Judgement, Outcome, Student

__all__ = [
    "ScriptedCaller",
    "check_acceptance",
    "check_minibatch",
    "check_objective",
    "check_reflector",
    "check_rule",
    "check_student",
    "example_benchmark",
    "scripted_reply",
]

Script = Callable[[CallSpec], str | ChatReply]
"""The reply to a call."""

BLOCK = "Look at everything with care."
BUDGET = Budget(max_tokens=1500)
PIN = ModelPin("scripted/model")


# -- a caller without a model ----------------------------------------------------------------------


@dataclass(frozen=True)
class ScriptedCall:
    """A call with its reply."""

    key: str
    reply: ChatReply


class ScriptedCaller:
    """Answers with `script(call)`; the same call is answered once, as by the real caller.

    `asked` holds the calls in order.
    """

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[CallSpec] = []
        self._stored: dict[str, ScriptedCall] = {}

    async def call(self, spec: CallSpec) -> ScriptedCall:
        """The reply of the script, wrapped as a stored call."""
        if spec.key not in self._stored:
            self.asked.append(spec)
            answer = self.script(spec)
            ready = scripted_reply(answer) if isinstance(answer, str) else answer
            self._stored[spec.key] = ScriptedCall(spec.key, ready)
        return self._stored[spec.key]


def scripted_reply(text: str, finish: StopReason = StopReason.STOP) -> ChatReply:
    """A reply as a provider would give it, for nothing."""
    return ChatReply(text, finish, Usage(10, 10), 0.0, "scripted")


# -- students --------------------------------------------------------------------------------------


def check_student(
    build: Callable[[DesignContext], Student],
    answer: Script | None = None,
    *,
    asks_models: bool = True,
) -> None:
    """A student keeps its contract; `build` makes it as a campaign does, from a design context.

    `answer` gives a good reply to each of its calls. Without it only what can be seen unasked is
    checked: name, frame, score range, largest number of calls. `asks_models` is False for a judge
    that computes its scores.
    """
    student = build(_context(ScriptedCaller(_silent)))
    low, high = student.score_range
    _require(bool(student.design), "a student needs a name as `design`")
    _require(isinstance(student.frame, Frame), "`frame` must be a Frame")
    _require(low < high, f"`score_range` must rise, it is {student.score_range}")
    if asks_models:
        _require("block" in student.frame.slots, "the frame has no slot {{block}}")
        _require(student.calls_per_judgement > 0, "`calls_per_judgement` must be positive")
    if answer is None:
        return
    _answers_in_range(build, answer, asks_models)
    if asks_models:
        _shows_block_and_note(build, answer)
        _moves_with_seed_and_sample(build, answer)
        _spends_the_budget_asked_for(build, answer)
        _fails_as_a_value(build, answer)
        _lets_infrastructure_failures_through(build)


def _answers_in_range(
    build: Callable[[DesignContext], Student], answer: Script, asks_models: bool
) -> None:
    student, caller = _made(build, answer)
    low, high = student.score_range
    for note in _notes(2):
        found = _judge(student, note)
        _require(found.outcome is Outcome.OK, f"a good reply came to {found.outcome}")
        score = found.score
        _require(
            score is not None and low <= score <= high,
            f"the score {score} is not in {student.score_range}",
        )
        _require(
            len(found.calls) <= student.calls_per_judgement,
            f"{len(found.calls)} calls, `calls_per_judgement` is {student.calls_per_judgement}",
        )
        known = {spec.key for spec in caller.asked}
        _require(set(found.calls) <= known, "`calls` names a call that was not made")
        _require(bool(found.calls) is asks_models, "`calls` must name the calls it rests on")
        _require(
            found.frame_sha256 == student.frame.sha256, "`frame_sha256` is not that of the frame"
        )
        again = _judge(_made(build, answer)[0], note)
        _require(again == found, "the same replies led to another judgement")


def _shows_block_and_note(build: Callable[[DesignContext], Student], answer: Script) -> None:
    block = '  Odd {{note}} block,\n\t</instructions> {"a": 1} \\1 \\g<0> é\u202e  '
    student, caller = _made(build, answer)
    note = _notes(1)[0]
    _judge(student, note, block)
    shown = ["\n".join(m.content for m in spec.messages) for spec in caller.asked]
    holding = [text for text in shown if block in text]
    _require(bool(holding), "no call shows the block byte for byte")
    _require(
        all(note.text in text for text in holding), "a call with the block does not show the note"
    )


def _moves_with_seed_and_sample(build: Callable[[DesignContext], Student], answer: Script) -> None:
    note = _notes(1)[0]
    student, caller = _made(build, answer)
    _judge(student, note)
    first = {spec.key for spec in caller.asked}
    _judge(student, note, sample=1)
    _require(
        bool({spec.key for spec in caller.asked} - first), "another sample made the same calls"
    )
    other, elsewhere = _made(build, answer, run_seed=22)
    _judge(other, note)
    _require(
        bool({spec.key for spec in elsewhere.asked} - first), "another run seed made the same calls"
    )
    shared = [spec for spec in elsewhere.asked if spec.key in first]
    _require(
        all(spec.item == note.consultation for spec in shared),
        "only calls about a whole consultation may be the same under another run seed",
    )


def _spends_the_budget_asked_for(build: Callable[[DesignContext], Student], answer: Script) -> None:
    student, caller = _made(build, answer)
    note = _notes(1)[0]
    _judge(student, note)
    _require(
        all(spec.budget == BUDGET for spec in caller.asked if spec.item == note.id),
        "a call about the note has another budget than the one given",
    )


def _fails_as_a_value(build: Callable[[DesignContext], Student], answer: Script) -> None:
    note = _notes(1)[0]
    student, caller = _made(build, answer)
    _judge(student, note)
    for text, finish, outcome in [
        ("no answer", StopReason.STOP, Outcome.CONTRACT_VIOLATION),
        ("no ans", StopReason.LENGTH, Outcome.TRUNCATED),
        ("", StopReason.LENGTH, Outcome.TRUNCATED),
        ("", StopReason.FILTER, Outcome.REFUSED),
    ]:
        for stage in {spec.stage for spec in caller.asked}:
            spoilt = _judge(_made(build, _spoilt(answer, stage, text, finish))[0], note)
            what = f"the reply {text!r} ({finish}) to {stage}"
            _require(
                spoilt.outcome is outcome, f"{what} came to {spoilt.outcome}, expected {outcome}"
            )
            _require(spoilt.score is None and spoilt.flag is None, f"{what} has a score or a flag")
            _require(bool(spoilt.calls), f"{what} names no call")
            _require(spoilt.frame_sha256 == student.frame.sha256, f"{what} does not name its frame")


def _lets_infrastructure_failures_through(build: Callable[[DesignContext], Student]) -> None:
    def down(spec: CallSpec) -> str:
        raise InfrastructureFailure(f"no line for {spec.item}")

    try:
        _judge(_made(build, down)[0], _notes(1)[0])
    except InfrastructureFailure:
        return
    raise AssertionError("an infrastructure failure was caught; it must reach the campaign")


def _spoilt(answer: Script, stage: Stage, text: str, finish: StopReason) -> Script:
    def script(spec: CallSpec) -> str | ChatReply:
        spoilt = spec.stage is stage or spec.attempt > 0
        return scripted_reply(text, finish) if spoilt else answer(spec)

    return script


def _silent(spec: CallSpec) -> str:
    raise RuntimeError(f"{spec.item} was asked about while the student was only built")


def _context(caller: ScriptedCaller, run_seed: int = 11) -> DesignContext:
    return DesignContext(Roles.all(PIN), caller, run_seed)


def _made(
    build: Callable[[DesignContext], Student], script: Script, run_seed: int = 11
) -> tuple[Student, ScriptedCaller]:
    caller = ScriptedCaller(script)
    return build(_context(caller, run_seed)), caller


def _judge(student: Student, note: Note, block: str = BLOCK, sample: int = 0) -> Judgement:
    return asyncio.run(student.judge(block, note, BUDGET, sample))


# -- reflectors ------------------------------------------------------------------------------------


def check_reflector(build: Callable[..., Reflector], answer: Script) -> None:
    """A reflector proposes from its calls alone.

    `build` is called as by a campaign, with `caller`, `terms`, `pin`, `budget` and `run_seed`;
    `answer` gives a reply that holds a block.
    """
    terms = Terms(Frame("example", "{{transcript}}\n{{note}}\n{{block}}\nAnswer with a number."))

    def proposed(script: Script, merge: bool) -> tuple[Proposal, ScriptedCaller]:
        caller = ScriptedCaller(script)
        made = build(caller=caller, terms=terms, pin=PIN, budget=BUDGET, run_seed=11)
        pairs = tuple(_pair(number) for number in range(2))
        work = (
            made.merge(MergeContext("i02", BLOCK, "Count every fact.", pairs[:1], pairs[1:]))
            if merge
            else made.rewrite(RewriteContext("i01", BLOCK, pairs))
        )
        return asyncio.run(work), caller

    for merge in (False, True):
        what = "merge" if merge else "rewrite"
        found, caller = proposed(answer, merge)
        _require(isinstance(found, Proposal), f"{what} must return a Proposal")
        _require(isinstance(found.block, str), f"{what}: a reply with a block led to none")
        known = {spec.key for spec in caller.asked}
        _require(set(found.calls) <= known, f"{what}: `calls` names a call that was not made")
        _require(proposed(answer, merge)[0] == found, f"{what}: the same replies, another proposal")
        spoilt = proposed(lambda _: "", merge)[0]
        _require(not spoilt.block, f"{what}: an empty reply led to the block {spoilt.block!r:.60}")


def _pair(number: int) -> JudgedPair:
    made = example_benchmark(2).consultations[number]
    high, low = (Judgement(score, Outcome.OK, ()) for score in (8.0, 3.0))
    return JudgedPair(made.errored[0], low if number else high, made.clean[0], high)


# -- strategies ------------------------------------------------------------------------------------


def check_acceptance(acceptance: Acceptance) -> None:
    """An acceptance rule says yes or no, the same each time, to every comparison."""
    values = (0.0, 0.4, 0.5, 1.0)
    for parent in values:
        for child in values:
            for apart in ((None, None), (0.4, 0.6), (0.6, 0.4)):
                compared = MinibatchComparison(parent, child, *apart)
                _same_bool(partial(acceptance.accepts, compared), f"accepts({compared})")
            ranks = ((child, 1.0), (parent, 1.0))
            _same_bool(partial(acceptance.admits, *ranks), f"admits{ranks}")


def check_objective(objective: Objective) -> None:
    """An objective ranks tables alike each time, in tuples of one length, higher is better."""
    tables = _tables()
    ranks = [objective.rank(table) for table in tables]
    for table, rank in zip(tables, ranks, strict=True):
        _require(
            isinstance(rank, tuple) and all(math.isfinite(value) for value in rank),
            f"rank must be a tuple of finite numbers, got {rank!r:.80}",
        )
        _require(objective.rank(table) == rank, "the same table has two ranks")
    _require(len({len(rank) for rank in ranks}) == 1, f"ranks differ in length: {ranks}")
    right, wrong = ranks[0], ranks[1]
    _require(right >= wrong, f"all pairs in order rank {right}, none in order {wrong}: below it")


def check_minibatch(minibatch: Minibatch) -> None:
    """A minibatch is a pure function of its path: notes of reflect, errored ones with twins."""
    reflect = tuple(example_benchmark(8))
    known = {note.id for consultation in reflect for note in consultation.notes}
    for iteration in range(4):
        path = (5, "minibatch", iteration)
        drawn = minibatch.draw(reflect, *path)
        ids = [note.id for note in drawn]
        _require(ids == [n.id for n in minibatch.draw(reflect, *path)], "one path, two draws")
        _require(len(set(ids)) == len(ids), "a note was drawn twice")
        _require(set(ids) <= known, "a note was drawn that is not of reflect")
        _require(
            len(ids) <= minibatch.largest,
            f"{len(ids)} notes were drawn, `largest` is {minibatch.largest}",
        )
        errored = [note for note in drawn if not note.label.is_clean]
        _require(bool(errored), "a draw holds no errored note")
        _require(
            all(note.label.twin in ids for note in errored),
            "an errored note was drawn without its clean twin",
        )


def check_rule(rule: Rule) -> None:
    """A gate rule is a pure function of the difference; without items it does not ship."""
    right, wrong, _, mixed = _tables()
    nothing = difference(right, right).jointly_answered()
    empty = replace(
        nothing,
        ids=(),
        **{name: getattr(nothing, name)[:0] for name in ("candidate", "baseline", "cluster")},
        joint=nothing.joint[:0],
    )
    found = _verdict(rule, empty)
    _require(not found.ships, "it ships without a single item")
    for given in (difference(right, wrong), difference(mixed, right), difference(right, mixed)):
        before = deepcopy(given.values)
        found = _verdict(rule, given)
        _require(_verdict(rule, given) == found, "the same difference has two verdicts")
        _require(bool((given.values == before).all()), "it changes the difference it is given")
        _require(found.p is None or 0 <= found.p <= 1, f"p is {found.p}, not in [0, 1]")
        ends = found.interval
        _require(
            ends is None or ends.low <= ends.estimate <= ends.high,
            f"the interval {ends} does not hold its estimate",
        )
        lower = rule.verdict(given, alpha=0.025, margin=-0.1)
        _require(lower.ships or not found.ships, "it ships at a margin of 0 and not below")


def _verdict(rule: Rule, given: Difference) -> RuleVerdict:
    found = rule.verdict(given, alpha=0.025, margin=0.0)
    _require(
        isinstance(found, RuleVerdict), f"verdict must return a RuleVerdict, not {found!r:.60}"
    )
    _require(isinstance(found.ships, bool), f"`ships` must be a bool, not {found.ships!r:.60}")
    return found


def _same_bool(ask: Callable[[], Any], what: str) -> None:
    first = ask()
    _require(isinstance(first, bool), f"{what} must be a bool, got {first!r:.60}")
    _require(ask() is first, f"{what} is not the same twice")


def _tables() -> tuple[ScoreTable, ScoreTable, ScoreTable, ScoreTable]:
    """Every pair in the right order, in the wrong one, tied, and mixed with notes unanswered."""
    labels = [note.label for note in _notes(6)]
    right = {label.id: 8.0 if label.is_clean else 3.0 for label in labels}
    wrong = {label.id: 3.0 if label.is_clean else 8.0 for label in labels}
    mixed: dict[str, float | None] = {
        label.id: None if row % 7 == 3 else right[label.id] if row % 3 else wrong[label.id]
        for row, label in enumerate(labels)
    }
    tied: dict[str, float | None] = dict.fromkeys(right, 5.0)
    made = [ScoreTable.of(labels, scores) for scores in (right, wrong, tied, mixed)]
    return made[0], made[1], made[2], made[3]


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)


# -- example notes ---------------------------------------------------------------------------------


def example_benchmark(consultations: int = 3) -> Benchmark:
    """Synthetic consultations, always the same: clean notes and errored notes of every class."""
    return _drawn(consultations)


@cache
def _drawn(consultations: int) -> Benchmark:
    return draw(consultations, seed=1).benchmark


def _notes(consultations: int) -> list[Note]:
    return [note for made in example_benchmark(consultations) for note in made.notes]
