"""Which threshold notes are flagged at, and whether it may be used for this judging."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.practice.session import JudgedAs
from heldout.gepa.record.codec import plain
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import canonical_json
from heldout.splits.loading.text_files import read_input, whole_text

ThresholdOrigin = Literal["given", "calibration", "card", "design"]


@dataclass(frozen=True, slots=True)
class ThresholdChoice:
    """A threshold and where it comes from; `value` None: the design's own rule."""

    value: float | None
    origin: ThresholdOrigin
    sentence: str
    """For headers."""


class _WrittenPromise(BaseModel):
    words: str


class WrittenCalibration(BaseModel):
    """What `heldout apply` needs of the file that `heldout calibrate` wrote."""

    threshold: float | None
    judged_as: dict[str, Any]
    promise: _WrittenPromise


def threshold_for(
    prompt: LoadedPrompt, judged_as: JudgedAs, given: float | None, calibration: Path | None
) -> ThresholdChoice:
    """The threshold for judging `prompt` as `judged_as` says.

    Raises BadInput for a calibration of another judging, and for the card's threshold where model,
    budget or samples differ from those it was frozen at.
    """
    if given is not None and calibration is not None:
        raise BadInput.one("--threshold", "give either a threshold or a calibration")
    if given is not None:
        return _chosen(given, "given", "given on the command line, so it promises nothing")
    if calibration is not None:
        return _calibrated(calibration, plain(judged_as))
    if prompt.threshold is None:
        return ThresholdChoice(None, "design", "flagged by the design's own rule")
    if changed := _changed(prompt, judged_as):
        message = (
            f"the card's threshold was frozen at other {' and '.join(changed)}; calibrate at these "
            "(heldout calibrate), or give --threshold"
        )
        raise BadInput.one("--threshold", message)
    words = "frozen on the accept set of its campaign; calibrate it on your own notes"
    return _chosen(prompt.threshold, "card", words)


def _chosen(value: float, origin: ThresholdOrigin, words: str) -> ThresholdChoice:
    return ThresholdChoice(value, origin, f"flagged below {value:g} ({words})")


def _calibrated(path: Path, judged_as: Mapping[str, Any]) -> ThresholdChoice:
    try:
        found = WrittenCalibration.model_validate_json(whole_text(read_input(path)))
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "file"
        raise BadInput.one(str(path), f"is no calibration: {where}: {first['msg']}") from None
    made_as = found.judged_as
    faults = [
        Fault(str(path), f"{name}: calibrated for {made_as.get(name)!r}, this judging has {now!r}")
        for name, now in judged_as.items()
        if canonical_json(made_as.get(name)) != canonical_json(now)
    ]
    if found.threshold is None:
        faults.append(Fault(str(path), "found no threshold: its clean notes were too few"))
    if faults or found.threshold is None:
        raise BadInput(faults)
    return _chosen(found.threshold, "calibration", f"calibrated: {found.promise.words}")


def _changed(prompt: LoadedPrompt, judged_as: JudgedAs) -> list[str]:
    before = {
        "model": prompt.model,
        "temperature": prompt.temperature,
        "max_tokens": prompt.budget.max_tokens,
        "reasoning_effort": prompt.budget.reasoning_effort,
        "samples": prompt.samples,
    }
    return [name for name, value in before.items() if getattr(judged_as, name) != value]
