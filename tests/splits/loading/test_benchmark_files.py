import gzip
import json
import os
from pathlib import Path

import pytest
from tests.splits.builders import consultation, write_benchmark, write_lines
from tests.splits.real import real

from heldout.splits.benchmark import CleanMeans, NoteClass, Severity, TraceLevel, note_id
from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import BenchmarkSource, load, open_benchmark
from heldout.splits.loading.grouping import PLACEHOLDER

OMISSION = {"class": "omit-complete", "type": "omit", "residual_level": "complete"}
LAYOUT = Path(__file__).parents[2] / "data" / "omissionbench"


def faults_of(source: BenchmarkSource) -> list[str]:
    with pytest.raises(BadInput) as caught:
        open_benchmark(source)
    return [str(fault) for fault in caught.value.faults]


def changed(folder: Path, **fields) -> list[str]:
    """The faults of a sound file whose second pair has `fields` changed."""
    made = consultation(1)
    made["pairs"][1].update(fields)
    return faults_of(write_benchmark(folder, [made]))


# --- the released layout


def test_the_released_layout_loads_with_its_folder_of_transcripts():
    loaded = open_benchmark(BenchmarkSource(LAYOUT / "pairs.json"))
    benchmark = loaded.benchmark
    assert benchmark.version == "layout-fixture-1"
    assert [c.id for c in benchmark] == ["clinic|visit01", "clinic|visit02", "telephone|call 7"]
    first = benchmark.by_id["clinic|visit01"]
    assert first.transcript == (LAYOUT / "transcripts/clinic/visit01.txt").read_text("utf-8")
    assert len(first.clean) == 1
    assert [n.label.note_class for n in first.errored] == [
        "omit-complete",
        "omit-partial",
        "omit-partial",
        "change",
    ]
    assert set(loaded.files) == {
        "pairs.json",
        "transcripts/clinic/visit01.txt",
        "transcripts/clinic/visit02.txt",
        "transcripts/telephone/call 7.txt",
    }


def test_verified_sites_go_before_sites_and_null_sections_become_empty():
    benchmark = load(BenchmarkSource(LAYOUT / "pairs.json"))
    _, strong, weak, _ = benchmark.by_id["clinic|visit01"].errored
    assert [(s.quote, s.section, s.strength) for s in strong.residual] == [
        ("Avoid codeine.", "PLAN", "paraphrase")
    ]
    assert [(s.quote, s.section, s.strength) for s in weak.residual] == [("a slip", "", "partial")]


def test_severity_and_fact_may_be_null_on_commissions_as_in_the_release():
    note = load(BenchmarkSource(LAYOUT / "pairs.json")).by_id["clinic|visit02"].errored[1]
    assert (note.label.note_class, note.label.severity, note.fact) == (NoteClass.ADD, None, None)


def test_the_folder_may_be_given_and_may_be_the_one_above(tmp_path):
    pairs = tmp_path / "elsewhere.json"
    pairs.write_bytes((LAYOUT / "pairs.json").read_bytes())
    for folder in (LAYOUT, LAYOUT / "transcripts"):
        assert len(load(BenchmarkSource(pairs, folder)).consultations) == 3
    (fault,) = faults_of(BenchmarkSource(pairs))
    assert "transcripts: no such folder; set benchmark.consultations" in fault


def test_missing_and_unsound_transcript_files_are_named(tmp_path):
    (tmp_path / "pairs.json").write_bytes((LAYOUT / "pairs.json").read_bytes())
    (tmp_path / "transcripts/clinic").mkdir(parents=True)
    (tmp_path / "transcripts/clinic/visit01.txt").write_bytes(b"[doctor] caf\xe9\n")
    (tmp_path / "transcripts/clinic/visit02.txt").mkdir()
    faults = faults_of(BenchmarkSource(tmp_path / "pairs.json"))
    assert len(faults) == 3
    assert "visit01.txt:1: not UTF-8" in faults[0]
    assert "visit02.txt: is a directory" in faults[1]
    assert "call 7.txt: no transcript of consultation 'telephone|call 7'" in faults[2]


