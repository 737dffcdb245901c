"""The conformance tests of the door: what ships passes them, and a fault of each kind is found."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest
from tests.support.answering import answer

from heldout.gepa.acceptance import FullPool, MinibatchImprovement
from heldout.gepa.gate.rules import RuleVerdict, all_rules
from heldout.gepa.minibatch import ConsultationFirst
from heldout.gepa.objective import DetectionFirst, PairedFirst, SeverityWeighted
from heldout.reflectors.model import ModelReflector
from heldout.students.designs.roster import ROSTER, DesignGroup
from heldout.testing import (
    ScriptedCaller,
    check_acceptance,
    check_minibatch,
    check_objective,
    check_reflector,
    check_rule,
    check_student,
    example_benchmark,
)

SCORE = '{"assessment": "two gaps", "score": 7.5}'


@pytest.mark.parametrize("design", ROSTER, ids=lambda design: design.name)
def test_every_design_conforms(design) -> None:
    asks = design.group is not DesignGroup.CONTROL
    check_student(design.build, lambda spec: answer(spec, well=True), asks_models=asks)


@pytest.mark.parametrize("acceptance", [MinibatchImprovement(), FullPool(0.1)], ids=repr)
def test_every_acceptance_rule_conforms(acceptance) -> None:
    check_acceptance(acceptance)


@pytest.mark.parametrize(
    "objective", [PairedFirst(), DetectionFirst("paired_commissions"), SeverityWeighted()], ids=repr
)
def test_every_objective_conforms(objective) -> None:
    check_objective(objective)


@pytest.mark.parametrize("rule", list(all_rules(3).values()), ids=lambda r: type(r).__name__)
def test_every_gate_rule_conforms(rule) -> None:
    check_rule(rule)


def test_the_minibatch_and_the_reflector_conform() -> None:
    check_minibatch(ConsultationFirst())
    check_reflector(ModelReflector, lambda _: "<<<BLOCK\nCount every dose.\nBLOCK>>>")


def whole_note():
    return next(design for design in ROSTER if design.name == "whole_note").build


class Wrapped:
    """A good student with something changed in what it answers."""

    def __init__(self, context, change) -> None:
        self._student, self._change = whole_note()(context), change

    def __getattr__(self, name):
        return getattr(self._student, name)

    async def judge(self, block, note, budget, sample):
        return self._change(await self._student.judge(block, note, budget, sample))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda found: replace(found, score=11.0), "the score 11.0 is not in"),
        (lambda found: replace(found, calls=()), "must name the calls it rests on"),
        (lambda found: replace(found, calls=("made up",)), "names a call that was not made"),
        (lambda found: replace(found, frame_sha256=""), "is not that of the frame"),
        (lambda found: replace(found, score=found.score or 0.0), "has a score or a flag"),
    ],
)
def test_a_students_fault_is_named(change, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check_student(lambda context: Wrapped(context, change), lambda _: SCORE)


def test_without_a_script_a_student_is_only_looked_at() -> None:
    check_student(lambda context: Wrapped(context, lambda _: None))


@dataclass
class Moody:
    """Answers otherwise each time, or in no form at all."""

    said: tuple = (True, False)
    times: int = 0

    def accepts(self, comparison):
        self.times += 1
        return self.said[self.times % len(self.said)]

    def admits(self, child, parent):
        return True

    def rank(self, table):
        return self.accepts(table)

    def verdict(self, difference, *, alpha, margin):
        return RuleVerdict("interval", self.accepts(difference))


@pytest.mark.parametrize(
    ("check", "part", "message"),
    [
        (check_acceptance, Moody(), "is not the same twice"),
        (check_acceptance, Moody((1,)), "must be a bool, got 1"),
        (check_objective, Moody(((1.0,), (0.5,), (0.2,))), "the same table has two ranks"),
        (check_objective, Moody((0.5,)), "must be a tuple of finite numbers, got 0.5"),
        (check_objective, Moody(((float("nan"),),)), "finite numbers"),
        (check_rule, Moody((True,)), "it ships without a single item"),
        (check_rule, Moody((False, False, True)), "two verdicts|not below"),
    ],
)
def test_a_strategys_fault_is_named(check, part, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        check(part)


@pytest.mark.parametrize(
    ("drawn", "message"),
    [
        (lambda notes: notes[:1] + notes[:1], "drawn twice"),
        (lambda notes: [n for n in notes if n.label.is_clean], "no errored note"),
        (lambda notes: [n for n in notes if not n.label.is_clean], "without its clean twin"),
        (lambda notes: notes * 1, "`largest` is 2"),
    ],
)
def test_a_minibatchs_fault_is_named(drawn, message: str) -> None:
    class Drawing:
        largest = 2 if "largest" in message else 1_000

        def draw(self, reflect, *path):
            return drawn(list(reflect[0].notes))

    with pytest.raises(AssertionError, match=message):
        check_minibatch(Drawing())


def test_a_reflector_that_makes_blocks_up_is_found() -> None:
    class Inventive(ModelReflector):
        async def rewrite(self, context):
            return replace(await super().rewrite(context), block="made up")

    with pytest.raises(AssertionError, match="an empty reply led to the block 'made up'"):
        check_reflector(Inventive, lambda _: "<<<BLOCK\nCount every dose.\nBLOCK>>>")


def test_the_examples_are_the_same_each_time_and_hold_every_class() -> None:
    notes = [note for consultation in example_benchmark(4) for note in consultation.notes]
    assert len({note.label.note_class for note in notes}) == 5
    assert example_benchmark(4) == example_benchmark(4)
    assert ScriptedCaller(lambda _: "").asked == []
