"""Tables of notes as people have them; each kind of fault that was reported stands by its name."""

import csv
import gzip
import io
import json
import unicodedata
import zipfile
from datetime import date, datetime
from pathlib import Path

import pytest
from openpyxl import Workbook
from pyarrow import parquet, table
from tests.splits.real import real

from heldout.experiments.practice.note_rows import NoteFile, open_notes
from heldout.splits.errors import BadInput
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.loading.columns import TableOptions

CASES = Path(__file__).parents[2] / "cases"
HEAD = ["id", "transcript", "note"]


def rows_of(path, consultations=None, *, transcripts=True, **said):
    file = NoteFile(path, consultations, transcripts, TableOptions(**said))
    return list(open_notes(file).rows())


def refused(path, consultations=None, **said):
    with pytest.raises(BadInput) as caught:
        rows_of(path, consultations, **said)
    return [line.replace(f"{path}", path.name) for line in caught.value.lines]


def written(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def workbook(path, *sheets):
    book = Workbook()
    book.remove(book.active)
    for number, rows in enumerate(sheets):
        sheet = book.create_sheet(f"s{number}")
        for row in rows:
            sheet.append(row)
    book.save(path)
    return path


# --- a malformed table swallows rows

STRAYS = {
    "never closed": (
        'id,transcript,note\nn1,a,one\nn2,b,"two\nn3,c,three\n',
        "t.csv:3: not CSV: unexpected end of data",
    ),
    "closed at the end of a later note": (
        'id,transcript,note\nn1,a,one\nn2,b,"two\nn3,c,three\nn4,d,four"\nn5,e,five\n',
        "t.csv:3: a quoted field holds what reads as a row of its own, in line 4 (id «n3»)",
    ),
    "closed in the next row": (
        'id,transcript,note\nn1,a,"one\nn2,b,two"\nn3,c,three\n',
        "t.csv:2: a quoted field holds what reads as a row of its own, in line 3 (id «n2»)",
    ),
    "in the transcript, ids last": (
        'note;transcript;id\none;a;n1\ntwo;"b;n2\nthree;c";n3\n',
        "t.csv:3: a quoted field holds what reads as a row of its own, in line 4 (id «n3»)",
    ),
    "before a quoted note": (
        'id,transcript,note\nn1,a,"one\nn2,b,"two, or so"\nn3,c,three\n',
        "t.csv:2: not CSV: a quoted field goes on behind its closing quote",
    ),
    "closed in another column": (
        'id,transcript,note\nn1,"a,one\nn2,b",two\n',
        "t.csv:2: a quoted field holds what reads as a row of its own, in line 3 (id «n2»)",
    ),
    "after a comma that is not quoted": (
        'id,note,transcript\nn1,one,a\nn2,"two, or so,b\nn3,three",c\nn4,four,d\n',
        "t.csv:3: a quoted field holds what reads as a row of its own, in line 4 (id «n3»)",
    ),
    "around too many cells": (
        'id,transcript,note\nn1,a,"one\nn2",b,two\nn3,c,three\n',
        "t.csv:2: 5 cells under 3 columns, on 2 lines: is a quote not closed?",
    ),
    "ids that are names": (
        'id,transcript,note\nAbel,a,"one\nBirch,b,two\nCohen,c,three"\nDrake,d,four\n',
        "t.csv:2: a quoted field holds what reads as a row of its own, in line 3 (id «Birch»)",
    ),
}


def test_a_malformed_table_swallows_rows():
    first, second = refused(CASES / "stray.csv")
    assert first.startswith("stray.csv:3: not CSV: a quoted field goes on behind its closing quote")
    assert second.startswith("stray.csv:4: not CSV: unexpected end of data")


@pytest.mark.parametrize("kind", STRAYS)
def test_a_malformed_table_swallows_rows_however_the_quote_strays(tmp_path, kind):
    text, fault = STRAYS[kind]
    assert refused(written(tmp_path / "t.csv", text))[0].startswith(fault)


HONEST = (
    "Knee pain, 2 weeks\nNo fever, tired, sleeps badly",
    "1, 2, 3\nA, b, c",
    'She said "no", twice\n\nPlan, rest, ice',
)


@pytest.mark.parametrize(
    "header", [HEAD, ["note", "id", "transcript"], ["note", "transcript", "id"]]
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_honest_notes_over_several_lines_load_without_a_word(tmp_path, header, delimiter):
    stream = io.StringIO(newline="")
    writer = csv.DictWriter(stream, header, delimiter=delimiter)
    writer.writeheader()
    for number, text in enumerate(HONEST):
        writer.writerow({"id": f"n{number}", "transcript": f"a, b\nc, d {number}", "note": text})
    found = rows_of(written(tmp_path / "t.csv", stream.getvalue()))
    assert [row.note.text for row in found] == list(HONEST)


def test_a_cell_that_reads_as_a_row_is_taken_when_asked(tmp_path):
    text = 'id,transcript,note\nn1,a,"one\nn2,b,two"\nn3,c,three\n'
    found = rows_of(written(tmp_path / "t.csv", text), multiline=True)
    assert [row.note.text for row in found] == ["one\nn2,b,two", "three"]


@pytest.mark.parametrize("header", [["id", "transcript", "note"], ["note", "transcript", "id"]])
def test_the_shared_consultations_as_a_table_load_without_a_flag(tmp_path, header):
    lines = gzip.decompress(real("consultations.jsonl.gz").read_bytes()).decode().splitlines()
    given = [{**one, "id": one["consultation_id"]} for one in map(json.loads, lines)]
    with (tmp_path / "t.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, header, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(given)
    found = rows_of(tmp_path / "t.csv")
    assert [row.id for row in found] == [one["id"] for one in given]
    assert [row.note.text for row in found] == [one["note"] for one in given]
    rows = [["group", "note_id", "kind", "text", "transcript"]]
    for one in given:
        rows.append([one["id"].replace("|", "-"), "n", "clean", one["note"], one["transcript"]])
    with (tmp_path / "g.csv").open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows(rows)
    assert len(open_benchmark(BenchmarkSource(tmp_path / "g.csv")).benchmark.consultations) == 41


# --- a value of another JSON type counts as absent


def groups_of(path):
    return [row.note.consultation for row in rows_of(path) if row.note]


def test_a_value_of_another_json_type_counts_as_absent():
    assert len(set(groups_of(CASES / "cal_int.jsonl"))) == 10


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (1.0, 1),
        ("1", 1.0),
        (" a ", "a"),
        ("a\r\n", "a"),
        ("Zoë", unicodedata.normalize("NFD", "Zoë")),
        (10**30, str(10**30)),
    ],
)
def test_equal_ids_are_equal_whatever_their_type_and_form(tmp_path, one, other):
    lines = [
        {"consultation": c, "transcript": f"t{n}", "note": "x"} for n, c in enumerate((one, other))
    ]
    path = written(tmp_path / "t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    first, second = groups_of(path)
    assert first == second


def test_a_transcript_is_the_same_in_other_line_ends_and_composition(tmp_path):
    forms = ["a\nZoë\n", "a\r\nZoë", "a\r" + unicodedata.normalize("NFD", "Zoë"), "another"]
    lines = [{"transcript": form, "note": f"n{n}"} for n, form in enumerate(forms)]
    path = written(tmp_path / "t.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    assert len(set(groups_of(path))) == 2


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("true", "consultation: text or a number is needed, not a truth value"),
        ("[1]", "consultation: text or a number is needed, not a list"),
        ("NaN", "NaN is not JSON: use null or a finite number"),
        ("1e999", "consultation: is not a finite number, not a number"),
    ],
)
def test_a_value_that_is_no_id_is_a_reason(tmp_path, value, reason):
    text = (
        '{"transcript": "t", "note": "n"}\n{"consultation": %s, "transcript": "t", "note": "n"}\n'
    )
    _, row = rows_of(written(tmp_path / "t.jsonl", text % value))
    assert (row.note, row.reason) == (None, reason)


# --- a table that cannot be what is needed is judged row by row

ENCOUNTERS = "dataset,encounter_id,dialogue,note\nx,D1,[doctor] hi,Fine\nx,D2,[doctor] ho,Fine\n"
NEEDED = {
    "aci.csv": (ENCOUNTERS, "no column «transcript»; there is «dialogue»: --columns transcript=d"),
    "a.jsonl": ('{"note": "a"}\n{"note": "b"}\n', "no column «transcript»; the columns are «note»"),
    "b.csv": ("id,transkript,note\n1,a,b\n", "no column «transcript»; there is «transkript»"),
    "c.csv": ("id,transcript,Summary\n1,a,b\n", "no column «note» or «text»; there is «Summary»"),
    "d.csv": ("a,b\n1,2\n", "no column «note» or «text»; the columns are «a», «b»"),
    "e.jsonl": ('{"transcript": "a", "Clinical Note": "b"}\n', "there is «Clinical Note»: --col"),
}


@pytest.mark.parametrize("name", NEEDED)
def test_a_table_that_cannot_be_what_is_needed_is_judged_row_by_row(tmp_path, name):
    text, fault = NEEDED[name]
    faults = refused(written(tmp_path / name, text))
    assert any(f"{name}:1: " in line and fault in line for line in faults)
    assert len(faults) <= 2


def test_columns_are_mapped_by_name(tmp_path):
    path = written(tmp_path / "aci.csv", ENCOUNTERS)
    found = rows_of(path, columns={"transcript": "dialogue", "id": "Encounter ID"})
    assert [(row.id, row.note.transcript) for row in found] == [
        ("D1", "[doctor] hi"),
        ("D2", "[doctor] ho"),
    ]
    hdr = rows_of(CASES / "hdr.csv", columns={"note": "Clinical Note"})
    assert [(row.id, row.note.text) for row in hdr] == [("1", "No cough")]
    lines = written(
        tmp_path / "l.jsonl", '{"transcript": "a", "Clinical Note": "b", "note": "c"}\n'
    )
    assert rows_of(lines, columns={"note": "Clinical Note"})[0].note.text == "b"


@pytest.mark.parametrize(
    ("columns", "fault"),
    [
        (
            {"note": "Clinical Not"},
            "there is no column «Clinical Not»; did you mean «Clinical Note»?",
        ),
        ({"nte": "Clinical Note"}, "'nte' is none of the columns that are read: note, transcript"),
        (
            {"note": "Transcript", "transcript": "Transcript"},
            "is given for note and for transcript",
        ),
    ],
)
def test_columns_that_do_not_fit_are_one_fault(columns, fault):
    assert any(fault in line for line in refused(CASES / "hdr.csv", columns=columns))


# --- of two equal columns the last wins

TWICE = {
    "a.csv": ("id,transcript,note,note\n1,a,b,c\n", "column «note» stands twice"),
    "b.csv": (
        "id,Transcript,note,transcript\n1,a,b,c\n",
        "«Transcript» stands twice: Transcript and",
    ),
    "c.csv": ("id;transcript;note;id\n1;a;b;2\n", "column «id» stands twice"),
    "d.csv": ("id,transcript,note,x,x\n1,a,b,c,d\n", "column «x» stands twice"),
    "e.jsonl": (
        '{"transcript": "a", "note": "b", "note": "c"}\n',
        "note: stands twice in one object",
    ),
    "f.jsonl": ('{"transcript": "a", "note": "b", "Note": "c"}\n', "column «note» stands twice"),
}


def test_of_two_equal_columns_the_last_wins():
    assert refused(CASES / "dupcol.csv") == ["dupcol.csv:1: column «note» stands twice"]


@pytest.mark.parametrize("name", TWICE)
def test_of_two_equal_columns_the_last_wins_in_any_form(tmp_path, name):
    text, fault = TWICE[name]
    assert any(fault in line for line in refused(written(tmp_path / name, text)))


# --- spreadsheet dialects


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("semi.csv", "semi.csv: read as UTF-8 with semicolons"),
        ("tab.csv", "tab.csv: read as UTF-8 with tabs"),
        ("utf16.csv", "utf16.csv: read as UTF-16 with tabs"),
    ],
)
def test_spreadsheet_dialects(name, said):
    opened = open_notes(NoteFile(CASES / name))
    assert opened.notices == (said,)
    assert [row.id for row in opened.rows()] == ["1"]