def test_an_id_cannot_lead_out_of_the_folder(tmp_path):
    made = consultation(1)
    for row in made["pairs"]:
        row["id"] = "../../secret"
    pairs = write_lines(tmp_path / "pairs.jsonl", made["pairs"])
    (tmp_path / "transcripts").mkdir()
    (fault,) = faults_of(BenchmarkSource(pairs))
    assert "'made|../../secret' cannot be the name of a transcript file" in fault


# --- the same fields as JSON Lines


def test_json_lines_with_consultations_load_plain_and_compressed(tmp_path):
    source = write_benchmark(tmp_path, [consultation(2), consultation(1)])
    plain = open_benchmark(source)
    zipped = []
    for path in (source.pairs, source.consultations):
        target = path.with_name(path.name + ".gz")
        target.write_bytes(gzip.compress(path.read_bytes()))
        zipped.append(target)
    compressed = open_benchmark(BenchmarkSource(*zipped))
    assert plain.benchmark.digest == compressed.benchmark.digest
    assert set(compressed.files) == {"pairs.jsonl.gz", "consultations.jsonl.gz"}
    assert compressed.files != plain.files


def test_labels_hold_what_the_file_says(tmp_path):
    source = write_benchmark(
        tmp_path, [consultation(1)], clean_means=CleanMeans.VERIFIED, public=True
    )
    benchmark = load(source)
    assert (benchmark.clean_means, benchmark.public) == (CleanMeans.VERIFIED, True)
    (made,) = benchmark.consultations
    (clean,) = made.clean
    note = next(n for n in made.errored if n.label.note_class is NoteClass.OMIT_PARTIAL)
    assert note.label.trace is TraceLevel.PARTIAL_WEAK
    assert note.label.severity is Severity.CRITICAL
    assert (note.label.source, note.fact) == ("made", "fact 2 of c001")
    assert note.label.twin == clean.id == note_id(made.id, clean.text, NoteClass.CLEAN, clean.text)
    assert set(note.siblings) == {n.text for n in made.notes}
    assert clean.label.severity is clean.label.trace is clean.label.pair_id is None


def test_validation_scores_served_from_train_rollouts_by_list_position(tmp_path):
    """gepa #424: ids were positions in a list, so two lists shared their scores."""
    forwards = [consultation(n) for n in range(4)]
    backwards = [{**c, "pairs": c["pairs"][::-1]} for c in forwards[::-1]]
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    one = load(write_benchmark(tmp_path / "a", forwards))
    two = load(write_benchmark(tmp_path / "b", backwards))
    assert one.digest == two.digest
    assert [n.id for c in one for n in c.notes] == [n.id for c in two for n in c.notes]
    ids = [n.id for c in one for n in c.notes]
    assert len(set(ids)) == len(ids)


def test_consultations_without_pairs_are_left_out_with_a_notice(tmp_path):
    idle = {**consultation(2), "pairs": []}
    loaded = open_benchmark(write_benchmark(tmp_path, [consultation(1), idle]))
    assert [c.id for c in loaded.benchmark] == ["made|c001"]
    assert loaded.notices == ("1 consultation without a note left out: made|c002",)


def test_a_byte_order_mark_and_windows_line_ends_are_no_fault(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)])
    before = load(source).digest
    for path in (source.pairs, source.consultations):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load(source).digest == before


def test_two_files_of_one_name_are_kept_apart(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)])
    (tmp_path / "other").mkdir()
    moved = source.consultations.rename(tmp_path / "other" / "pairs.jsonl")
    files = open_benchmark(BenchmarkSource(source.pairs, moved)).files
    assert set(files) == {"pairs.jsonl", "consultations/pairs.jsonl"}
    assert len(set(files.values())) == 2


# --- transcript: absent


def test_without_transcripts_a_placeholder_stands_in_the_slot(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)])
    benchmark = load(BenchmarkSource(source.pairs, transcript="absent"))
    assert not benchmark.has_transcripts
    assert {n.transcript for c in benchmark for n in c.notes} == {PLACEHOLDER}


