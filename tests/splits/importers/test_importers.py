import json
from pathlib import Path

import pytest
from tests.splits.importers import releases
from tests.splits.real import real

from heldout.experiments.practice.import_release import import_release
from heldout.splits.benchmark import NoteClass
from heldout.splits.errors import BadInput
from heldout.splits.importers.medec import read_medec
from heldout.splits.importers.primock57 import read_primock57, read_textgrid
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.loading.grouping import PLACEHOLDER

LAYOUT = Path(__file__).parents[2] / "data" / "omissionbench"


def faults_of(release, path, out):
    with pytest.raises(BadInput) as caught:
        import_release(release, path, out)
    assert not out.exists()
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "jsonl.gz", "csv.gz"])
def test_primock57_merges_both_speakers_by_time(tmp_path, suffix):
    out = tmp_path / f"primock.{suffix}"
    report = import_release("primock57", releases.primock57(tmp_path / "release"), out)
    first = report.benchmark.by_id["primock|day1_consultation01"]
    assert first.transcript.splitlines() == releases.DIALOGUE
    assert [n.text for n in first.clean] == ["Left ankle swollen since Sunday, visit 1.\nNo rash."]
    assert report.to_json()["consultations"] == 3
    assert report.pairs == 0
    assert "heldout calibrate --clean" in report.text


def test_the_same_release_gives_the_same_bytes(tmp_path):
    release = releases.primock57(tmp_path / "release")
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        import_release("primock57", release, tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()


def test_a_note_pasted_twice_is_left_out_and_named(tmp_path):
    folder = releases.primock57(tmp_path / "release")
    file = folder / "notes" / "day1_consultation02.json"
    content = json.loads(file.read_text())
    content["note"] = " ".join(
        2 * ["A longer note about an ankle that was twisted on some stairs."]
    )
    file.write_text(json.dumps(content))
    found = read_primock57(folder)
    assert [note.group[-2:] for note in found.notes] == ["01", "03"]
    assert found.notices == ("day1_consultation02 left out: its note holds the same text twice",)


def test_every_fault_of_a_primock57_folder_is_named(tmp_path):
    folder = releases.primock57(tmp_path / "release")
    (folder / "transcripts" / "day1_consultation01_patient.TextGrid").unlink()
    (folder / "notes" / "day1_consultation02.json").write_text("{")
    (folder / "transcripts" / "day1_consultation03_doctor.TextGrid").write_text("text")
    faults = faults_of("primock57", folder, tmp_path / "out.csv")
    words = ("no such file", "not JSON", "is not a TextGrid")
    assert all(word in fault for fault, word in zip(faults, words, strict=True))


def test_textgrids_in_utf16_are_read(tmp_path):
    file = tmp_path / "a.TextGrid"
    file.write_bytes(releases.textgrid("doctor", [(2.5, "Grüß Gott.")]).encode("utf-16"))
    assert [(u.start, u.text) for u in read_textgrid(file)] == [(2.5, "Grüß Gott.")]


def test_aci_bench_reads_encounters_and_passes_over_metadata(tmp_path):
    folder = releases.aci_bench(tmp_path / "aci")
    report = import_release("aci-bench", folder, tmp_path / "aci.jsonl")
    assert list(report.benchmark.by_id) == ["aci|D2N001", "aci|D2N002", "aci|D2N068"]
    first = report.benchmark.by_id["aci|D2N001"]
    assert first.transcript == "[doctor] how are you ?\n[patient] my knee hurts ."
    assert first.clean[0].text == "CHIEF COMPLAINT\n\nKnee pain, case D2N001."


def test_an_encounter_in_two_files_is_a_fault(tmp_path):
    folder = releases.aci_bench(tmp_path / "aci")
    data = folder / "data" / "challenge_data"
    (data / "again.csv").write_bytes((data / "train.csv").read_bytes())
    faults = faults_of("aci-bench", folder, tmp_path / "out.jsonl")
    assert len(faults) == 2
    assert "stands already at" in faults[0]


def test_a_missing_column_is_named(tmp_path):
    releases.write_csv(tmp_path / "x.csv", ["dataset", "encounter", "dialogue", "note"], [])
    (fault,) = faults_of("aci-bench", tmp_path / "x.csv", tmp_path / "out.jsonl")
    assert "no column «encounter_id»; there is «encounter»" in fault


def test_omissionbench_survives_its_import(tmp_path):
    out = tmp_path / "pairs.jsonl.gz"
    report = import_release("omissionbench", LAYOUT, out)
    before = load(BenchmarkSource(LAYOUT / "pairs.json"))
    assert report.files == (out, tmp_path / "pairs.consultations.jsonl.gz")
    assert report.benchmark.digest == before.digest
    assert report.benchmark.consultations == before.consultations


def test_medec_keeps_both_versions_of_a_vignette_together(tmp_path):
    report = import_release("medec", releases.medec(tmp_path / "m"), tmp_path / "medec.jsonl")
    benchmark = report.benchmark
    assert len(benchmark.consultations) == 4
    assert not benchmark.has_transcripts
    for consultation in benchmark:
        assert consultation.transcript == PLACEHOLDER
        assert len(consultation.clean) == 2
        (errored,) = consultation.errored
        assert errored.label.note_class is NoteClass.CHANGE
        twin = next(n for n in consultation.clean if n.id == errored.label.twin)
        assert twin.text == errored.text.replace(releases.WRONG, releases.RIGHT)
        assert errored.label.source == "diagnosis"
    assert "transcript: absent" in report.text


def test_medec_without_a_correction_is_a_fault_and_an_empty_correction_a_notice(tmp_path):
    file = tmp_path / "m.jsonl"
    rows = [
        {"text_id": "a", "text": "One. Two.", "error_flag": 1, "error_type": "diagnosis",
         "corrected_text": "One.  Two."},
        {"text_id": "b", "text": "Three.", "error_flag": 0, "error_type": None,
         "corrected_text": None},
    ]  # fmt: skip
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_medec(file).notices == ("a left out: its correction changes nothing",)
    rows[0]["corrected_text"] = None
    rows[1]["error_flag"] = 2
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    faults = faults_of("medec", file, tmp_path / "out.jsonl")
    assert "corrected_text: is needed" in faults[0]
    assert "error_flag: '2' is not one of 0, 1" in faults[1]


def test_the_real_medec_sample_loads_by_vignette(tmp_path):
    report = import_release("medec", real("medec_sample.jsonl.gz"), tmp_path / "medec.jsonl.gz")
    sizes = [len(c.notes) for c in report.benchmark]
    assert report.pairs == 156
    # Its README counts 142 vignettes with both versions; one more pair is a near-duplicate.
    assert len(report.benchmark.consultations) == 157
    assert sum(size == 3 for size in sizes) >= 142
    assert all(c.transcript == PLACEHOLDER for c in report.benchmark)


def test_an_unknown_release_is_refused_with_a_suggestion(tmp_path):
    (fault,) = faults_of("primock", tmp_path, tmp_path / "out.csv")
    assert "did you mean «primock57»?" in fault


def test_an_existing_file_is_never_overwritten(tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("mine")
    with pytest.raises(BadInput, match="already exists"):
        import_release("aci-bench", releases.aci_bench(tmp_path / "aci"), out)
    assert out.read_text() == "mine"