def test_spreadsheet_dialects_name_the_column():
    (line,) = refused(CASES / "hdr.csv")
    assert "there is «Clinical Note»: --columns 'note=Clinical Note'" in line


PLAIN = "id,transcript,note\n1,Müller: hört gut?,Kein Husten\n"


@pytest.mark.parametrize(
    ("name", "content", "notices"),
    [
        ("a.csv", "sep=;\r\n" + PLAIN.replace(",", ";"), ["a.csv: read as UTF-8 with semicolons"]),
        ("b.csv", PLAIN.replace(",", "|"), ["b.csv: read as UTF-8 with bars"]),
        ("c.tsv", PLAIN.replace(",", "\t"), ["c.tsv: read as UTF-8 with tabs"]),
        ("d.csv", PLAIN.encode("utf-16-le"), ["d.csv: read as UTF-16-LE with commas"]),
        ("e.csv", PLAIN.encode("utf-32"), ["e.csv: read as UTF-32 with commas"]),
        ("f.csv", PLAIN.encode("utf-8-sig"), []),
        ("g.csv", PLAIN.encode("cp1252"), ["g.csv: read as CP1252 with commas"]),
        ("h.csv", PLAIN.replace("\n", "\r"), []),
        ("i.csv", "\n\n" + PLAIN, []),
        ("j.csv", '"id","transcript","note"\n"1","Müller: hört gut?","Kein Husten"', []),
    ],
)
def test_dialects_are_found_and_said(tmp_path, name, content, notices):
    opened = open_notes(NoteFile(written(tmp_path / name, content)))
    (row,) = opened.rows()
    assert (row.id, row.note.transcript, row.note.text) == ("1", "Müller: hört gut?", "Kein Husten")
    assert list(opened.notices) == notices