def test_absent_contradicts_a_file_of_consultations(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)], transcript="absent")
    (fault,) = faults_of(source)
    assert fault == "benchmark.transcript: absent, but benchmark.consultations is given"


# --- faults: all at once, with file, line, field and what would be right


def test_every_fault_of_both_files_is_reported_at_once(tmp_path):
    first, second, third = consultation(1), consultation(2), consultation(3)
    first["pairs"][0]["class"] = "omit-compleet"
    first["pairs"][1]["severity"] = "Critcal"
    del second["pairs"][0]["errored"]
    second["pairs"][2]["residual_level"] = "partial-week"
    second["transcript"] = "  "
    source = write_benchmark(tmp_path, [first, second])
    write_lines(source.pairs, [*first["pairs"], *second["pairs"], *third["pairs"]])
    faults = faults_of(source)
    pairs, others = str(source.pairs), str(source.consultations)
    assert faults == [
        f"{pairs}:1: class: 'omit-compleet' is not one of omit-complete, omit-partial, add, "
        "change; did you mean «omit-complete»?",
        f"{pairs}:2: severity: 'Critcal' is not one of critical, supporting, peripheral; "
        "did you mean «critical»?",
        f"{pairs}:4: errored: missing",
        f"{pairs}:6: residual_level: 'partial-week' is not one of complete, partial-weak, "
        "partial-strong; did you mean «partial-weak»?",
        f"{others}:2: transcript: is blank",
        f"{others}: no transcript of consultation 'made|c003'",
    ]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({**OMISSION, "severity": None}, "severity: null, a value is needed"),
        ({"severity": 3}, "severity: a number is not one of critical"),
        ({"class": "clean"}, "class: 'clean' is not one of omit-complete"),
        ({"class": None}, "class: null, a value is needed"),
        ({"type": "omit"}, "type: 'omit' does not fit class add: 'add'"),
        ({"type": ["add"]}, "type: a list does not fit class add"),
        ({"residual_level": "complete"}, "residual_level: complete on a pair of class add"),
        (
            {"class": "omit-partial", "type": "omit", "residual_level": "complete"},
            "residual_level: complete does not fit class omit-partial: partial-weak or partial-str",
        ),
        (
            {"class": "omit-complete", "type": "omit", "residual_level": "partial-weak"},
            "residual_level: partial-weak does not fit class omit-complete: complete",
        ),
        ({"clean": 7}, "clean: text is needed, not a number"),
        ({"clean": True}, "clean: text is needed, not a truth value"),
        ({"errored": {"text": "x"}}, "errored: text is needed, not an object"),
        ({"errored": " \n"}, "errored: is blank"),
        ({"errored": "a\0b"}, "errored: NUL character at position 2"),
        ({"errored": "a\ud800"}, "errored: half of a surrogate pair at position 2"),
        ({"fact": 3}, "fact: text is needed, not a number"),
        ({"pair_id": " x"}, "pair_id: ' x' has white space around it"),
        ({"pair_id": None}, "pair_id: null, a value is needed"),
        ({"stratum": "a|b"}, "stratum: 'a|b' holds «|»"),
        ({"id": "c\n1"}, "id: 'c\\n1' has white space around it or control characters"),
        ({"residual": [1]}, "residual: an object is needed, not a list"),
        ({"residual": {"sites": 3}}, "residual.sites: a list is needed, not a number"),
        ({"residual": {"sites": ["x"]}}, "residual.sites[0]: an object is needed, not text"),
        ({"residual": {"sites": [{"quote": 1}]}}, "residual.sites[0].quote: text is needed"),
        ({"edit": 3}, "edit: an object is needed, not a number"),
        ({"edit": {"start": "0", "end": 2, "after": ""}}, "edit.start: a whole number is needed"),
        ({"edit": {"start": 0, "end": 2, "aftr": ""}}, "edit.after: missing; is it «aftr»?"),
        ({"edit": {"start": 5, "end": 2, "after": ""}}, "edit: start 5 and end 2 do not lie in"),
        ({"edit": {"start": 0, "end": 2, "after": ""}}, "edit: does not turn the clean note into"),
    ],
)
def test_a_wrong_field_is_named_with_what_would_be_right(tmp_path, fields, expected):
    (fault, *more) = changed(tmp_path, **fields)
    assert fault.startswith(f"{tmp_path / 'pairs.jsonl'}:2: {expected}")
    assert not [m for m in more if "no transcript" not in m]


