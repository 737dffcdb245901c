"""The second look: an absence is only believed if nobody can quote the note against it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heldout.splits.benchmark import Note
from heldout.students.calls.answering import ReadReply, RequestBuilder, ask_keyed
from heldout.students.calls.call import Stage
from heldout.students.designs.blindness import squeezed
from heldout.students.designs.facts import Fact, lines
from heldout.students.fact_contracts import KeyedContract
from heldout.students.frames import Frame
from heldout.students.models.chat import Budget
from heldout.students.student import Outcome

QUOTES = KeyedContract("quotes", None)
SHORTEST_QUOTE = 8
"""Characters, after normalising case and space; less could be found in any note."""


@dataclass(frozen=True, slots=True)
class Overturned:
    """What a second look found: absences that fell, and quotes that are not the note's words."""

    ids: tuple[str, ...] = ()
    refused: int = 0


@dataclass(frozen=True)
class SecondLook:
    """Asks for the note's own words on each absent fact; sees the note and these facts only."""

    frame: Frame
    asking: RequestBuilder

    async def at(
        self, note: Note, absent: Sequence[Fact], budget: Budget, sample: int
    ) -> ReadReply[Overturned]:
        """Which of `absent` the note states after all; no call without absences."""
        if not absent:
            return ReadReply(Overturned(), Outcome.OK, ())
        prompt = self.frame.render({"facts": lines(absent), "note": note.text})
        spec = self.asking.spec(Stage.SECOND_LOOK, note, prompt, budget, sample)
        asked = tuple(fact.id for fact in absent)
        read = await ask_keyed(self.asking.caller, spec, QUOTES, asked, self.asking.run_seed)
        value = None if read.value is None else verified(read.value, note.text)
        return ReadReply(value, read.outcome, read.calls, read.detail)


def verified(quotes: Mapping[str, str], note: str) -> Overturned:
    """The ids whose quote stands in `note`; a quote that does not is counted and ignored."""
    text = squeezed(note)
    given = {key: squeezed(quote) for key, quote in quotes.items() if quote}
    found = tuple(k for k, quote in given.items() if len(quote) >= SHORTEST_QUOTE and quote in text)
    return Overturned(found, len(given) - len(found))
