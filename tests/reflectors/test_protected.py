from tests.reflectors.judged import SALT, WHOLE
from tests.support.notes import consultation

from heldout.reflectors.protected import ProtectedRuns, own_texts, protect
from heldout.splits.overlap import shingle_hash, shingles
from heldout.splits.partition.word_runs import HeldoutRuns, heldout_runs

RUN = "one two three four five six seven eight"
NOTHING = HeldoutRuns(SALT, frozenset(), frozenset())


def guarded(*hashes):
    return HeldoutRuns(SALT, frozenset(hashes), frozenset())


def test_search_runs_are_known_plain_and_heldout_runs_by_salt():
    plain = ProtectedRuns(frozenset([shingle_hash(RUN)]), NOTHING)
    salted = ProtectedRuns(frozenset(), guarded(shingle_hash(RUN, SALT)))
    unsalted = ProtectedRuns(frozenset(), guarded(shingle_hash(RUN)))
    assert plain.matches([RUN]) == salted.matches([RUN]) == {RUN}
    assert unsalted.matches([RUN]) == frozenset()
    assert plain.matches(["another"]) == frozenset()


def shared_runs():
    """Runs that the first three made consultations have in common."""
    runs = [shingles(consultation(n).clean[0].text) for n in (0, 1, 2)]
    return set.intersection(*runs)


def test_a_run_in_three_consultations_is_a_turn_of_phrase():
    two = protect(map(consultation, (0, 1)), heldout=NOTHING, own=())
    three = protect(map(consultation, (0, 1, 2)), heldout=NOTHING, own=())
    assert shared_runs()
    assert two.matches(shared_runs()) == shared_runs()
    assert three.matches(shared_runs()) == frozenset()


def test_consultations_are_counted_over_all_splits():
    search, hidden = [consultation(0), consultation(1)], [consultation(2)]
    heldout = heldout_runs(hidden, search, salt=SALT, has_transcripts=True)
    runs = protect(search, heldout=heldout, own=())
    assert runs.matches(shared_runs()) == frozenset()
    alone = shingles(consultation(2).clean[0].text) - shingles(consultation(0).clean[0].text)
    assert runs.matches(alone)


def test_a_run_in_three_notes_of_one_consultation_is_none():
    only = protect([consultation(0)], heldout=NOTHING, own=())
    runs = shingles(consultation(0).clean[0].text)
    assert only.matches(runs) == runs


def test_the_campaigns_own_runs_are_exempt_on_the_heldout_side_too():
    hidden = guarded(shingle_hash(RUN, SALT))
    bare = protect([], heldout=hidden, own=())
    own = protect([], heldout=hidden, own=(f"Seed. {RUN.title()}!",))
    assert bare.matches([RUN]) == {RUN}
    assert own.matches([RUN]) == frozenset()


def test_every_note_and_the_transcript_are_protected():
    c = consultation(0)
    runs = protect([c], heldout=NOTHING, own=())
    for text in (c.transcript, *(note.text for note in c.notes)):
        assert runs.matches(shingles(text)) == shingles(text)
    notes_only = protect([c], heldout=NOTHING, own=(), has_transcripts=False)
    assert not notes_only.matches(shingles(c.transcript)) & shingles(c.transcript) - {
        run for note in c.notes for run in shingles(note.text)
    }


def test_the_frame_and_every_seed_are_a_campaigns_own_texts():
    assert own_texts(WHOLE, ["a", "b"]) == (WHOLE.template, "a", "b")