def test_a_wrong_class_hides_no_wrong_level(tmp_path):
    faults = changed(tmp_path, **{"class": "ad", "residual_level": "week"})
    assert [fault.split(": ")[1] for fault in faults] == ["class", "residual_level"]


def test_a_misspelt_field_is_suggested(tmp_path):
    made = consultation(1)
    made["pairs"][0]["Errored"] = made["pairs"][0].pop("errored")
    (fault,) = faults_of(write_benchmark(tmp_path, [made]))
    assert fault.endswith(":1: errored: missing; is it «Errored»?")


def test_a_pair_that_equals_its_twin_is_refused(tmp_path):
    text = consultation(1)["note"]
    assert changed(tmp_path, errored=text)[0].endswith("is the same text as its clean twin")
    (fault,) = changed(tmp_path, errored=text.replace(" ", "  "))
    assert fault.endswith("differs from its clean twin in white space only")


def test_an_errored_note_that_is_a_clean_note_is_refused(tmp_path):
    made = consultation(1)
    other = "Quite another clean note."
    made["pairs"][2]["clean"] = other
    made["pairs"][1]["errored"] = other
    del made["note"]
    (fault,) = faults_of(write_benchmark(tmp_path, [made]))
    assert fault.endswith("errored: is the clean note of pair 'made|c001|omit-partial|2'")


def test_a_clean_note_that_is_not_the_consultations_note_is_refused(tmp_path):
    source = tmp_path / "consultations.jsonl"
    (fault,) = changed(tmp_path, clean="Something else.")
    assert fault.endswith(f"pairs.jsonl:2: clean: differs from the note at {source}:1")


def test_a_consultation_may_have_several_clean_notes(tmp_path):
    made = consultation(1)
    del made["note"]
    made["pairs"][1]["clean"] = "A second clean note."
    (found,) = load(write_benchmark(tmp_path, [made])).consultations
    assert len(found.clean) == 2
    assert {n.label.twin for n in found.errored} == {n.id for n in found.clean}


def test_duplicate_pair_ids_name_both_lines(tmp_path):
    (fault,) = changed(tmp_path, pair_id=consultation(1)["pairs"][0]["pair_id"])
    where = tmp_path / "pairs.jsonl"
    assert fault == (f"{where}:2: pair_id: 'made|c001|omit-complete|0' stands already at {where}:1")


def test_a_repeated_errored_note_is_left_out_with_its_reason(tmp_path):
    made = consultation(1)
    made["pairs"].append({**made["pairs"][0], "pair_id": "made|c001|omit-complete|9"})
    loaded = open_benchmark(write_benchmark(tmp_path, [made]))
    assert len(loaded.benchmark.consultations[0].errored) == 3
    (notice,) = loaded.notices
    assert notice == (
        "pair 'made|c001|omit-complete|9' left out: same notes as 'made|c001|omit-complete|0'"
    )


def test_a_repeated_errored_note_with_another_label_is_refused(tmp_path):
    made = consultation(1)
    made["pairs"].append(
        {**made["pairs"][0], "pair_id": "made|c001|omit-complete|9", "severity": "peripheral"}
    )
    (fault,) = faults_of(write_benchmark(tmp_path, [made]))
    assert "pairs.jsonl:4: errored: same notes as 'made|c001|omit-complete|0'" in fault
    assert fault.endswith("under another label")


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("consultation_id", "c001", "consultation_id: 'c001' is not of the form stratum|id"),
        ("consultation_id", 3, "consultation_id: text is needed, not a number"),
        ("stratum", "other", "stratum: 'other' does not fit consultation 'made|c001'"),
        ("note", ["x"], "note: text is needed, not a list"),
        ("transcript", None, "transcript: null, a value is needed"),
    ],
)
def test_faults_of_consultations(tmp_path, field, value, expected):
    faults = faults_of(write_benchmark(tmp_path, [{**consultation(1), field: value}]))
    assert faults[0] == f"{tmp_path / 'consultations.jsonl'}:1: {expected}"


