import asyncio
import csv
import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console
from tests.support.answering_model import AnsweringModel
from tests.support.notes import benchmark

from heldout.experiments.judging.roster import (
    JudgeSettings,
    NoteSet,
    judge_design,
    judge_roster,
    note_rows,
    scores_json,
)
from heldout.experiments.judging.table import render, to_csv, to_markdown
from heldout.splits.benchmark import CleanMeans
from heldout.splits.errors import BadInput, CallRefused, InfrastructureFailure
from heldout.splits.hashing import sha256_text
from heldout.students.calls.caller import Caller
from heldout.students.calls.ledger import Caps, Ledger
from heldout.students.calls.store import CallStore
from heldout.students.designs.context import Roles
from heldout.students.designs.roster import DESIGNS, ROSTER
from heldout.students.models.chat import Budget, ModelPin

NOTES = NoteSet(
    "made, all",
    tuple(note for consultation in benchmark(3) for note in consultation.notes),
    CleanMeans.UNEDITED,
)
PIN = ModelPin("scripted/judge", 1.0, {}, 1.0, 1.0)


def judged(names, model=None, replicates=2, notes=NOTES):
    settings = JudgeSettings(Roles.all(PIN), Budget(1500), 11, replicates)
    store = CallStore("sqlite://", "run")
    caller = Caller({PIN.id: model or AnsweringModel()}, store, Ledger(Caps()), concurrency=4)
    with asyncio.Runner() as runner:
        try:
            return judge_roster([DESIGNS[n] for n in names], notes, settings, caller, runner)
        finally:
            store.close()


def test_replicates_have_the_seeds_of_the_study():
    assert JudgeSettings(Roles.all(PIN), Budget(1), 11, 3).run_seeds == (11, 22, 33)


def test_the_object_of_a_design_has_the_keys_that_others_rely_on():
    [result] = judged(["three_stage"])
    found = result.to_json()
    assert {
        "design", "n", "paired_omissions", "paired_commissions", "at_rule", "swept", "by_trace",
        "by_severity", "violations", "cost", "calls_per_note",
    } <= set(found)  # fmt: skip
    assert found["n"] == {"omissions": 12, "commissions": 6, "clean": 3, "consultations": 3}
    assert found["violations"] == {"k": 0, "n": 42}
    assert set(found["at_rule"]) == {"detection", "false_alarms"}
    assert found["at_rule"]["detection"]["n"] == 12
    assert set(found["by_trace"]) == {"complete", "partial-weak", "partial-strong"}
    assert json.dumps(found)


def test_paired_figures_are_averaged_over_replicates_that_stand_beside():
    [result] = judged(["random"], replicates=3)
    trace = result.to_json()["by_class"]
    for part in trace.values():
        assert len(part["runs"]) == 3
    assert result.tables[0].scores != result.tables[1].scores


def test_designs_without_a_rule_have_none():
    results = judged(["per_fact_checker", "geval_completeness", "word_count"])
    assert [result.to_json()["at_rule"] for result in results] == [None] * 3


def test_costs_in_both_framings():
    model = AnsweringModel(every=10**9)  # everything is flawless: no second look
    [result] = judged(["three_stage"], model)
    cost = result.to_json()["cost"]
    # extraction, audit and check for a note alone; the first two shared by 21 notes of 3 groups.
    assert cost["usd_per_note"] == pytest.approx(0.003)
    assert cost["usd_per_note_amortised"] == pytest.approx(0.001 + 6 * 0.001 / 21)
    assert result.figures.calls_per_note == 3
    assert result.costs.calls_per_note_amortised == pytest.approx(1 + 6 / 21)
    assert cost["tokens_per_note"] == 330
    assert len(model.requests) == 6 + 2 * 21


def test_an_unknown_price_is_unknown_not_free():
    [result, control] = judged(["per_fact_checker", "word_count"], AnsweringModel(usd=None))
    assert result.costs.usd_per_note is None
    assert result.costs.usd_per_note_amortised is None
    assert control.costs.usd_per_note == 0


def test_designs_that_share_stages_buy_them_once_and_are_charged_alike():
    model = AnsweringModel()
    first, second = judged(["three_stage", "three_stage_widened"], model)
    assert first.costs == second.costs
    asked = [request.messages[0].content for request in model.requests]
    assert sum('{"facts": [' in prompt for prompt in asked) == 3
    assert first.facts == second.facts


def test_results_on_different_notes_share_no_table():
    [plain] = judged(["whole_note"])
    few = NoteSet("made, some", NOTES.notes[:7], CleanMeans.UNEDITED)
    [elsewhere] = judged(["whole_note"], notes=few)
    with pytest.raises(ValueError, match="never share a table"):
        to_csv([plain, elsewhere])


def test_replicates_on_different_facts_are_refused():
    [result] = judged(["per_fact_checker"])
    other = tuple(replace(answer, facts_digest="other") for answer in result.judgements[1])
    with pytest.raises(BadInput, match="replicates rest on different facts"):
        _ = replace(result, judgements=(result.judgements[0], other)).to_json()


