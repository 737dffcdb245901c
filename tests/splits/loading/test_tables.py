"""The one reader of tables: whatever is done to a file, no row holds another row's text."""

import csv
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from tests.support.malformed_tables import DAMAGES, examine, made_table

from heldout.splits.benchmark import CleanMeans
from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.splits.loading.columns import TableOptions, columns_asked
from heldout.splits.loading.csv_rows import raw_rows
from heldout.splits.loading.sheets import parquet_rows
from heldout.splits.loading.text_files import read_input

SOUND = (
    "blank lines",
    "mixed ends",
    "cr only",
    "sep= on top",
    "sound",
    "sound with a mark",
    "utf-16",
    "utf-16 without a mark",
    "utf-32",
)
MARRED = tuple(sorted(set(DAMAGES) - set(SOUND)))


@pytest.mark.parametrize("number", range(len(DAMAGES) + 6))
def test_no_row_of_a_malformed_table_holds_another_rows_text(tmp_path, number):
    seen = examine(made_table(number), tmp_path)
    assert seen.wrong == ()
    if seen.kind in SOUND:
        assert not seen.refused


def test_every_kind_of_damage_is_among_them():
    kinds = {made_table(number).kind for number in range(len(DAMAGES))}
    assert kinds == set(DAMAGES)
    assert len(MARRED) > 20


def groups(path: Path, text: str, **said):
    path.write_text(text, "utf-8")
    return open_benchmark(BenchmarkSource(path, table=TableOptions(**said)))


ROWS = "Case;Note ID;Kind;Clinical Note;Dialogue\n1;a;clean;One, two.;Said.\n1.;b;clean;Two.;\n"


def test_a_table_of_groups_in_another_dialect_with_columns_of_its_own(tmp_path):
    columns = {"group": "Case", "text": "Clinical Note", "transcript": "Dialogue"}
    loaded = groups(tmp_path / "t.csv", ROWS.replace("1.;", "1;"), columns=columns)
    assert loaded.notices == ("t.csv: read as UTF-8 with semicolons",)
    (consultation,) = loaded.benchmark.consultations
    assert (consultation.id, len(consultation.clean)) == ("all|1", 2)


def test_transcripts_of_a_benchmark_come_as_captions_and_as_a_table(tmp_path):
    text = "group,note_id,kind,text\n1,a,clean,One.\n"
    (tmp_path / "transcripts" / "all").mkdir(parents=True)
    captions = tmp_path / "transcripts" / "all" / "1.srt"
    captions.write_text("1\n00:00:00,000 --> 00:00:01,000\nHello.\n")
    (only,) = groups(tmp_path / "t.csv", text).benchmark.consultations
    assert only.transcript == "Hello."
    (tmp_path / "c.csv").write_text("consultation_id;Dialogue\nall|1;Said.\n")
    said = TableOptions({"transcript": "Dialogue"})
    source = BenchmarkSource(tmp_path / "t.csv", tmp_path / "c.csv", table=said)
    loaded = open_benchmark(source)
    assert loaded.benchmark.consultations[0].transcript == "Said."
    assert loaded.notices == ("c.csv: read as UTF-8 with semicolons",)


def test_ids_of_a_benchmark_are_equal_whatever_their_type_and_composition(tmp_path):
    lines = (
        '{"group": 1, "note_id": "Zo\\u00eb", "kind": "clean", "text": "A.", "transcript": "S."}\n'
        '{"group": "1", "note_id": 2.0, "kind": "add", "text": "A. B.", "twin": "Zoe\\u0308"}\n'
    )
    loaded = groups(tmp_path / "t.jsonl", lines).benchmark
    assert [note.label.pair_id for c in loaded for note in c.errored] == ["all|1|2"]
    with pytest.raises(BadInput, match="group: text is needed, not a truth value"):
        groups(tmp_path / "t.jsonl", lines.replace('"group": 1,', '"group": true,'))


def test_what_is_said_of_a_table_changes_no_benchmark_that_loads(tmp_path):
    text = "group,note_id,kind,text,transcript\n1,a,clean,One.,Said.\n"
    plain = groups(tmp_path / "t.csv", text)
    said = groups(tmp_path / "t.csv", text, delimiter=",", encoding="utf-8", multiline=True)
    assert said.benchmark.digest == plain.benchmark.digest
    assert said.files == plain.files
    assert plain.benchmark.clean_means is CleanMeans.UNEDITED


def test_columns_are_asked_for_as_name_and_column():
    assert columns_asked(["note=Clinical Note", " id = A=B "]) == {
        "note": "Clinical Note",
        "id": "A=B",
    }
    for wrong in (["note"], ["=x"], ["note="], ["id=a", "id=b"]):
        with pytest.raises(BadInput):
            columns_asked(wrong)


def test_many_faults_of_one_kind_are_one_line_with_a_count_and_three_places():
    many = [Fault(f"t.csv:{n}: kind", f"'x{n}' is not one of a, b") for n in range(2, 9)]
    few = [Fault("t.csv:3", "is blank"), Fault("t.csv:5", "is blank"), Fault("u.csv:1", "is blank")]
    named = [Fault("c.jsonl", f"no transcript of consultation 'a|{n}'") for n in range(5)]
    assert BadInput([*many, *few, *named]).lines == (
        "t.csv:2: kind: 'x2' is not one of a, b "
        "(7 of this kind; the first: line 2, line 3, line 4)",
        "t.csv:3: is blank",
        "t.csv:5: is blank",
        "u.csv:1: is blank",
        "c.jsonl: no transcript of consultation 'a|0' "
        "(5 of this kind; the first: 'a|0', 'a|1', 'a|2')",
    )


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (pyarrow.date32(), 10**7),
        (pyarrow.date32(), -(10**7)),
        (pyarrow.timestamp("ms"), 10**15),
        (pyarrow.timestamp("us"), 2**62),
        (pyarrow.timestamp("us", tz="Mars/Olympus"), 1),
    ],
)
def test_a_date_that_no_calendar_here_has_is_a_fault(tmp_path, kind, days):
    path = tmp_path / "notes.parquet"
    parquet.write_table(pyarrow.table({"note_id": pyarrow.array([days], kind)}), path)
    with pytest.raises(BadInput, match="is no parquet file"):
        parquet_rows(read_input(path))


def test_long_cells_are_read_in_several_threads_at_once():
    """The limit of a cell is one of the process: a thread that is done must not lower it."""
    data = ("note_id,note\n" + f"1,{'x' * 200_000}\n" * 12).encode()
    before, threads = csv.field_size_limit(), 4
    begin = threading.Barrier(threads)

    def problems() -> list[str]:
        begin.wait(10)
        return [row.problem for row in raw_rows(data, ",") if row.problem]

    with ThreadPoolExecutor(threads) as pool:
        found = [task.result() for task in [pool.submit(problems) for _ in range(threads)]]
    assert found == [[]] * threads
    assert csv.field_size_limit() == before