@pytest.mark.parametrize("encoding", ["cp932", "gb18030", "big5", "euc_kr"])
def test_a_table_in_an_east_asian_encoding_is_asked_about_and_read_as_told(tmp_path, encoding):
    note = {"euc_kr": "환자는 사흘 전부터 기침", "cp932": "患者は三日前から咳。ペニシリンにｱﾚﾙｷﾞｰ"}
    text = note.get(encoding, "病人三天前開始咳嗽")
    data = f"id,transcript,note\n1,a,{text}\n".encode(encoding)
    path = written(tmp_path / "t.csv", data)
    assert "say what it is with --encoding" in refused(path)[0]
    (row,) = rows_of(path, encoding=encoding)
    assert row.note.text == text


def test_what_a_person_says_of_a_table_goes_before_what_is_found(tmp_path):
    text = "id^transcript^note\n1^a^Fièvre à 39, toux légère\n"
    path = written(tmp_path / "t.csv", text.encode("cp1252"))
    (row,) = rows_of(path, delimiter="^", encoding="cp1252")
    assert row.note.text == "Fièvre à 39, toux légère"
    assert "is not UTF-8; say what it is with --encoding" in refused(path, delimiter="^")[0]
    assert refused(path, encoding="klingon") == ["--encoding: 'klingon' is no text encoding"]
    assert refused(path, encoding="utf-16")[0].startswith("t.csv:")
    assert "is not one character" in refused(CASES / "semi.csv", delimiter=";;")[0]
    assert "there is no column" in refused(CASES / "semi.csv", delimiter=",")[0]