def test_a_dead_line_is_no_score():
    class Dead:
        async def complete(self, request):
            raise InfrastructureFailure("no line", transient=False)

    with pytest.raises(CallRefused, match="no line"):
        judged(["whole_note"], Dead())


def test_the_table_names_set_denominators_and_what_flags_mean():
    results = judged(["whole_note", "section_coverage", "word_count"], replicates=1)
    text = to_markdown(results, simulated=True)
    assert text.startswith("made, all: simulated judge; 12 omissions, 6 commissions, 3 clean notes")
    assert "flags on unedited notes" in text
    assert "false alarms" not in text
    assert "section_coverage (experimental)" in text
    assert "no rule" in text
    verified = [
        replace(result, notes=replace(result.notes, clean_means=CleanMeans.VERIFIED))
        for result in results
    ]
    assert "false alarms" in to_markdown(verified, simulated=False)
    rows = list(csv.DictReader(io.StringIO(to_csv(results))))
    assert [row["design"] for row in rows][::2] == ["whole_note", "word_count"]
    assert {row["set"] for row in rows} == {"made, all"}
    assert rows[0]["at rule: detected omissions"].endswith("/12")


def test_scores_are_written_by_note_id():
    [result] = judged(["word_count"], replicates=1)
    assert scores_json(result, 0) == {
        note.id: float(len(note.text.split())) for note in NOTES.notes
    }


def test_the_whole_roster_runs_to_the_end():
    results = judged([design.name for design in ROSTER], replicates=1)
    assert [result.design.name for result in results] == [design.name for design in ROSTER]
    assert all(result.to_json()["violations"]["k"] == 0 for result in results)
    words = results[[r.design.name for r in results].index("word_count")].to_json()
    assert words["paired_omissions"] == 1.0


def test_flags_that_name_the_removed_fact_are_counted_at_three_levels():
    # Every absent fact is named; «Allergic to penicillin» is what one omission a group removes.
    [result] = judged(["three_stage"], AnsweringModel(every=1), replicates=1)
    named = result.to_json()["names_the_fact"]
    assert set(named) == {"0.3", "0.4", "0.5"}
    assert named["0.5"]["n"] == 12
    assert named["0.3"]["k"] >= named["0.4"]["k"] >= named["0.5"]["k"] >= 3
    [plain] = judged(["whole_note"], replicates=1)
    assert plain.to_json()["names_the_fact"] is None


def test_rows_name_each_absent_fact_with_severity_and_words_of_the_transcript():
    [result] = judged(["three_stage"], AnsweringModel(every=1), replicates=1)
    row = next(note_rows(result, 0))
    assert row["flag"] is True
    assert row["figures"]["absent_critical"] == 4
    assert row["findings"][0] == {
        "text": "Cough for three days",
        "severity": "critical",
        "evidence": "cough for three days",
    }
    assert json.dumps(list(note_rows(result, 0)))


def test_another_block_can_be_judged_and_its_hash_stands_on_the_result():
    settings = JudgeSettings(Roles.all(PIN), Budget(1500), 11, 1)
    model, store = AnsweringModel(), CallStore("sqlite://", "run")
    caller = Caller({PIN.id: model}, store, Ledger(Caps()), concurrency=4)
    design = DESIGNS["whole_note"]
    with asyncio.Runner() as runner:
        result = runner.run(judge_design(design, NOTES, settings, caller, "My own block."))
    store.close()
    assert all("My own block." in request.messages[0].content for request in model.requests)
    assert result.to_json()["block_sha256"] == sha256_text("My own block.")


def test_a_set_without_omissions_has_no_omission_figures():
    notes = tuple(note for note in NOTES.notes if not note.label.note_class.is_omission)
    few = NoteSet("commissions only", notes, CleanMeans.UNEDITED)
    results = judged(["whole_note", "three_stage", "word_count"], notes=few)
    for result in results:
        row = result.to_json()
        assert row["paired_omissions"] is None
        assert row["paired_commissions"] is not None
        assert row["by_trace"] == {}
        assert row["n"]["omissions"] == 0
    text = to_markdown(results, simulated=False)
    assert "| whole_note | na |" in text
    assert "| 0/0 |" in text


def test_the_terminal_shows_whole_figures_at_eighty_columns():
    results = judged([design.name for design in ROSTER], replicates=1)
    out = io.StringIO()
    Console(file=out, width=80).print(render(results, simulated=True))
    text = out.getvalue()
    assert "…" not in text
    assert "section_coverage*" in text
    assert "* experimental" in text
    for result in results:
        figure = result.to_json()["paired_omissions"]
        assert re.search(rf"{result.design.name}\*? +{figure:.3f} ", text)
    few = NoteSet("few", NOTES.notes[:7], CleanMeans.UNEDITED)
    mixed = [results[0], *judged(["constant"], notes=few)]
    with pytest.raises(ValueError, match="never share a table"):
        render(mixed, simulated=True)
