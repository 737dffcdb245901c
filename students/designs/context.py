"""What every design is built from: models by role, a caller, a seed, and the stages they share."""

from __future__ import annotations

from dataclasses import dataclass

from heldout.students.calls.call import Stage
from heldout.students.calls.completion import CompletionClient, RequestBuilder
from heldout.students.designs.audit import Audited
from heldout.students.designs.checker import SecondLook
from heldout.students.designs.facts import Extraction
from heldout.students.frames import load_frame
from heldout.students.models.chat import Budget, ModelPin

FACTS_BUDGET = Budget(max_tokens=8_000)
"""Enough for some 60 facts with their evidence; it never moves with the budget under study."""


@dataclass(frozen=True, slots=True)
class Roles:
    """The model pinned for each part of a design."""

    judge: ModelPin
    extractor: ModelPin
    auditor: ModelPin
    second_look: ModelPin

    @classmethod
    def all(cls, pin: ModelPin) -> Roles:
        """One model in every role."""
        return cls(pin, pin, pin, pin)


@dataclass(frozen=True)
class DesignContext:
    """What a design is built from.

    `run_seed` enters every call about a note and none about a consultation; `occasion` buys the
    calls about notes afresh.
    """

    roles: Roles
    caller: CompletionClient
    run_seed: int
    facts_budget: Budget = FACTS_BUDGET
    occasion: str = ""

    def extraction(self, frame: str = "extract") -> Extraction:
        """Facts from the transcript by the frame called `frame`."""
        return Extraction(load_frame(frame), self.roles.extractor, self.caller, self.facts_budget)

    def checklist(self) -> Extraction:
        """The items of a checklist, from the transcript."""
        return Extraction(
            load_frame("checklist"),
            self.roles.extractor,
            self.caller,
            self.facts_budget,
            stage=Stage.CHECKLIST,
            field="items",
        )

    def audited(self) -> Audited:
        """The facts after the audit."""
        return Audited(
            self.extraction(),
            load_frame("audit"),
            self.roles.auditor,
            self.caller,
            self.facts_budget,
        )

    def second_look(self) -> SecondLook:
        """The second look at absences."""
        return SecondLook(load_frame("second_look"), self.requests(self.roles.second_look))

    def requests(self, pin: ModelPin) -> RequestBuilder:
        """How `pin` is asked about notes."""
        return RequestBuilder(pin, self.caller, self.run_seed, self.occasion)
