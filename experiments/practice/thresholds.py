"""Which threshold notes are flagged at, and whether it may be used for this judging."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from heldout.experiments.practice.loaded_prompt import Taken
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import canonical_json
from heldout.splits.loading.text_files import read_input, whole_text

Origin = Literal["given", "calibration", "card", "design"]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A threshold and where it comes from; `value` None: the design's own rule."""

    value: float | None
    origin: Origin
    detail: str = ""

    @property
    def sentence(self) -> str:
        """For headers."""
        if self.value is None:
            return "flagged by the design's own rule"
        words = {
            "given": "given on the command line, so it promises nothing",
            "calibration": f"calibrated: {self.detail}",
            "card": "frozen on the accept set of its campaign; calibrate it on your own notes",
        }[self.origin]
        return f"flagged below {self.value:g} ({words})"

    def to_json(self) -> dict[str, Any]:
        """`{value, origin, sentence}`."""
        return {"value": self.value, "origin": self.origin, "sentence": self.sentence}


def threshold_for(
    taken: Taken, judged_as: Mapping[str, Any], given: float | None, calibration: Path | None
) -> Chosen:
    """The threshold for judging `taken` as `judged_as` says (`sitting.identity`).

    Raises BadInput for a calibration of another judging, and for the card's threshold where model,
    budget or samples differ from those it was frozen at.
    """
    if given is not None and calibration is not None:
        raise BadInput.one("--threshold", "give either a threshold or a calibration")
    if given is not None:
        return Chosen(given, "given")
    if calibration is not None:
        return _calibrated(calibration, judged_as)
    if taken.threshold is None:
        return Chosen(None, "design")
    if changed := _changed(taken, judged_as):
        message = (
            f"the card's threshold was frozen at other {' and '.join(changed)}; calibrate at these "
            "(heldout calibrate), or give --threshold"
        )
        raise BadInput.one("--threshold", message)
    return Chosen(taken.threshold, "card")


def _calibrated(path: Path, judged_as: Mapping[str, Any]) -> Chosen:
    try:
        found = json.loads(whole_text(read_input(path)))
        made_as, value = found["judged_as"], found["threshold"]
        promise = found["promise"]["words"]
    except (ValueError, RecursionError, TypeError, KeyError) as error:
        raise BadInput.one(str(path), f"is no calibration: {error!r}") from None
    faults = [
        Fault(str(path), f"{name}: calibrated for {made_as.get(name)!r}, this judging has {now!r}")
        for name, now in judged_as.items()
        if canonical_json(made_as.get(name)) != canonical_json(now)
    ]
    if value is None:
        faults.append(Fault(str(path), "found no threshold: its clean notes were too few"))
    if faults:
        raise BadInput(faults)
    return Chosen(float(value), "calibration", promise)


def _changed(taken: Taken, judged_as: Mapping[str, Any]) -> list[str]:
    before = {
        "model": taken.model,
        "temperature": taken.temperature,
        "max_tokens": taken.budget.max_tokens,
        "reasoning_effort": taken.budget.reasoning_effort,
        "samples": taken.samples,
    }
    return [name for name, value in before.items() if judged_as[name] != value]