def test_workbooks_and_parquet_are_tables_of_text(tmp_path):
    rows = [
        ["id", "transcript", "note"],
        [1, "a", "one"],
        [2.0, "b", None],
        ["x", "c", 3.5],
        [True],
        [5, date(2026, 3, 1), datetime(2026, 3, 1, 9, 30)],
    ]
    found = rows_of(workbook(tmp_path / "t.xlsx", rows, []))
    seen = [(row.id, row.note.text if row.note else row.reason) for row in found]
    assert seen == [
        ("1", "one"),
        ("2", "note: is blank"),
        ("x", "3.5"),
        ("true", "transcript: is blank"),
        ("5", "2026-03-01T09:30:00"),
    ]
    assert found[-1].note is not None
    assert found[-1].note.transcript == "2026-03-01"
    columns = {
        "id": [1.0, float("nan"), 3.0],
        "transcript": ["a", "b", "c"],
        "note": ["x", "y", ""],
    }
    parquet.write_table(table(columns), tmp_path / "t.parquet")
    found = rows_of(tmp_path / "t.parquet")
    assert [row.id for row in found] == ["1", "row 2", "3"]
    assert found[2].where.endswith("t.parquet:3")


def test_workbooks_and_parquet_that_are_none_are_one_line(tmp_path):
    row = ["id", "transcript", "note"]
    two = workbook(tmp_path / "two.xlsx", [row, [1, 2, 3]], [row, [1, 2, 3]])
    assert refused(two) == ["two.xlsx: must have one sheet with content; found: «s0», «s1»"]
    twice = workbook(tmp_path / "twice.xlsx", [[*row, "note"], [1, 2, 3, 4]])
    assert refused(twice) == ["twice.xlsx:1: column «note» stands twice"]
    broken = two.read_bytes()[:-200]
    for name, content in [
        ("a.xlsx", b"id,note\n"),
        ("b.xlsx", broken),
        ("c.xlsx", zipped("x", "y")),
    ]:
        (line,) = refused(written(tmp_path / name, content))
        assert line.startswith(f"{name}: is no Excel workbook (.xlsx)")
    (line,) = refused(written(tmp_path / "d.parquet", b"id,note\n"))
    assert line.startswith("d.parquet: is no parquet file")


