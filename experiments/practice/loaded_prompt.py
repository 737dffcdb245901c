"""Where a block is taken from: an emitted prompt file with its card, or a candidate of a run.

`PROMPT` is a prompt file; its card must stand beside it, and every hash on the card must fit.
`RUN` is a run directory, meaning the candidate that the search chose; `RUN:candidate` names another
one, by id (`c07`) or by a seed's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.practice.cards import read_card
from heldout.experiments.report.view import Body, RunView, read_view
from heldout.gepa.emission import CARD_SUFFIX
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.kinds import EventKind
from heldout.gepa.statistics.rates.detection import swept
from heldout.gepa.statistics.selection import PairKind
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_text
from heldout.students.calls.answering import NoCalls
from heldout.students.designs.roster import find_design
from heldout.students.designs.workshop import DesignContext, Roles
from heldout.students.frames import BLOCK_SLOT, Frame
from heldout.students.models.chat import Budget, ModelPin

UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True)
class Taken:
    """A block, unchanged to the byte, with what is known of it.

    `confirmed`: a gate passed exactly this block on held-out data. `threshold` was frozen on accept
    at `budget` and `samples`; None where nothing froze one. `run` is the run directory it was taken
    from, None for a prompt file that stands alone.
    """

    name: str
    design: str
    frame: Frame
    block: str
    confirmed: bool
    model: str
    temperature: float
    parameters: Mapping[str, Any]
    budget: Budget
    samples: int
    threshold: float | None
    card: Mapping[str, Any]
    run: Path | None = None

    @property
    def sha256(self) -> str:
        """Hash of the block."""
        return sha256_text(self.block)

    @property
    def prompt(self) -> str:
        """The frame with the block, as an emitted prompt file holds it."""
        return self.frame.with_block(self.block)

    @property
    def file_stem(self) -> str:
        """Name of files made from it; one that no gate passed says so."""
        return self.name if self.confirmed else f"{self.name}.{UNCONFIRMED}"

    @property
    def standing(self) -> str:
        """Whether the claim holds, as a sentence for headers."""
        if self.confirmed:
            return "confirmed: held-out data agreed before this prompt was emitted"
        return f"{UNCONFIRMED.upper()}: no gate passed this block on held-out data"


def take(source: str, where: str = "PROMPT") -> Taken:
    """The block that `source` names. Raises BadInput where there is none, or a hash differs."""
    path = Path(source)
    if path.is_dir():
        return from_run(path, None)
    if path.is_file():
        return from_prompt(path)
    run, colon, candidate = source.rpartition(":")
    if colon and Path(run).is_dir():
        return from_run(Path(run), candidate)
    raise BadInput.one(where, f"{source}: no such prompt file or run directory")


def require_confirmed(taken: Taken, unconfirmed: bool) -> None:
    """Raise BadInput for a block that no gate passed, unless the person takes it as such."""
    if not taken.confirmed and not unconfirmed:
        raise BadInput.one(
            taken.name,
            "no gate passed this block on held-out data; to take it all the same give "
            "--unconfirmed, which is written into file names, headers and cards",
        )


def from_prompt(path: Path) -> Taken:
    """An emitted prompt file. Raises BadInput with every hash that differs from its card."""
    card_file = path.with_name(f"{path.stem}{CARD_SUFFIX}")
    card = read_card(card_file)
    frame = frame_of(card["design"], str(card_file))
    try:
        prompt = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.one(str(path), f"cannot be read as UTF-8 text: {error}") from error
    block = block_in(prompt, frame)
    _check_hashes(path, card, {"prompt_sha256": prompt, "frame_sha256": frame.template}, block)
    assert block is not None  # a block that cannot be found was a fault
    student, budget = card["models"]["student"], card["student_budget"]
    run = _run_of(path)
    known = {} if run is None else _known_of(run)
    return Taken(
        name=path.name.partition(f".{UNCONFIRMED}")[0].removesuffix(".txt"),
        design=card["design"],
        frame=frame,
        block=block,
        confirmed=card["gate"]["decision"] == "emitted" and card.get("confirmed", True),
        model=student["id"],
        temperature=student["temperature"],
        parameters=student.get("parameters", known.get("parameters", {})),
        budget=Budget(budget["max_tokens"], budget["reasoning_effort"]),
        samples=card.get("samples", known.get("samples", 1)),
        threshold=card["threshold"]["value"],
        card=card,
        run=run,
    )


def from_run(run: Path, candidate: str | None) -> Taken:
    """A candidate of a run. Raises BadInput where the run has none, or not this one."""
    view = read_view(run)
    body = _candidate(run, view, candidate)
    block = body["block"]
    if block is None:
        raise BadInput.one(f"{run}:{body['id']}", f"its text is not kept ({body['reason']})")
    if sha256_text(block) != body["sha256"]:
        raise BadInput.one(f"{run}:{body['id']}", "its block does not fit its hash in the journal")
    design = view.opened["student"]["design"]
    frame = frame_of(design, str(run))
    if frame.sha256 != view.settings["frame_sha256"]:
        raise BadInput.one(str(run), "was made with another version of the frame of this design")
    student = view.opened["student"]
    emitted = view.decision == "emitted" and view.winner is not None
    return Taken(
        name=f"{view.name}-{body['id']}",
        design=design,
        frame=frame,
        block=block,
        confirmed=emitted and view.winner == body,
        model=student["model"],
        temperature=student["temperature"],
        parameters=student["parameters"],
        budget=Budget(student["budget"]["max_tokens"], student["budget"]["reasoning_effort"]),
        samples=view.settings["search"]["samples"],
        threshold=accept_threshold(view, body["id"]),
        card=_card(view, body),
        run=run,
    )


def plain_seed(taken: Taken) -> Taken:
    """The block that the design of `taken` starts from, as a control for it."""
    block = find_design(taken.design, taken.name).block
    return replace(
        taken, name=f"{taken.design}-plain", block=block, confirmed=False, threshold=None, card={}
    )


def accept_threshold(view: RunView, candidate: str) -> float | None:
    """The threshold of a candidate that its accept scores freeze, None where it has none."""
    table = view.accept_table(candidate)
    if table is None:
        return None
    return swept(table, view.settings["gate"]["cap"], family_of(view)).threshold


def family_of(view: RunView) -> PairKind:
    """The pairs that the primary measure of a run is about."""
    return primary_pairs(view.settings["search"]["primary"])


def frame_of(design: str, where: str) -> Frame:
    """The frame of a design. Raises BadInput for a name that is not in the roster."""
    shop = DesignContext(Roles.all(ModelPin("none")), NoCalls(), run_seed=0)
    return find_design(design, where).build(shop).frame


def block_in(prompt: str, frame: Frame) -> str | None:
    """The block that `frame` was filled with to give `prompt`, None if it was another frame."""
    head, _, tail = frame.template.partition(f"{{{{{BLOCK_SLOT}}}}}")
    fits = prompt.startswith(head) and prompt.endswith(tail)
    if not fits or len(prompt) < len(head) + len(tail):
        return None
    return prompt[len(head) : len(prompt) - len(tail)]


def _check_hashes(
    path: Path, card: Mapping[str, Any], texts: Mapping[str, str], block: str | None
) -> None:
    found = {name: sha256_text(text) for name, text in texts.items()}
    if block is not None:
        found["block_sha256"] = sha256_text(block)
    faults = [
        Fault(str(path), f"{name} is {digest}, its card says {card[name]}: not what was emitted")
        for name, digest in found.items()
        if digest != card[name]
    ]
    if block is None:
        faults.append(Fault(str(path), f"is not the frame of design {card['design']} with a block"))
    if faults:
        raise BadInput(faults)


def _candidate(run: Path, view: RunView, name: str | None) -> Body:
    if name is None:
        if view.winner is None:
            raise BadInput.one(str(run), f"has no winner yet; name a candidate, as in {run}:c00")
        return view.winner
    for body in view.candidates.values():
        if name in (body["id"], body["name"]):
            return body
    last = next(reversed(view.candidates), "none")
    raise BadInput.one(f"{run}:{name}", f"no such candidate; the run has c00 to {last}")


def _card(view: RunView, body: Body) -> dict[str, Any]:
    """The card of a candidate that has none of its own: what the run knows of it."""
    gate = view.last(EventKind.GATE)
    threshold = accept_threshold(view, body["id"])
    opened = view.opened
    return {
        "campaign": view.name,
        "candidate": body["id"],
        "block_sha256": body["sha256"],
        "frame_sha256": view.settings["frame_sha256"],
        "run_id": view.run_id,
        "design": opened["student"]["design"],
        "models": {
            "student": {
                "id": opened["student"]["model"],
                "temperature": opened["student"]["temperature"],
                "parameters": opened["student"]["parameters"],
            }
        },
        "simulated": view.simulated,
        "student_budget": opened["student"]["budget"],
        "threshold": {
            "rule": "flag a note whose score is below the value; frozen on accept",
            "value": threshold,
        },
        "gate": {
            "decision": view.decision if body == view.winner else "not_confirmed",
            "reason": gate["reason"] if gate and body == view.winner else None,
        },
    }


def _run_of(prompt: Path) -> Path | None:
    """The run a prompt file lies in, if it does."""
    folder = prompt.resolve().parent
    files = ("config.yaml", "journal.jsonl")
    inside = folder.name == "prompts" and all((folder.parent / f).is_file() for f in files)
    return folder.parent if inside else None


def _known_of(run: Path) -> dict[str, Any]:
    """What a run knows of its judge and a card may leave out."""
    view = read_view(run)
    return {
        "parameters": view.opened["student"]["parameters"],
        "samples": view.settings["search"]["samples"],
    }


def card_text(card: Mapping[str, Any]) -> str:
    """A card as it is written."""
    return yaml.safe_dump(dict(card), sort_keys=False, allow_unicode=True)
