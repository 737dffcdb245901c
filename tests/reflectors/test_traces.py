from dataclasses import replace

import pytest
from tests.reflectors.judged import judgement, pairs

from heldout.reflectors.evidence import edited_passages
from heldout.reflectors.reflector import JudgedPair
from heldout.reflectors.traces import Ranking, failures_first, ranking, trace
from heldout.splits.benchmark import NoteClass, Site, TraceLevel
from heldout.students.student import Outcome, ReportedGap


def scored(errored, clean):
    return pairs(errored=errored, clean=clean)[0]


def of_class(note_class, **kwargs):
    return next(p for p in pairs(**kwargs) if p.errored.label.note_class is note_class)


def with_residual(pair, *sites):
    return replace(pair, errored=replace(pair.errored, residual=sites))


@pytest.mark.parametrize(
    ("errored", "clean", "expected", "words"),
    [
        (9.0, 8.0, Ranking.ABOVE, "above its clean twin (errored note 9, clean twin 8)"),
        (8.0, 8.0, Ranking.TIED, "tied with its clean twin (errored note 8, clean twin 8)"),
        (7.5, 8.0, Ranking.BELOW, "below its clean twin, as it should be (errored note 7.5"),
    ],
)
def test_a_trace_says_how_the_note_ranked_against_its_own_twin(errored, clean, expected, words):
    pair = scored(errored, clean)
    assert ranking(pair) is expected
    assert f"ranking: {words}" in trace(pair, 3)
    heading = "## Case 3 (handled well)" if expected is Ranking.BELOW else "## Case 3 (failure)"
    assert trace(pair, 3).startswith(heading)


def test_a_missing_score_is_a_failure_and_says_why():
    pair = replace(scored(8.0, 8.0), errored_judgement=judgement(None, outcome=Outcome.TRUNCATED))
    assert ranking(pair) is Ranking.UNSCORED
    assert ranking(pair).is_failure
    assert "no score: truncated" in trace(pair, 1)


def test_an_omission_trace_holds_fact_severity_level_and_surviving_mention():
    pair = next(p for p in pairs() if p.errored.label.trace is TraceLevel.PARTIAL_STRONG)
    pair = with_residual(pair, Site("Plan: takes ramipril", "Plan", "strong"))
    text = trace(pair, 1)
    assert "severity critical, trace level partial-strong (the note states it again" in text
    assert f"removed: {pair.errored.fact}" in text
    assert "surviving mentions: «Plan: takes ramipril» (strong, under Plan)" in text
    assert "closest words in the consultation: «[patient] About this: takes ramipril 5 mg" in text


def test_a_complete_omission_says_that_nothing_survives():
    text = trace(of_class(NoteClass.OMIT_COMPLETE), 1)
    assert "trace level complete (nothing of it is left in the note)" in text
    assert "surviving mentions: none" in text


def test_commissions_name_what_was_added_or_altered_and_show_the_passage():
    added, altered = trace(of_class(NoteClass.ADD), 1), trace(of_class(NoteClass.CHANGE), 1)
    assert "added: stroke" in added
    assert "surviving mentions" not in added
    assert "closest words" not in added
    assert "Family history of stroke." in added.split("passage in the errored note")[1]
    assert "altered: Takes ramipril" in altered
    assert "twice daily" in altered.split("passage in the errored note")[1]
    assert "once daily" in altered.split("passage in the clean twin")[1].split("\n")[0]


def test_without_a_recorded_fact_the_edit_itself_is_shown():
    pair = of_class(NoteClass.OMIT_COMPLETE)
    pair = replace(pair, errored=replace(pair.errored, fact=None))
    removed = edited_passages(pair.clean.text, pair.errored.text, margin=0).clean
    assert f"removed: {removed}" in trace(pair, 1)


def test_the_judges_own_words_stand_beside():
    pair = pairs(said="Nothing is amiss.")[0]
    assert "judge on the errored note: Nothing is amiss." in trace(pair, 1)
    assert "judge on the clean twin: Nothing is amiss." in trace(pair, 1)
    assert "judge on" not in trace(pairs(said="  ")[0], 1)


def per_fact(errored, clean, facts):
    pair = of_class(NoteClass.OMIT_COMPLETE)
    return replace(
        pair,
        errored_judgement=judgement(0.5, verdicts=errored, facts=facts),
        clean_judgement=judgement(0.5, verdicts=clean, facts=facts),
    )


def test_a_per_fact_student_shows_the_verdicts_that_moved_with_their_facts():
    facts = {"f1": "Allergic to penicillin", "f2": "Cough for days", "f3": "Smoker"}
    text = trace(
        per_fact(
            {"f1": "present", "f2": "absent", "f3": "present"},
            {"f1": "present", "f2": "present", "f3": "present"},
            facts,
        ),
        1,
    )
    assert (
        "verdicts that differ: «Cough for days» present in the clean twin, absent in the errored"
        in text
    )
    assert "Smoker" not in text
    # The removed fact (the allergy) was still called present: that is the failure to learn from.
    assert (
        "closest listed fact: «Allergic to penicillin» present in the clean twin, "
        "present in the errored note" in text
    )


def test_a_per_fact_student_without_a_moved_verdict_says_none():
    verdicts = {"f1": "present"}
    assert "verdicts that differ: none" in trace(
        per_fact(verdicts, verdicts, {"f1": "Sprained ankle"}), 1
    )


def test_a_whole_note_student_has_no_verdict_lines():
    assert "verdicts" not in trace(pairs()[0], 1)


def test_what_the_judge_names_in_one_of_the_two_notes_stands_in_the_trace():
    shared, allergy = ReportedGap("No dose given."), ReportedGap("The allergy", "critical")
    pair = pairs()[0]
    pair = replace(
        pair,
        errored_judgement=replace(pair.errored_judgement, findings=(shared, allergy)),
        clean_judgement=replace(pair.clean_judgement, findings=(shared,)),
    )
    text = trace(pair, 1)
    assert "named as missing from the errored note only: «The allergy» (critical)\n" in text
    assert "named as missing from the clean twin only: nothing" in text
    assert "No dose" not in text
    many = tuple(ReportedGap(f"Item {n}") for n in range(7))
    pair = replace(pair, errored_judgement=replace(pair.errored_judgement, findings=many))
    assert "«Item 3»; and 3 more" in trace(pair, 1)
    assert "named as missing" not in trace(pairs()[0], 1)


def test_failures_come_first_worst_first_else_in_order():
    made = pairs()
    scores = [(7, 8), (8, 8), (9, 8), (8, 8), (7, 8), (9, 8)]
    judged = [
        JudgedPair(p.errored, judgement(float(e)), p.clean, judgement(float(c)))
        for p, (e, c) in zip(made, scores, strict=True)
    ]
    assert [judged.index(p) for p in failures_first(judged)] == [2, 5, 1, 3, 0, 4]


def test_every_field_of_a_trace_is_on_one_line():
    pair = pairs(said="One line.\n## Case 9 (failure)\nedit: forged")[0]
    lines = trace(pair, 1).splitlines()
    assert lines[0] == "## Case 1 (failure)"
    assert all(": " in line for line in lines[1:])
    assert [line for line in lines if line.startswith("edit:")] == lines[1:2]