# --- files that are no tables


def zipped(name, text):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr(name, text)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (zipped("t.csv", PLAIN), "is a ZIP archive"),
        (b"%PDF-1.7\n%\xe2\xe3\n", "is a PDF"),
        ("<!DOCTYPE html><html><body>" + PLAIN, "is an HTML page"),
        (b"\xd0\xcf\x11\xe0" + bytes(64), "is an old Excel or Word file"),
        (b"PAR1" + bytes(64), "is a parquet file; its name must end in .parquet"),
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("id,transcript,note\n", "the table has a header and no row"),
        ("id,transcript,note\n\n , \n", "the table has a header and no row"),
        ('id,transcript,note\n1,a,b\n"', "t.csv:3: not CSV: unexpected end of data"),
        ("id,transcript,note\n1;a;b\n", "t.csv:2: 1 cell under 3 columns"),
        ("id,transcript,note\n1,a," + "x" * (17 << 20), "a field has more than 16 MiB"),
    ],
)
def test_a_file_that_is_no_table_is_one_clear_line(tmp_path, content, said):
    (line,) = refused(written(tmp_path / "t.csv", content))
    assert said in line


def test_two_files_in_one_and_damaged_cells_are_reasons(tmp_path):
    text = "id,transcript,note\n1,a,b\n\ufeffid,transcript,note\n2,c\0,d\n3,e,f,g\n4,h,i\n"
    found = rows_of(written(tmp_path / "t.csv", text))
    assert [row.reason for row in found] == [
        "",
        "is the header again: are these two files in one?",
        "transcript: NUL character at position 2",
        "4 cells under 3 columns",
        "",
    ]
    assert [row.where.rpartition(":")[2] for row in found] == ["2", "3", "4", "5", "6"]


