"""Replies that fit any design's contract, recognised by what the prompt asks for.

`answer(spec, well=True)` calls the note flawless, `well=False` as bad as the contract allows.
"""

from __future__ import annotations

import json
import re

from heldout.students.calls.call import CallSpec

FACTS = ("Cough for three days", "Fever denied", "Takes ramipril 5 mg", "Allergic to penicillin")
KEYED = {"present": "absent", "full": "absent", "yes": "no"}
"""Best and worst word of each keyed contract."""


def answer(spec: CallSpec, *, well: bool) -> str:
    """A reply to `spec` in its contract."""
    prompt = spec.messages[0].content
    form = prompt.split("<answer_format>\n")[-1]
    if '"verdicts"' in form:
        best = next(word for word in KEYED if f'"{word}"' in form)
        return _keyed("verdicts", prompt, best if well else KEYED[best])
    if '"grades"' in form:
        return _keyed("grades", prompt, "critical")
    if '"quotes"' in form:
        return _keyed("quotes", prompt, None)
    for field in ("facts", "items"):
        if f'{{"{field}": [' in form:
            return _facts(field)
    return _single(form, well)


def _single(form: str, well: bool) -> str:
    """One answer: a verdict line, statements, yes or no, or a score with or without a list."""
    if "VERDICT: PASS" in form:
        return f"One item after the other.\nVERDICT: {'PASS' if well else 'FAIL'}"
    if '"statements"' in form:
        return json.dumps({"statements": [{"text": "Cough", "supported": "yes" if well else "no"}]})
    if '"answer"' in form:
        return json.dumps({"assessment": "read", "answer": "yes" if well else "no"})
    low, high = re.findall(r"number from (\d+) to (\d+)", form)[0]
    gaps = [] if well else [{"item": "Allergic to penicillin", "severity": "critical"}]
    return json.dumps({"assessment": "read", "missing": gaps, "score": int(high if well else low)})


def _facts(field: str) -> str:
    sections = ("complaint", "complaint", "medication", "allergies")
    listed = [
        {"text": text, "evidence": text.lower(), "section": section}
        for text, section in zip(FACTS, sections, strict=True)
    ]
    return json.dumps({field: listed})


def _keyed(field: str, prompt: str, word: str | None) -> str:
    return json.dumps({field: dict.fromkeys(fact_ids(prompt), word)})


def fact_ids(prompt: str) -> list[str]:
    """Ids of the facts or items that a prompt lists, in order."""
    listed = re.search(r"<(facts|items)>\n(.*?)\n</\1>", prompt, re.DOTALL)
    assert listed
    return [line.partition(":")[0] for line in listed.group(2).splitlines()]
