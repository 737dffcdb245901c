import csv
from pathlib import Path

import pytest
from tests.splits.builders import write_lines

from heldout.splits.benchmark import NoteClass, TraceLevel
from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import UNVERSIONED, BenchmarkSource, open_benchmark

COLUMNS = ["group", "note_id", "kind", "text", "transcript", "stratum", "twin", "level", "fact"]
ROWS = [
    ["a1", "n0", "clean", "The mill closed in May.", "A long article.\nTwo lines.", "news"],
    ["a1", "n1", "add", "The mill closed in May. It reopened.", "", "news", "", "", "reopened"],
    ["a1", "n2", "omit-complete", "The mill closed.", "", "news"],
    ["a2", "n0", "clean", "Rain, all week.", "Another article.", "news"],
    ["a2", "n1", "clean", "All week, it rained.", "", "news"],
    ["a2", "n2", "omit-partial", "It rained.", "", "news", "n1", "partial-weak"],
]


def write_csv(path: Path, rows, columns=COLUMNS) -> Path:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns)
        writer.writerows([*row, *[""] * (len(columns) - len(row))] for row in rows)
    return path


def as_records(rows) -> list[dict]:
    return [{k: v for k, v in zip(COLUMNS, row, strict=False) if v} for row in rows]


def faults_of(path: Path, **declared) -> list[str]:
    with pytest.raises(BadInput) as caught:
        open_benchmark(BenchmarkSource(path, **declared))
    return [str(fault).removeprefix(str(path)) for fault in caught.value.faults]


def edited(path: Path, row: int, column: str, value: str) -> list[str]:
    rows = [[*r, *[""] * (len(COLUMNS) - len(r))] for r in ROWS]
    rows[row][COLUMNS.index(column)] = value
    return faults_of(write_csv(path, rows))


def test_a_table_loads_as_csv_and_as_json_lines_alike(tmp_path):
    loaded = open_benchmark(BenchmarkSource(write_csv(tmp_path / "t.csv", ROWS)))
    lines = open_benchmark(BenchmarkSource(write_lines(tmp_path / "t.jsonl", as_records(ROWS))))
    assert loaded.benchmark.digest == lines.benchmark.digest
    assert loaded.benchmark.version == UNVERSIONED
    first, second = loaded.benchmark.consultations
    assert (first.id, first.stratum, first.transcript) == (
        "news|a1",
        "news",
        "A long article.\nTwo lines.",
    )
    add, omission = first.errored
    assert (add.label.note_class, add.label.pair_id, add.fact) == (
        NoteClass.ADD,
        "news|a1|n1",
        "reopened",
    )
    assert omission.label.trace is TraceLevel.COMPLETE
    assert omission.label.severity is None
    (partial,) = second.errored
    assert len(second.clean) == 2
    twin = next(note for note in second.clean if note.id == partial.label.twin)
    assert twin.text == "All week, it rained."


def test_groups_of_clean_notes_alone_load(tmp_path):
    path = write_csv(tmp_path / "t.csv", [ROWS[0]])
    (only,) = open_benchmark(BenchmarkSource(path)).benchmark.consultations
    assert (len(only.clean), only.errored) == (1, ())


def test_stratum_is_all_where_left_out_and_transcripts_may_be_absent(tmp_path):
    columns = ["group", "note_id", "kind", "text"]
    rows = [["v1", "a", "clean", "One thing."], ["v1", "b", "change", "Another thing."]]
    path = write_csv(tmp_path / "t.csv", rows, columns)
    benchmark = open_benchmark(BenchmarkSource(path, transcript="absent")).benchmark
    assert [c.id for c in benchmark] == ["all|v1"]
    assert not benchmark.has_transcripts
    (fault,) = faults_of(path)
    assert "set benchmark.consultations, or benchmark.transcript: absent" in fault


def test_null_is_an_absent_value(tmp_path):
    row = {"group": "v1", "note_id": "a", "kind": "clean", "text": "One.", "transcript": "Said."}
    nulls = dict.fromkeys(["stratum", "twin", "level", "severity", "fact", "source"])
    path = write_lines(tmp_path / "t.jsonl", [{**row, **nulls}])
    (only,) = open_benchmark(BenchmarkSource(path)).benchmark.consultations
    assert only.id == "all|v1"


def test_transcripts_may_come_from_a_second_file(tmp_path):
    columns = ["group", "note_id", "kind", "text"]
    rows = [["v1", "a", "clean", "One thing."], ["v1", "b", "change", "Another thing."]]
    path = write_csv(tmp_path / "t.csv", rows, columns)
    second = write_lines(
        tmp_path / "c.jsonl", [{"consultation_id": "all|v1", "transcript": "Said."}]
    )
    (only,) = open_benchmark(BenchmarkSource(path, second)).benchmark.consultations
    assert only.transcript == "Said."


