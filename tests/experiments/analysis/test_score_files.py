import json

import pytest
from tests.support.notes import benchmark
from tests.support.published import CANDIDATES, needs_data, published, scores

from heldout.experiments.analysis.score_files import read_scores, score_tables
from heldout.gepa.statistics.rates.paired import Paired, paired
from heldout.splits.errors import BadInput

PAIR = {"a|1|clean|x": 9, "a|1|omit|err": 8.5, "a|1|add|err": None}


def write(path, value):
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def test_json_and_csv_say_the_same(tmp_path):
    as_json = write(tmp_path / "s.json", PAIR)
    rows = "a|1|clean|x,9\na|1|omit|err,8.5\na|1|add|err,\n"
    as_csv = write(tmp_path / "s.csv", rows)
    with_header = write(tmp_path / "h.csv", "note,score\n" + rows)
    found = [read_scores(source).scores for source in (as_json, as_csv, with_header)]
    assert found[0] == found[1] == found[2] == {**PAIR, "a|1|clean|x": 9.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "an object of note key to score is needed"),
        ('{"a": 1', "not JSON"),
        ('{"a": 1, "a": 2}', "a: stands twice in one object"),
        ('{"a": "high"}', "a: a finite number or null is needed, not 'high'"),
        ('{"a": true}', "not True"),
        ('{"a": NaN}', "not nan"),
        ("{}", "holds no scores"),
    ],
)
def test_a_wrong_json_file_is_a_fault(tmp_path, text, message):
    with pytest.raises(BadInput, match=r"s\.json") as caught:
        read_scores(write(tmp_path / "s.json", text))
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("a|1|x,high\nb,inf\n", ["s.csv:1: a|1|x: a finite number", "s.csv:2: b: a finite"]),
        ("a,1,2\n", ["s.csv:1: two cells are needed"]),
        ("a,1\na,2\n", ["s.csv:2: a: stands twice"]),
        ("note,score\n", ["holds no scores"]),
    ],
)
def test_every_wrong_line_of_a_csv_is_named(tmp_path, text, messages):
    with pytest.raises(BadInput) as caught:
        read_scores(write(tmp_path / "s.csv", text))
    for message in messages:
        assert message in str(caught.value)


def test_a_missing_file_is_a_fault(tmp_path):
    with pytest.raises(BadInput, match="no such file"):
        read_scores(str(tmp_path / "none.json"))


CAMPAIGN = {
    "residual_levels": {"exceptions_acceptance": {"a|1|omit|err": "partial-strong"}},
    "pool": [
        {"id": 0, "name": "first", "scores": PAIR},
        {"id": 1, "name": "second", "scores": PAIR},
    ],
    "test": {"1": {"scores": {"b|2|clean|y": 1, "b|2|omit|err": 0}}},
}


def test_a_candidate_of_a_campaign_file(tmp_path):
    path = write(tmp_path / "c.json", CAMPAIGN)
    accept, heldout = read_scores(f"{path}#second"), read_scores(f"{path}#second@heldout")
    table, _ = score_tables(accept, read_scores(f"{path}#first"))
    assert paired(table) == Paired(1, 0, 0)
    assert [str(label.trace) for label in table.labels if label.trace] == ["partial-strong"]
    assert paired(score_tables(heldout, heldout)[0]).value == 1
    with pytest.raises(BadInput, match="did you mean «second»"):
        read_scores(f"{path}#secnd")
    with pytest.raises(BadInput, match="no held-out scores named 'first'; the file has: second"):
        read_scores(f"{path}#first@heldout")
    with pytest.raises(BadInput, match="pool: a campaign file"):
        read_scores(f"{write(tmp_path / 's.json', PAIR)}#first")
    broken = write(tmp_path / "b.json", {"pool": [{"id": 0, "name": "first"}]})
    with pytest.raises(BadInput, match="an object of note key to score"):
        read_scores(f"{broken}#first")


def test_files_about_different_notes_are_refused(tmp_path):
    first = read_scores(write(tmp_path / "a.json", PAIR))
    second = read_scores(write(tmp_path / "b.json", {**PAIR, "a|1|change|err": 3}))
    with pytest.raises(BadInput, match=r"b\.json: 1 note that the other file lacks"):
        score_tables(first, second)


def test_labels_come_from_the_benchmark_where_there_is_one(tmp_path):
    made = benchmark(2)
    notes = [note for c in made for note in c.notes]
    by_id = read_scores(write(tmp_path / "i.json", {note.id: 5 for note in notes}))
    table, _ = score_tables(by_id, by_id, made)
    assert table.labels == tuple(note.label for note in notes)
    unknown = read_scores(write(tmp_path / "u.json", {"nobody": 5}))
    with pytest.raises(BadInput, match="nobody: no such note in the benchmark"):
        score_tables(unknown, unknown, made)
    lonely = read_scores(write(tmp_path / "l.json", {made.consultations[0].errored[0].id: 5}))
    with pytest.raises(BadInput, match="its clean twin has no score"):
        score_tables(lonely, lonely, made)
    clean = made.consultations[0].clean[0]
    twice = {clean.id: 5, f"{made.consultations[0].id}|clean": 5}
    both = read_scores(write(tmp_path / "t.json", twice))
    with pytest.raises(BadInput, match="another key names too"):
        score_tables(both, both, made)


@needs_data
def test_the_published_campaign_is_read_whole():
    for name in CANDIDATES:
        assert len(scores(name).labels) == 105
    names = [entry["name"] for entry in published("published/pipeline_campaign.json")["pool"]]
    assert names == list(CANDIDATES)


def test_a_stray_quote_merges_no_scores(tmp_path):
    file = tmp_path / "s.csv"
    file.write_text('note,score\na,1\n"b,2\nc,3\nd,"4" or so\n')
    with pytest.raises(BadInput) as caught:
        read_scores(str(file))
    assert "s.csv:3: not CSV: " in caught.value.lines[0]
