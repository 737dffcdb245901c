"""What there is to say of one candidate, ready to be rendered as a page, Markdown or tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from heldout.experiments.report.reflections import Reflections
from heldout.experiments.report.text import Piece, Shown, TextPolicy, word_diff
from heldout.gepa.candidates import Origin, Status
from heldout.gepa.record.events import CandidateEvent, EvaluationEvent
from heldout.gepa.record.kinds import Purpose
from heldout.gepa.record.run import Run
from heldout.gepa.reward import win_value
from heldout.reflectors.reflector import RejectReason
from heldout.splits.benchmark import NoteLabel
from heldout.students.calls.store_rows import StoredCall
from heldout.students.models.chat import Budget

Scores = Mapping[str, float | None]
OUTCOME = {1.0: "win", 0.5: "tie", 0.0: "loss"}


@dataclass(frozen=True, slots=True)
class NoteStanding:
    """An errored note beside its clean twin under one block."""

    errored: float | None
    clean: float | None
    outcome: str

    @classmethod
    def of(cls, label: NoteLabel, scores: Scores) -> NoteStanding:
        """How `label` stands to its twin."""
        errored, clean = scores[label.id], scores[label.twin]
        unscored = errored is None or clean is None
        return cls(errored, clean, "no score" if unscored else OUTCOME[win_value(label, scores)])


@dataclass(frozen=True, slots=True)
class NoteLine:
    """One errored note: how it stands under each parent and under the child, None if not judged."""

    label: NoteLabel
    parents: tuple[NoteStanding | None, ...]
    child: NoteStanding | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """One question to the reflector and its answer."""

    stage: str
    attempt: int
    model: str
    prompt: Shown
    reply: Shown
    reasoning: Shown | None
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    finish: str


@dataclass(frozen=True, slots=True)
class Against:
    """A candidate beside one parent: word difference, and accept notes that changed hands."""

    id: str
    title: str
    block: Shown | None
    diff: tuple[Piece, ...] | None
    won: tuple[NoteLine, ...]
    lost: tuple[NoteLine, ...]


@dataclass(frozen=True)
class CandidatePage:
    """One candidate. `body` is its journal event; `block` None where no text is on record."""

    body: CandidateEvent
    title: str
    campaign: str
    simulated: str
    budget: Budget | None
    frame_sha256: str
    block: Shown | None
    against: tuple[Against, ...]
    minibatch: tuple[NoteLine, ...]
    exchanges: tuple[Exchange, ...]

    @property
    def id(self) -> str:
        """Id of the candidate."""
        return self.body.id


def candidate_page(
    run: Run, id_: str, reflections: Reflections, policy: TextPolicy
) -> CandidatePage:
    """Everything known of candidate `id_` when it was committed, under `policy`."""
    body = run.candidates[id_]
    calls = () if body.kind == Origin.SEED else reflections.of(body.iteration)
    return CandidatePage(
        body=body,
        title=title(body),
        campaign=run.opened.name,
        simulated=run.simulated_tag,
        budget=None if run.settings is None else run.settings.budget,
        frame_sha256="" if run.settings is None else run.settings.frame_sha256,
        block=None if body.block is None else policy.block(body.block),
        against=tuple(_against(run, body, parent, policy) for parent in body.parents),
        minibatch=_minibatch(run, body),
        exchanges=tuple(_exchange(call, policy, _reply_policy(body, policy)) for call in calls),
    )


def title(body: CandidateEvent) -> str:
    """A candidate in one line, so that a table of titles reads as a lineage."""
    head = [body.id, str(body.kind)]
    if body.kind == Origin.SEED:
        head.append(str(body.name))
    else:
        head.append("+".join(body.parents))
    return f"{' '.join(head)} · {fate(body)}"


def fate(body: CandidateEvent) -> str:
    """What became of a candidate: its accept figure, or why it was rejected."""
    if body.status == Status.ENTERED:
        value = body.accept and body.accept.paired_omissions
        return "entered" if value is None else f"accept {value:.3f}"
    reason = f"rejected: {body.reason}"
    return f"{reason} of {body.detail}" if body.reason == "duplicate" else reason


def accept_lines(run: Run, parent: str, child: str) -> tuple[tuple[NoteLine, ...], ...]:
    """Accept notes that `child` wins over `parent`, and those it loses; empty without scores."""
    before, after = run.accept_scores(parent), run.accept_scores(child)
    if before is None or after is None:
        return (), ()
    won: list[NoteLine] = []
    lost: list[NoteLine] = []
    for id_ in after:
        label = run.labels[id_]
        if label.is_clean:
            continue
        change = win_value(label, after) - win_value(label, before)
        if change:
            line = NoteLine(label, (NoteStanding.of(label, before),), NoteStanding.of(label, after))
            (won if change > 0 else lost).append(line)
    return tuple(won), tuple(lost)


def _against(run: Run, body: CandidateEvent, parent: str, policy: TextPolicy) -> Against:
    other = run.candidates[parent]
    won, lost = accept_lines(run, parent, body.id)
    old, new = other.block, body.block
    withheld = policy is TextPolicy.NONE
    return Against(
        id=parent,
        title=title(other),
        block=None if old is None else policy.block(old),
        diff=None if old is None or new is None or withheld else word_diff(old, new),
        won=won,
        lost=lost,
    )


def _minibatch(run: Run, body: CandidateEvent) -> tuple[NoteLine, ...]:
    """The errored notes of the minibatch, under each parent and under the child."""
    at = body.iteration
    parents = [_scores(run, run.evaluation(Purpose.PARENT, id_, at)) for id_ in body.parents]
    child = _scores(run, run.evaluation(Purpose.CHILD, body.id, at))
    notes = next((scores for scores in parents if scores), {})
    labels = [run.labels[id_] for id_ in notes if not run.labels[id_].is_clean]
    ordered = sorted(labels, key=lambda x: (x.consultation, x.note_class, x.id))
    return tuple(
        NoteLine(label, tuple(_standing(label, p) for p in parents), _standing(label, child))
        for label in ordered
    )


def _scores(run: Run, evaluation: EvaluationEvent | None) -> Scores | None:
    return None if evaluation is None else run.in_figures(evaluation.scores)


def _standing(label: NoteLabel, scores: Scores | None) -> NoteStanding | None:
    return None if scores is None else NoteStanding.of(label, scores)


def _reply_policy(body: CandidateEvent, policy: TextPolicy) -> TextPolicy:
    """A reply that repeats a note or names a person is withheld wherever it would be shown."""
    withheld = {reason for reason in RejectReason if reason.withholds_text}
    return TextPolicy.HASHES if body.reason in withheld else policy


def _exchange(call: StoredCall, policy: TextPolicy, replies: TextPolicy) -> Exchange:
    prompt = "\n\n".join(message.content for message in call.conversation)
    return Exchange(
        stage=call.stage,
        attempt=call.attempt,
        model=call.reply.model or call.model,
        prompt=policy.clinical(prompt),
        reply=replies.clinical(call.reply.text),
        reasoning=replies.clinical(call.reply.reasoning) if call.reply.reasoning else None,
        prompt_tokens=call.reply.usage.prompt,
        completion_tokens=call.reply.usage.completion,
        usd=call.reply.usd,
        finish=call.reply.finish.value,
    )


def note_name(label: NoteLabel) -> str:
    """An errored note in words: its class with trace level and severity."""
    parts: Sequence[Any] = (label.note_class, label.trace, label.severity)
    return " · ".join(str(part) for part in parts if part)
