"""No bag of words tells an errored note from a clean one by itself.

A logistic regression on the words of single notes, trained on some consultations and scored on
others, must stay near chance: .44 to .56 pooled, at most .65 for a class against its own clean
twins and .75 for partial-weak. The bands are a prototype's; measured here over six seeds: .50 to
.53 pooled, .49 to .55 by class, .56 to .58 for partial-weak. The same test must see through a
generator that does what is naive.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from heldout.splits.synthetic import generate, notes, sheets, surface
from heldout.splits.synthetic.catalogue import catalogue

CONSULTATIONS = 120
POOLED = (0.44, 0.56)
HIGHEST = {
    **dict.fromkeys(("complete", "partial-strong", "add", "change"), 0.65),
    "partial-weak": 0.75,
}

NAIVE_KINDS = (
    *("problem", "onset", "allergy", "medicine", "family"),
    *("job", "vital", "impression", "safety_net", "follow_up"),
)
NAIVE_RATES = {
    **{"FILL_RATE": (1.0, 1.0), "DETAIL_RATE": (1.0, 1.0), "LEAST_LEFT_OUT": 0},
    **{"TWICE": 0.0, "ELSEWHERE": 0.0},
}
STOCK_ADDITIONS = (
    "The patient volunteers at a library.",
    "Flu vaccination was given last autumn.",
    "Reports a recent insect bite.",
    "Wears reading glasses.",
    "Tetanus status is up to date.",
    "Advised to attend the dentist.",
)


@dataclass(frozen=True)
class Notes:
    """Texts, what was done to each (`clean`, a trace level or a class), and its consultation."""

    texts: np.ndarray
    labels: np.ndarray
    groups: np.ndarray

    def with_stock_additions(self) -> Notes:
        """These notes and, of every clean one, a twin with a stock sentence at its end."""
        clean = self.labels == "clean"
        added = [
            f"{text}\n{STOCK_ADDITIONS[len(text) % len(STOCK_ADDITIONS)]}"
            for text in self.texts[clean]
        ]
        return Notes(
            np.append(self.texts, np.array(added, dtype=object)),
            np.append(self.labels, np.full(len(added), "add", dtype=object)),
            np.append(self.groups, self.groups[clean]),
        )

    def only(self, label: str) -> Notes:
        """Errored notes of one label with their own clean twins."""
        mine = self.labels == label
        keep = mine | ((self.labels == "clean") & np.isin(self.groups, self.groups[mine]))
        return Notes(self.texts[keep], self.labels[keep], self.groups[keep])


def _notes(benchmark) -> Notes:
    rows = [
        (note.text, str(note.label.trace or note.label.note_class), note.consultation)
        for consultation in benchmark
        for note in consultation.notes
    ]
    return Notes(*(np.array(column, dtype=object) for column in zip(*rows, strict=True)))


def _auc(notes: Notes) -> float:
    """Area under the curve of scores given to consultations that were not trained on.

    The mean over folds: each fold has its own intercept, and pooling the scores of all folds
    would rank consultations of different folds, which pushes the figure below one half.
    """
    errored = (notes.labels != "clean").astype(int)
    areas = []
    for train, test in GroupKFold(6).split(notes.texts, errored, notes.groups):
        words = CountVectorizer(token_pattern=r"[^\s.,;:()]+")
        seen = words.fit_transform(notes.texts[train])
        model = LogisticRegression(solver="liblinear", class_weight="balanced")
        model.fit(seen, errored[train])
        scores = model.decision_function(words.transform(notes.texts[test]))
        areas.append(roc_auc_score(errored[test], scores))
    return float(np.mean(areas))


@pytest.mark.parametrize("seed", [1, 2])
def test_words_alone_do_not_tell_an_errored_note(seed):
    made = _notes(generate.draw(CONSULTATIONS, seed).benchmark)
    assert POOLED[0] <= _auc(made) <= POOLED[1]
    for label, highest in HIGHEST.items():
        assert _auc(made.only(label)) <= highest, label


@pytest.fixture
def naive(monkeypatch):
    """A generator that does what is naive.

    Terse notes of ten kinds of fact, each always there with all its details, in one wording.
    """
    whole = catalogue()
    complaints = tuple(
        replace(
            complaint,
            narratives={
                story: tuple(slot for slot in slots if slot.kind.name in NAIVE_KINDS)
                for story, slots in complaint.narratives.items()
            },
        )
        for complaint in whole.complaints
    )
    monkeypatch.setattr(generate, "catalogue", lambda: replace(whole, complaints=complaints))
    for name, value in NAIVE_RATES.items():
        monkeypatch.setattr(sheets, name, value)
    for module in (surface, notes):
        monkeypatch.setattr(module, "choice", lambda items, *_: items[0])
    return _notes(generate.draw(CONSULTATIONS, 1).benchmark).with_stock_additions()


def test_the_same_test_sees_through_a_naive_generator(naive):
    # Measured: .75 pooled, .83 complete, .92 partial-weak, 1.00 add.
    assert _auc(naive) > POOLED[1]
    for label in ("complete", "partial-weak", "add"):
        assert _auc(naive.only(label)) > HIGHEST[label], label