def test_nothing_that_can_be_judged_is_a_fault_and_many_of_a_kind_are_one_line(tmp_path):
    rows = "".join(f"{n},,b\n" for n in range(50))
    (line,) = refused(written(tmp_path / "t.csv", "id,transcript,note\n" + rows))
    assert line == (
        "t.csv:2: transcript: is blank (50 of this kind; the first: line 2, line 3, line 4)"
    )


# --- transcripts from files of their own

VTT = "WEBVTT\n\n00:00.000 --> 00:02.000\n<v Doctor>Any <b>fever</b>?\n\n" + (
    "2\n00:02.000 --> 00:04.000\n<v.loud Patient>No &amp; no.</v>\n\n"
    "00:04.000 --> 00:05.000\n<v Patient>BP &lt;120.\n"
)
SRT = (
    "1\n00:00:00,000 --> 00:00:02,000\n<i>Any fever?</i>\n\n2\n00:00:02,000 --> 00:00:03,000\nNo.\n"
)
WHISPER = {"text": " Any fever? No.", "segments": [{"text": " Any fever?"}, {"text": " No."}]}


@pytest.fixture
def spoken(tmp_path):
    folder = tmp_path / "spoken"
    (folder / "ward").mkdir(parents=True)
    written(folder / "v1.vtt", VTT)
    written(folder / "v2.transcript.srt", SRT)
    written(folder / "ward" / "v3.json", json.dumps(WHISPER))
    written(folder / "v4.txt", "[doctor] hello")
    written(folder / "v5.vtt", "no captions")
    return folder


def test_notes_without_a_transcript_take_that_of_their_consultation(tmp_path, spoken):
    rows = "v1,,a,\nx,v2,b,\ny,ward|v3,c,\nv4,,d,own\nv5,,e,\nv6,,f,\n"
    text = f"id,consultation,note,transcript\n{rows}"
    found = rows_of(written(tmp_path / "t.csv", text), spoken)
    said = [row.note.transcript if row.note else row.reason for row in found]
    assert said[:4] == [
        "[Doctor] Any fever?\n[Patient] No & no. BP <120.",
        "Any fever?\nNo.",
        "Any fever?\nNo.",
        "own",
    ]
    assert said[4].startswith("transcript: ")
    assert "is no WebVTT" in said[4]
    assert said[5] == f"transcript: {spoken} has none for «v6»"


def test_transcripts_come_from_a_table_or_from_one_file_too(tmp_path, spoken):
    notes = written(tmp_path / "t.jsonl", '{"id": 1, "note": "a"}\n{"id": "v1", "note": "b"}\n')
    spread = written(tmp_path / "c.csv", "consultation_id;transcript\n1;said\n2;else\n")
    first, second = rows_of(notes, spread)
    assert (first.note.transcript, second.note) == ("said", None)
    first, second = rows_of(notes, spoken / "v1.vtt")
    assert (first.note, second.note.transcript[:8]) == (None, "[Doctor]")
    twice = written(tmp_path / "d.csv", "consultation_id,transcript\n1,said\n1,else\n")
    assert "consultation '1' stands already at" in refused(notes, twice)[0]
    (tmp_path / "none").mkdir()
    assert "holds no transcript" in refused(notes, tmp_path / "none")[0]


def test_a_folder_of_notes_finds_captions_beside_them(tmp_path, spoken):
    folder = tmp_path / "notes"
    folder.mkdir()
    written(folder / "a.note.txt", "fine")
    written(folder / "a.transcript.vtt", VTT)
    written(folder / "v2.note.txt", "fine")
    written(folder / "b.note.txt", b"caf\xe9")
    first, second, third = rows_of(folder, spoken)
    assert first.note.transcript.startswith("[Doctor]")
    assert (second.note, second.reason[:16]) == (None, "note: not UTF-8:")
    assert third.note.transcript == "Any fever?\nNo."
