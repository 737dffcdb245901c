"""The extraction contract: facts with a few words of evidence."""

from __future__ import annotations

import json

from heldout.students.simulated.contracts.draft import Draft
from heldout.students.simulated.phrasing import fact_text
from heldout.students.simulated.prompt import Prompt
from heldout.students.simulated.reading import read_transcript
from heldout.students.simulated.working import Mind


def answer(prompt: Prompt, mind: Mind) -> Draft:
    """Every fact that was read in the transcript."""
    del mind  # the extraction is a stage of its own: its instructions do not evolve
    facts = [
        {"text": fact_text(fact), "evidence": fact.evidence}
        for fact in read_transcript(prompt.transcript).facts
    ]
    return Draft(json.dumps({"facts": facts}, ensure_ascii=False), 0.0)
