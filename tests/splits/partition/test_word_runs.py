import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.splits.builders import consultation, write_benchmark

from heldout.splits.loading.benchmark_files import load
from heldout.splits.overlap import shingle_hash, shingles
from heldout.splits.partition.word_runs import consultation_runs, heldout_runs, packed, unpacked

STOCK = "i will see you again in two weeks time"
SHARED = "it hurts when i climb the stairs at night"


@pytest.fixture
def three(tmp_path):
    made = [consultation(n) for n in range(4)]
    for record in made[:3]:
        record["transcript"] += f"\n[doctor] {STOCK}"
    for record in made[2:]:
        record["transcript"] += f"\n[patient] {SHARED}"
    return load(write_benchmark(tmp_path, made)).consultations


def hashed(text: str) -> set[int]:
    return {shingle_hash(run, "salt") for run in shingles(text)}


def test_runs_of_three_consultations_are_exempt_and_others_guarded(three):
    runs = heldout_runs(three[2:], three[:2], salt="salt", has_transcripts=True)
    assert hashed(STOCK) <= runs.exempt
    assert not hashed(STOCK) & runs.guarded
    assert hashed(SHARED) <= runs.guarded
    assert hashed(three[3].clean[0].text) <= runs.guarded
    assert not hashed(three[0].clean[0].text) & (runs.guarded | runs.exempt)


def test_every_note_and_transcript_of_heldout_is_guarded(three):
    runs = heldout_runs(three[3:], three[:3], salt="salt", has_transcripts=True)
    for text in [three[3].transcript, *(note.text for note in three[3].notes)]:
        assert hashed(text) <= runs.guarded


def test_a_placeholder_is_not_guarded(three):
    assert consultation_runs(three[0], has_transcripts=False) < consultation_runs(three[0])


@given(st.frozensets(st.integers(0, 2**64 - 1)))
def test_packing_keeps_every_hash(hashes):
    assert unpacked(packed(hashes)) == hashes


@pytest.mark.parametrize("text", ["AAAA", "not base64", "AAAAAAAAAAA"])
def test_other_texts_do_not_unpack(text):
    with pytest.raises(ValueError, match=r"64 bits|base64|padding|data"):
        unpacked(text)
