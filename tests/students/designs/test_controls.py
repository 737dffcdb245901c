from tests.students.conformance import Case, conforms, judge
from tests.support.notes import benchmark

from heldout.students.designs.controls import word_count


def test_conforms():
    conforms(Case(lambda *_: word_count(), good=lambda _: "", asks_models=False))


def test_it_counts_words_and_ranks_every_omission_below_its_twin():
    for consultation in benchmark(2):
        twin = judge(word_count(), consultation.clean[0]).score
        for note in consultation.errored:
            score = judge(word_count(), note).score
            assert score == len(note.text.split())
            if note.label.note_class.is_omission:
                assert score < twin
