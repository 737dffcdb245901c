"""Hand-made consultations for tests: one clean note each and one errored note of every class."""

from __future__ import annotations

from dataclasses import replace

from heldout.splits.benchmark import (
    Benchmark,
    Consultation,
    Note,
    NoteClass,
    NoteLabel,
    Severity,
    TraceLevel,
    note_id,
)

FACTS = (
    "Cough for {days} days.",
    "No fever.",
    "Takes ramipril {dose} mg once daily.",
    "Allergic to penicillin.",
    "Smokes {smokes} cigarettes a day.",
    "Chest clear on both sides.",
    "Advised to return if breathless.",
)


def consultation(number: int) -> Consultation:
    """Consultation `number` of stratum `made`, with six errored notes."""
    facts = [fact.format(days=3 + number, dose=5 + number, smokes=10 + number) for fact in FACTS]
    name = f"made|c{number:02d}"
    transcript = "\n".join(f"[patient] About this: {fact.lower()}" for fact in facts)
    clean_text = "\n".join([*facts, f"Plan: {facts[2]}"])
    clean = _note(name, transcript, clean_text, NoteClass.CLEAN, clean_text)
    errored = [
        _note(name, transcript, text, note_class, clean_text, trace, severity, fact)
        for text, note_class, trace, severity, fact in _edits(facts)
    ]
    siblings = tuple(note.text for note in [clean, *errored])
    return Consultation(
        name,
        "made",
        transcript,
        (replace(clean, siblings=siblings),),
        tuple(replace(note, siblings=siblings) for note in errored),
    )


def benchmark(consultations: int = 3) -> Benchmark:
    """`consultations` consultations."""
    return Benchmark("made", "1", tuple(consultation(n) for n in range(consultations)))


def _edits(facts: list[str]):
    def text(lines, plan=None):
        return "\n".join([*lines, f"Plan: {plan or facts[2]}"])

    def drop(index):
        return [fact for place, fact in enumerate(facts) if place != index]

    vague = [*facts[:4], "Smokes.", *facts[5:]]
    doubled = [*facts[:2], facts[2].replace("once", "twice"), *facts[3:]]
    whole, part = NoteClass.OMIT_COMPLETE, NoteClass.OMIT_PARTIAL
    weak, strong = TraceLevel.PARTIAL_WEAK, TraceLevel.PARTIAL_STRONG
    critical, supporting = Severity.CRITICAL, Severity.SUPPORTING
    return [
        (text(drop(3)), whole, TraceLevel.COMPLETE, critical, facts[3]),
        (text(drop(0)), whole, TraceLevel.COMPLETE, supporting, facts[0]),
        (text(vague), part, weak, Severity.PERIPHERAL, facts[4]),
        (text(drop(2)), part, strong, critical, facts[2]),
        (text([*facts, "Family history of stroke."]), NoteClass.ADD, None, supporting, "stroke"),
        (text(doubled), NoteClass.CHANGE, None, critical, facts[2]),
    ]


def _note(name, transcript, text, note_class, twin_text, trace=None, severity=None, fact=None):
    twin = note_id(name, twin_text, NoteClass.CLEAN, twin_text)
    label = NoteLabel(
        id=note_id(name, text, note_class, twin_text),
        consultation=name,
        stratum="made",
        note_class=note_class,
        twin=twin,
        trace=trace,
        severity=severity,
    )
    return Note(label, text, transcript, fact)