def test_a_consultation_twice_is_refused(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1), {**consultation(1), "pairs": []}])
    (fault,) = faults_of(source)
    assert f"'made|c001' stands already at {source.consultations}:1" in fault


# --- files that are no sound files


def broken(kind: str, path: Path, sound: bytes) -> None:
    line = sound.split(b"\n")[0]
    contents = {
        "empty": b"",
        "blank": b" \n\n",
        "nul": b"\0" * 512,
        "latin-1": line.replace(b'"made"', b'"caf\xe9"') + b"\n",
        "utf-16": sound.decode().encode("utf-16"),
        "truncated": sound[: len(sound) - 40],
        "nan": line[:-1] + b', "weight": NaN}\n',
        "infinity": line[:-1] + b', "weight": -Infinity}\n',
        "twice": line[:-1] + b', "stratum": "x"}\n',
        "list": b"[1, 2]\n",
        "deep": b"[" * 100_000,
        "digits": b'{"a": ' + b"9" * 5000 + b"}\n",
        "extra": line + b" {}\n",
        "huge": b'{"a": "' + b"x" * (16 << 20) + b'"}\n',
        "control": b'{"a": "x\ty"}\n',
    }
    path.write_bytes(contents[kind])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("empty", ": is empty"),
        ("blank", ": is empty"),
        ("nul", ":1: NUL at byte 1: damaged, or saved as UTF-16?"),
        ("latin-1", ":1: not UTF-8: invalid continuation byte at byte"),
        ("utf-16", ":1: NUL at byte"),
        ("truncated", ":3: not JSON: "),
        ("nan", ":1: NaN is not JSON: use null or a finite number"),
        ("infinity", ":1: -Infinity is not JSON"),
        ("twice", ":1: stratum: stands twice in one object"),
        ("list", ":1: an object is needed, not a list"),
        ("deep", ":1: not readable as JSON: nested too deeply"),
        ("digits", ":1: not readable as JSON: Exceeds the limit"),
        ("extra", ":1: not JSON: Extra data"),
        ("huge", ":1: line of 16777225 bytes, at most 16777216 are read"),
        ("control", ":1: not JSON: Invalid control character"),
    ],
)
@pytest.mark.parametrize("which", ["pairs", "consultations"])
def test_broken_files_are_faults_with_their_line(tmp_path, kind, expected, which):
    source = write_benchmark(tmp_path, [consultation(1), consultation(2), consultation(3)])
    path = getattr(source, which)
    broken(kind, path, b"\n".join(path.read_bytes().split(b"\n")[:3]))
    first, *others = faults_of(source)
    assert first.startswith(f"{path}{expected}")
    assert ("is the file truncated?" in first) == (kind == "truncated")
    assert not [fault for fault in others if "no transcript" in fault]


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (lambda data: data[:-20], "gzip data ends too early: is the file truncated?"),
        (lambda _: b"plain text", "broken gzip: Not a gzipped file"),
        (lambda data: data[:30] + bytes(40) + data[70:], "broken gzip"),
        (lambda data: data + b"garbage", "broken gzip: Not a gzipped file"),
    ],
)
def test_broken_gzip_is_a_fault(tmp_path, damage, expected):
    source = write_benchmark(tmp_path, [consultation(1)])
    path = tmp_path / "pairs.jsonl.gz"
    path.write_bytes(damage(gzip.compress(source.pairs.read_bytes(), mtime=0)))
    (fault,) = faults_of(BenchmarkSource(path, source.consultations))
    assert fault.startswith(f"{path}: {expected}")