def test_a_transcript_contradicts_transcript_absent(tmp_path):
    (fault,) = faults_of(write_csv(tmp_path / "t.csv", ROWS), transcript="absent")
    assert fault == ":2: transcript: given, but benchmark.transcript says absent"


@pytest.mark.parametrize(
    ("row", "column", "value", "expected"),
    [
        (0, "kind", "cleen", ":2: kind: 'cleen' is not one of clean, omit-complete, omit-partial"),
        (1, "note_id", "n0", ":4: note_id: 'n0' stands already at"),
        (1, "text", "The mill closed in May.", ":4: text: is the same text as its clean twin"),
        (1, "level", "complete", ":4: level: complete on a pair of class add"),
        (1, "stratum", "sport", ":4: stratum: group 'a1' stands under 'news' too"),
        (1, "transcript", "Else.", ":4: transcript: differs from that of the group at"),
        (2, "level", "partial-weak", ":5: level: partial-weak does not fit class omit-complete"),
        (5, "level", "", ":8: level: missing"),
        (5, "twin", "", ":8: twin: missing; the group has 2 clean notes: n0, n1"),
        (5, "twin", "n9", ":8: twin: no clean note 'n9' in group 'news|a2'"),
        (3, "group", "", ":6: group: missing"),
    ],
)
def test_faults_of_rows_name_the_line_the_row_starts_at(tmp_path, row, column, value, expected):
    assert edited(tmp_path / "t.csv", row, column, value)[0].startswith(expected)


def test_a_group_without_a_clean_note(tmp_path):
    faults = faults_of(write_csv(tmp_path / "t.csv", ROWS[1:3]))
    assert faults[0] == ":2: twin: the group has no clean note"


def test_a_faulty_clean_note_is_not_missing_as_well(tmp_path):
    (fault, *more) = edited(tmp_path / "t.csv", 0, "transcript", "a\0b")
    assert "NUL" in fault
    assert not more
    rows = [{**row, "transcript": 3} for row in as_records(ROWS[:1])] + as_records(ROWS[1:3])
    faults = faults_of(write_lines(tmp_path / "t.jsonl", rows), transcript="absent")
    assert faults == [":1: transcript: text is needed, not a number"]


def test_all_faults_of_a_table_at_once(tmp_path):
    rows = [list(row) for row in ROWS]
    rows[0][2], rows[3][3], rows[5][7] = "clan", " ", "weak"
    faults = faults_of(write_csv(tmp_path / "t.csv", rows))
    assert len([f for f in faults if ": kind:" in f or ": text:" in f or ": level:" in f]) == 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "group,note_id,kind\n",
            ":1: there is no column «text»; the columns are «group», «note_id», «kind»",
        ),
        ("group,note_id,kind,text,group\n", ":1: column «group» stands twice"),
        ("group,note_id,kind,text\n", ": the table has a header and no row"),
        ("group,note_id,kind,text\na,b,clean\n", ":2: 3 cells under 4 columns"),
        (
            "group,note_id,kind,text,facts\na,b,clean,c,d\n",
            ":2: column «facts» is not known; did you",
        ),
        ('group,note_id,kind,text\na,b,clean,"c\n', ":2: not CSV: unexpected end of data"),
    ],
)
def test_faults_of_the_form(tmp_path, text, expected):
    path = tmp_path / "t.csv"
    path.write_text(text)
    assert faults_of(path, transcript="absent")[0].startswith(expected)


def test_a_cell_may_exceed_the_csv_modules_limit_and_the_limit_is_put_back(tmp_path):
    before = csv.field_size_limit()
    rows = [list(row) for row in ROWS]
    rows[0][4] = "word " * 60_000
    loaded = open_benchmark(BenchmarkSource(write_csv(tmp_path / "t.csv", rows)))
    assert len(loaded.benchmark.by_id["news|a1"].transcript) == 300_000
    assert csv.field_size_limit() == before


def test_columns_that_are_no_misspelling_are_left_alone(tmp_path):
    columns = [*COLUMNS, "annotator"]
    rows = [[*r, *[""] * (len(COLUMNS) - len(r)), "ann"] for r in ROWS]
    path = write_csv(tmp_path / "t.csv", rows, columns)
    assert len(open_benchmark(BenchmarkSource(path)).benchmark.consultations) == 2
