import csv
import json
from pathlib import Path

import pytest
from tests.splits.importers import releases
from tests.splits.real import real

from heldout.experiments.practice.import_release import import_release
from heldout.experiments.practice.note_rows import NoteFile, open_notes
from heldout.splits.benchmark import NoteClass
from heldout.splits.errors import BadInput
from heldout.splits.importers.medec import read_medec
from heldout.splits.importers.primock57 import read_primock57, read_textgrid
from heldout.splits.importers.sifting import alike, pasted
from heldout.splits.loading.benchmark_files import BenchmarkSource, load
from heldout.splits.loading.columns import TableOptions
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


CASES = Path(__file__).parents[2] / "cases"
LONG = (
    "Itchy rash on both arms since Monday after gardening. No fever, no swelling of the face. "
    "Used a cream without effect. Plan: antihistamine at night, return if it spreads."
)


def test_duplicates_are_found_byte_for_byte_only():
    found = read_primock57(CASES / "primock57_mini")
    assert [note.group for note in found.notes] == ["d6_single"]
    assert found.notices == (
        "d1_exact left out: its note holds the same text twice",
        "d2_oneword left out: its note holds nearly the same text twice",
    )


@pytest.mark.parametrize(
    "again",
    [
        LONG.replace("both arms", "both of her arms"),
        LONG.replace("cream ", ""),
        LONG.replace("Monday", "Tuesday").replace("night", "bedtime"),
        LONG.upper().replace(".", ";"),
        LONG.replace("both", "the left").replace("face", "lips"),
    ],
)
def test_a_note_pasted_twice_with_a_few_words_changed_is_left_out(again):
    assert pasted(f"{LONG}\n{again}") is not None


@pytest.mark.parametrize(
    "note",
    [
        LONG,
        "No fever. No cough. No fever. No cough.",
        LONG + " " + "Seen again a week later: the rash has gone, she sleeps well and is content. "
        "No treatment needed, discharged to the care of her own doctor.",
        " ".join(f"Day {n}: pain {n} of 10, temperature {36 + n / 10}." for n in range(1, 9)),
    ],
)
def test_an_honest_note_that_repeats_itself_is_kept(note):
    assert pasted(note) is None


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("No fever, no rash.", "no fever; no rash", True),
        ("Knee pain - left", "Knee pain (left).", True),
        ("Potassium 2.5", "Potassium 25", False),
        ("BP < 120", "BP > 120", False),
        ("Base excess -5", "Base excess 5", False),
        ("T 38,5 °C", "T 38.5 °C", False),
    ],
)
def test_notes_alike_but_for_punctuation(first, second, same):
    assert alike(first, second) is same


def test_encounters_alike_but_for_punctuation_are_left_out_by_name(tmp_path):
    rows = [["D1", "[doctor] hi", LONG], ["D2", "[doctor] ho", LONG.replace(".", ";")]]
    releases.write_csv(tmp_path / "x.csv", ["encounter_id", "dialogue", "note"], rows)
    report = import_release("aci-bench", tmp_path / "x.csv", tmp_path / "out.csv")
    assert report.notices == ("D2 left out: its note is that of D1 but for punctuation",)
    assert list(report.benchmark.by_id) == ["aci|D1"]


def test_pairs_alike_but_for_punctuation_are_left_out_of_an_omissionbench(tmp_path):
    content = json.loads((LAYOUT / "pairs.json").read_text("utf-8"))
    pair = next(p for p in content["pairs"] if p["class"] == "add")
    pair["errored"] = pair["clean"].rstrip(".") + " ;"
    (tmp_path / "pairs.json").write_text(json.dumps(content), "utf-8")
    (tmp_path / "transcripts").symlink_to(LAYOUT / "transcripts")
    report = import_release("omissionbench", tmp_path / "pairs.json", tmp_path / "out.jsonl")
    assert f"{pair['pair_id']} left out: its notes are alike but for punctuation" in report.notices
    assert report.pairs == len(content["pairs"]) - 1


@pytest.mark.parametrize("release", ["primock57", "aci-bench", "medec"])
def test_imported_ids_are_unique_and_kept_by_apply(tmp_path, release):
    made = getattr(releases, release.replace("-", "_"))(tmp_path / "release")
    out = tmp_path / "out.csv"
    report = import_release(release, made, out)
    rows = list(open_notes(NoteFile(out, transcripts=release != "medec")).rows())
    with out.open(encoding="utf-8", newline="") as stream:
        written = [row["note_id"] for row in csv.DictReader(stream)]
    assert [row.id for row in rows] == written
    assert len(set(written)) == len(written) == report.clean_notes + report.pairs


def test_imported_pairs_are_applied_under_their_ids_with_their_transcripts(tmp_path):
    out = tmp_path / "pairs.jsonl"
    report = import_release("omissionbench", LAYOUT, out)
    said = TableOptions({"note": "errored"})
    rows = list(open_notes(NoteFile(out, report.files[1], table=said)).rows())
    pairs = {n.label.pair_id: n for c in report.benchmark for n in c.errored}
    assert {row.id: row.note.transcript for row in rows} == {
        name: note.transcript for name, note in pairs.items()
    }


def test_a_release_in_another_dialect_is_read_by_its_own_columns(tmp_path):
    text = "Encounter;Dialogue;Note\nD1;[doctor] hi;Fine, well\nD2;[doctor] ho;Not so\n"
    (tmp_path / "x.csv").write_bytes(text.encode("utf-16"))
    said = TableOptions({"encounter_id": "Encounter"})
    report = import_release("aci-bench", tmp_path / "x.csv", tmp_path / "out.csv", said)
    assert report.notices == ("x.csv: read as UTF-16 with semicolons",)
    assert len(report.benchmark.consultations) == 2
    with pytest.raises(BadInput, match="takes no options of tables"):
        import_release("primock57", tmp_path, tmp_path / "o.csv", said)


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
