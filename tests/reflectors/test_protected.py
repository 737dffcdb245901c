from tests.reflectors.judged import SALT, WHOLE
from tests.support.notes import consultation

from heldout.reflectors.protected import ProtectedRuns, own_texts, protect
from heldout.splits.overlap import shingle_hash, shingle_hashes, shingles

RUN = "one two three four five six seven eight"


def test_search_runs_are_known_plain_and_heldout_runs_by_salt():
    plain = ProtectedRuns(frozenset([shingle_hash(RUN)]), frozenset(), SALT)
    salted = ProtectedRuns(frozenset(), frozenset([shingle_hash(RUN, SALT)]), SALT)
    unsalted = ProtectedRuns(frozenset(), frozenset([shingle_hash(RUN)]), SALT)
    assert plain.matches([RUN]) == salted.matches([RUN]) == {RUN}
    assert unsalted.matches([RUN]) == frozenset()
    assert plain.matches(["another"]) == frozenset()


def test_a_run_in_three_consultations_is_a_turn_of_phrase():
    shared = shingles(consultation(0).clean[0].text) & shingles(consultation(1).clean[0].text)
    shared &= shingles(consultation(2).clean[0].text)
    assert shared
    two = protect(map(consultation, (0, 1)), heldout=(), salt=SALT, own=())
    three = protect(map(consultation, (0, 1, 2)), heldout=(), salt=SALT, own=())
    assert two.matches(shared) == shared
    assert three.matches(shared) == frozenset()


def test_a_run_in_three_notes_of_one_consultation_is_none():
    only = protect([consultation(0)], heldout=(), salt=SALT, own=())
    runs = shingles(consultation(0).clean[0].text)
    assert only.matches(runs) == runs


def test_common_and_own_runs_are_exempt_on_the_heldout_side_too():
    hidden = shingle_hashes(RUN, SALT)
    bare = protect([], heldout=hidden, salt=SALT, own=())
    own = protect([], heldout=hidden, salt=SALT, own=(f"Seed. {RUN.title()}!",))
    assert bare.matches([RUN]) == {RUN}
    assert own.matches([RUN]) == frozenset()


def test_every_note_and_the_transcript_are_protected():
    c = consultation(0)
    runs = protect([c], heldout=(), salt=SALT, own=())
    for text in (c.transcript, *(note.text for note in c.notes)):
        assert runs.matches(shingles(text)) == shingles(text)


def test_the_frame_and_every_seed_are_a_campaigns_own_texts():
    assert own_texts(WHOLE, ["a", "b"]) == (WHOLE.template, "a", "b")
