import csv
import json

import pytest
from tests.support.practice import Stub, asking, emitted

from heldout.experiments.practice.apply_notes import apply
from heldout.experiments.practice.calibrate_notes import calibrate_command
from heldout.experiments.practice.loaded_prompt import load_prompt
from heldout.experiments.practice.note_rows import NoteFile
from heldout.experiments.practice.note_sets import clean_notes, errored_notes
from heldout.experiments.practice.promises import Promise
from heldout.gepa.statistics.rates.counts import Count
from heldout.splits.errors import BadInput
from heldout.splits.synthetic import draw, write_jsonl
from heldout.students.models.chat import ChatReply, StopReason, Usage


class Scale(Stub):
    """Scores a note by the number it ends in: «Note 73.» gets 7.3."""

    async def complete(self, request):
        self.asked += 1
        note = request.messages[0].content.partition("<note>")[2].partition("</note>")[0]
        digits = "".join(filter(str.isdigit, note))
        text = json.dumps({"assessment": "read", "score": int(digits) % 100 / 10})
        return ChatReply(text, StopReason.STOP, Usage(10, 1), 0.0, "stub")


def rows(path, texts, **columns):
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["transcript", "note", *columns])
        for number, text in enumerate(texts):
            writer.writerow([f"case {number}", text, *(c(number) for c in columns.values())])
    return path


def calibrated(tmp_path, options=None, **changes):
    prompt = load_prompt(str(emitted(tmp_path / "run")))
    clean = rows(tmp_path / "clean.csv", [f"Note {k}." for k in range(40, 100)])
    made = {"clean": NoteFile(clean), "promise": Promise(0.05), "out": tmp_path / "out"}
    return calibrate_command(prompt, options=options or asking(Scale()), **{**made, **changes})


def test_the_threshold_is_the_lowest_clean_score_at_the_fewest_notes(tmp_path):
    report = calibrated(tmp_path)
    assert report.calibration.threshold == 4.0
    assert report.calibration.flagged.k == 0
    found = json.loads((tmp_path / "out" / "made.calibration.json").read_text())
    assert found["threshold"] == 4.0
    assert found["judged_as"]["max_tokens"] == 1500
    assert "flag a note that scores below 4" in report.text
    assert "simulated model" in report.text


def test_tags_of_the_frame_in_notes_are_told(tmp_path):
    notes = [f"Note {k}.{'</note>' * (k == 50)}" for k in range(40, 100)]
    report = calibrated(tmp_path, clean=NoteFile(rows(tmp_path / "tags.csv", notes)))
    assert "1 text of the data holds tags of the judge's own frame" in report.text


def test_errored_notes_and_a_later_batch_are_judged_too(tmp_path):
    errored = rows(tmp_path / "errored.csv", [f"Note {k}." for k in range(20, 60)])
    later = rows(tmp_path / "later.csv", [f"Note {k}." for k in range(20, 80)])
    report = calibrated(tmp_path, errored=NoteFile(errored), later=NoteFile(later))
    assert report.calibration.detections[0].found == Count(20, 40)
    assert report.drift is not None
    assert report.drift.exceeds
    assert "calibrate again" in report.text


def test_a_second_attempt_buys_nothing_twice(tmp_path):
    calibrated(tmp_path)
    again = Scale()
    calibrated(tmp_path, options=asking(again))
    assert again.asked == 0


def test_a_calibration_is_used_by_apply_for_the_same_judging_only(tmp_path):
    calibrated(tmp_path)
    notes = rows(tmp_path / "new.csv", ["Note 39.", "Note 40."])
    file = tmp_path / "out" / "made.calibration.json"
    prompt = load_prompt(str(tmp_path / "run" / "prompts" / "made.txt"))
    report = apply(prompt, notes, tmp_path / "a", asking(Scale()), calibration=file)
    assert report.to_json()["flagged"] == {"k": 1, "n": 2}
    assert "calibrated: with 95% confidence" in report.text
    other = asking(Scale(), max_tokens=4000)
    with pytest.raises(BadInput, match="calibrated for 1500, this judging has 4000"):
        apply(prompt, notes, tmp_path / "b", other, calibration=file)


def test_a_calibration_without_a_threshold_cannot_be_applied(tmp_path):
    few = rows(tmp_path / "few.csv", [f"Note {k}." for k in range(50, 70)])
    report = calibrated(tmp_path, clean=NoteFile(few))
    assert report.calibration.threshold is None
    assert "too few" in report.text
    notes = rows(tmp_path / "new.csv", ["Note 39."])
    prompt = load_prompt(str(tmp_path / "run" / "prompts" / "made.txt"))
    file = tmp_path / "out" / "made.calibration.json"
    with pytest.raises(BadInput, match="clean notes were too few"):
        apply(prompt, notes, tmp_path / "a", asking(Scale()), calibration=file)


def test_several_notes_a_transcript_are_one_consultation(tmp_path):
    path = tmp_path / "own.csv"
    with path.open("w", newline="", encoding="utf-8") as handle:
        writer = csv.writer(handle)
        writer.writerow(["transcript", "note"])
        writer.writerows([f"case {k % 20}", f"Note {40 + k}."] for k in range(60))
    report = calibrated(tmp_path, clean=NoteFile(path))
    assert report.calibration.consultations == 20
    assert report.calibration.threshold is None


def test_a_benchmark_gives_its_clean_and_its_errored_notes(tmp_path):
    made = draw(12, 3)
    pairs, consultations = tmp_path / "pairs.jsonl", tmp_path / "pairs.consultations.jsonl"
    write_jsonl(made, pairs, consultations)
    file = NoteFile(pairs, consultations)
    clean, errored = clean_notes(file), errored_notes(file)
    assert len(clean) == 12
    assert len(errored) == sum(len(c.errored) for c in made.benchmark)
    assert {k.kind for k in errored} <= {"omit-complete", "omit-partial", "add", "change"}


def test_a_clean_file_with_unreadable_rows_is_refused_with_every_fault(tmp_path):
    path = rows(tmp_path / "own.csv", ["Note 1.", " ", ""])
    with pytest.raises(BadInput) as caught:
        calibrated(tmp_path, clean=NoteFile(path))
    assert len(caught.value.faults) == 2
    assert not (tmp_path / "out").exists()


def test_a_model_that_cannot_take_the_effort_is_refused_before_the_first_call(tmp_path):
    pins = tmp_path / "models.yaml"
    pins.write_text(
        "models:\n  local/judge:\n    model: openai/x\n    api_base: http://127.0.0.1:1/v1\n"
        "    efforts: [low]\n"
    )
    model = Scale()
    wanted = asking(model, model="local/judge", models=pins, effort="high")
    with pytest.raises(BadInput, match="does not take reasoning_effort 'high'"):
        calibrated(tmp_path, wanted)
    assert model.asked == 0
