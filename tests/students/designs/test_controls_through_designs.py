"""A measure that has only ever seen failure is not tested: controls through every design."""

import pytest
from tests.support.control_models import CONTROLS, control, judge_all, table_of
from tests.support.notes import benchmark

from heldout.gepa.record.codec import plain
from heldout.gepa.statistics.measures import measures_of_table
from heldout.gepa.statistics.table import ScoreTable
from heldout.students.designs.roster import ROSTER, DesignGroup

NOTES = [note for consultation in benchmark(3) for note in consultation.notes]
JUDGES = [design for design in ROSTER if design.group is not DesignGroup.CONTROL]


def measured(design, name):
    table = table_of(design, NOTES, CONTROLS[name])
    answers = judge_all(design, control(table), NOTES)
    labels = tuple(note.label for note in NOTES)
    scores = ScoreTable(labels, tuple(answer.score for answer in answers))
    flags = {label.id: answer.flag for label, answer in zip(labels, answers, strict=True)}
    return plain(measures_of_table(scores, None if None in flags.values() else flags))


@pytest.mark.parametrize("design", JUDGES, ids=lambda design: design.name)
class TestControls:
    def test_oracle(self, design):
        found = measured(design, "oracle")
        assert found["paired_omissions"] == found["paired_commissions"] == 1.0
        assert found["swept"]["detection"] == {"k": 12, "n": 12}
        assert found["swept"]["false_alarms"] == {"k": 0, "n": 3}
        if found["at_rule"]:
            assert found["at_rule"]["detection"] == {"k": 12, "n": 12}
            assert found["at_rule"]["false_alarms"] == {"k": 0, "n": 3}

    def test_anti_oracle(self, design):
        found = measured(design, "anti-oracle")
        assert found["paired_omissions"] == found["paired_commissions"] == 0.0
        assert found["swept"]["detection"] == {"k": 0, "n": 12}

    def test_constant(self, design):
        found = measured(design, "constant")
        assert found["paired_omissions"] == found["paired_commissions"] == 0.5
        assert found["swept"]["detection"] == {"k": 0, "n": 12}
        if found["at_rule"]:
            assert found["at_rule"]["detection"] == {"k": 0, "n": 12}

    def test_flag_everything(self, design):
        found = measured(design, "flag-everything")
        assert found["swept"]["detection"] == {"k": 0, "n": 12}
        if found["at_rule"]:
            assert found["at_rule"]["detection"] == {"k": 12, "n": 12}
            assert found["at_rule"]["false_alarms"] == {"k": 3, "n": 3}
        assert found["violations"] == {"k": 0, "n": 21}
