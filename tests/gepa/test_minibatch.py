"""Minibatches: consultation first, so that no errored note comes without its twin."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from tests.benchmarks.in_process import consultation

from heldout.gepa.minibatch import ConsultationFirst
from heldout.splits.benchmark import NoteClass

REFLECT = tuple(consultation(k) for k in range(12))


@given(seed=st.integers(), iteration=st.integers(1, 50))
def test_minibatch_of_a_pool_that_is_80_percent_errored_has_every_clean_twin(
    seed, iteration
) -> None:
    notes = ConsultationFirst().draw(REFLECT, seed, "minibatch", iteration)
    ids = {note.id for note in notes}
    assert all(note.label.twin in ids for note in notes)
    assert sum(not note.label.is_clean for note in notes) == 8
    assert len({note.consultation for note in notes}) == 4
    assert len(notes) <= ConsultationFirst().largest


@given(seed=st.integers())
def test_a_partial_omission_comes_first_where_there_is_one(seed) -> None:
    notes = ConsultationFirst().draw(REFLECT, seed)
    for name in {note.consultation for note in notes}:
        errored = [n for n in notes if n.consultation == name and not n.label.is_clean]
        assert errored[0].label.note_class is NoteClass.OMIT_PARTIAL


def test_a_draw_depends_on_contents_and_not_on_the_order_of_the_pool() -> None:
    forward = ConsultationFirst().draw(REFLECT, 3, "minibatch", 1)
    backward = ConsultationFirst().draw(tuple(reversed(REFLECT)), 3, "minibatch", 1)
    assert [n.id for n in forward] == [n.id for n in backward]


def test_draws_differ_between_iterations() -> None:
    draws = {
        tuple(n.id for n in ConsultationFirst().draw(REFLECT, 3, "minibatch", k)) for k in range(20)
    }
    assert len(draws) > 15


def test_a_small_pool_gives_what_it_has() -> None:
    notes = ConsultationFirst().draw(REFLECT[:2], 3)
    assert len({note.consultation for note in notes}) == 2


@given(
    consultations=st.integers(1, 14), errored=st.integers(1, 4), seed=st.integers(), few=st.data()
)
def test_a_draw_holds_as_many_consultations_as_were_asked_for(
    consultations, errored, seed, few
) -> None:
    """Also fewer than `partial_consultations`, which once drew nearly the whole pool."""
    pool = REFLECT[: few.draw(st.integers(1, len(REFLECT)))]
    minibatch = ConsultationFirst(consultations, errored)
    notes = minibatch.draw(pool, seed)
    drawn = {note.consultation for note in notes}
    assert len(drawn) == min(consultations, len(pool))
    assert len(notes) <= minibatch.largest
    for name in drawn:
        of_one = [note for note in notes if note.consultation == name]
        assert 1 <= sum(not note.label.is_clean for note in of_one) <= errored
        ids = {note.id for note in of_one}
        assert all(note.label.twin in ids for note in of_one)