def test_absent_files_directories_and_odd_names(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)])
    assert faults_of(BenchmarkSource(tmp_path / "no.jsonl"))[0].endswith("no.jsonl: no such file")
    assert faults_of(BenchmarkSource(tmp_path))[0].endswith("is a directory, a file is needed")
    (tmp_path / "pairs.txt").write_text("x")
    assert "must end in one of .json, .csv" in faults_of(BenchmarkSource(tmp_path / "pairs.txt"))[0]
    gone = BenchmarkSource(source.pairs, tmp_path / "gone.jsonl")
    assert faults_of(gone)[0].endswith("gone.jsonl: no such file or folder")
    odd = BenchmarkSource(source.pairs, tmp_path / "pairs.txt")
    assert "must end in one of .csv" in faults_of(odd)[0]
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert faults_of(BenchmarkSource(tmp_path / "pipe.jsonl"))[0].endswith("is no regular file")
    assert faults_of(BenchmarkSource(Path("a\0b.jsonl")))[0].endswith("embedded null byte")


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads files whatever their mode")
def test_a_file_without_permission_is_a_fault(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)])
    source.pairs.chmod(0)
    assert "cannot be read" in faults_of(source)[0]


def test_faults_of_the_second_file_stand_beside_a_missing_first(tmp_path):
    source = write_benchmark(tmp_path, [consultation(1)])
    source.consultations.write_text("nonsense\n")
    source.pairs.unlink()
    first, second = faults_of(source)
    assert first.endswith("no such file")
    assert second.startswith(f"{source.consultations}:1: not JSON")


# --- the object form


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", ":1: not JSON: Expecting property name enclosed in double quotes"),
        ("[]", ":1: an object is needed, not a list"),
        ("{}", ": pairs: the object must hold a list of this name"),
        ('{"dataset_version": "1", "pairs": {}}', ": pairs: the object must hold a list"),
        ('{"dataset_version": "1", "pairs": []}', ": pairs: the list is empty"),
        ('{"dataset_version": "1",\n "pairs": [\n{"a": 1}\n', ":4: not JSON: Expecting ','"),
        ('{"dataset_version": "1", "pairs": [{"a": 1}]} x', ":1: not JSON: Extra data"),
        ('{"dataset_version": "1" "pairs": []}', ":1: not JSON: Expecting ','"),
        ('{"dataset_version" 1}', ":1: not JSON: Expecting ':'"),
        ('{"pairs": [\n\n7]}', ":3: an object is needed, not a number"),
        ('{"pairs": [{"a": NaN}]}', ":1: NaN is not JSON"),
        ('{"a": 1, "a": 2, "pairs": [{}]}', ":1: a: stands twice in the object"),
        ('{"pairs": [{"a": ' + "[" * 100_000, ":1: not readable as JSON: nested too deeply"),
    ],
)
def test_faults_of_the_object_form(tmp_path, text, expected):
    path = tmp_path / "pairs.json"
    path.write_text(text)
    (tmp_path / "transcripts").mkdir()
    assert faults_of(BenchmarkSource(path))[0].startswith(f"{path}{expected}")


def test_pairs_of_the_object_form_know_their_line(tmp_path):
    content = json.loads((LAYOUT / "pairs.json").read_text("utf-8"))
    content["pairs"][5]["class"] = "ad"
    del content["dataset_version"]
    path = tmp_path / "pairs.json"
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False), "utf-8")
    faults = faults_of(BenchmarkSource(path, LAYOUT))
    line = path.read_text("utf-8").split("clinic_visit02_2")[0].count("\n")
    assert faults[0] == f"{path}: dataset_version: a text is needed beside pairs"
    assert faults[1].startswith(f"{path}:{line}: class: 'ad' is not one of")
    assert faults[1].endswith("did you mean «add»?")


# --- real data


def test_the_real_pairs_load():
    source = BenchmarkSource(real("real_pairs.jsonl.gz"), real("consultations.jsonl.gz"))
    loaded = open_benchmark(source)
    assert len(loaded.benchmark.consultations) == 41
    assert sum(len(c.errored) for c in loaded.benchmark) == 204
    assert all(len(c.clean) == 1 for c in loaded.benchmark)
    assert loaded.benchmark.version == "mechanical-v1"
    assert loaded.notices == ()
