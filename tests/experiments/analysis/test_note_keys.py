import pytest
from tests.support.notes import benchmark

from heldout.experiments.analysis.note_keys import id_of_key, ids_by_key, labels_of_keys
from heldout.splits.benchmark import NoteClass, TraceLevel
from heldout.splits.errors import BadInput

KEYS = [
    "aci|D1|clean|0f3a",
    "aci|D1|omit|err",
    "aci|D1|omitc|t3|err",
    "aci|D1|omitpw|t3|err",
    "aci|D1|omitps|t4|err",
    "aci|D1|add|err",
    "aci|D1|change|err",
]


def test_suffixes_say_what_was_done():
    labels = labels_of_keys("file", KEYS)
    assert [label.note_class for label in labels] == [
        NoteClass.CLEAN,
        NoteClass.OMIT_COMPLETE,
        NoteClass.OMIT_COMPLETE,
        NoteClass.OMIT_PARTIAL,
        NoteClass.OMIT_PARTIAL,
        NoteClass.ADD,
        NoteClass.CHANGE,
    ]
    assert labels[4].trace is TraceLevel.PARTIAL_STRONG
    assert {label.twin for label in labels} == {KEYS[0]}
    assert {(label.stratum, label.consultation) for label in labels} == {("aci", "aci|D1")}


def test_a_plain_omission_follows_the_files_exceptions():
    labels = labels_of_keys("file", KEYS, {"aci|D1|omit|err": "partial-weak"})
    assert labels[1].trace is TraceLevel.PARTIAL_WEAK
    assert labels[1].note_class is NoteClass.OMIT_PARTIAL
    assert labels[2].trace is TraceLevel.COMPLETE


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (["n1"], "a note key is stratum"),
        (["a|b|swap|err", "a|b|clean|x"], "'a|b|swap|err'"),
        (["a|b|add|err"], "a|b: the clean twin has no score"),
        (["a|b|clean|x", "a|b|clean|y", "a|b|add|err"], "2 clean notes"),
    ],
)
def test_keys_that_cannot_be_read_are_faults(keys, message):
    with pytest.raises(BadInput) as caught:
        labels_of_keys("scores.csv", keys)
    assert message in str(caught.value)
    assert all(line.startswith("scores.csv: ") for line in caught.value.lines)


def test_every_unreadable_key_is_named():
    with pytest.raises(BadInput) as caught:
        labels_of_keys("file", ["x", "y", "a|b|clean|z"])
    assert len(caught.value.lines) == 2


def test_notes_of_a_benchmark_go_by_id_pair_id_or_place():
    made = benchmark(2)
    ids = ids_by_key(made)
    first = made.consultations[0]
    assert id_of_key(first.clean[0].id, ids) == first.clean[0].id
    assert id_of_key(f"{first.id}|clean", ids) == first.clean[0].id
    assert id_of_key(f"{first.id}|clean|0f3a", ids) == first.clean[0].id
    errored = first.errored[0]
    if errored.label.pair_id is not None:
        assert id_of_key(errored.label.pair_id, ids) == errored.id
        assert id_of_key(f"{errored.label.pair_id}|err", ids) == errored.id
    assert id_of_key("made|c99|clean", ids) is None
