"""Where a block is taken from: an emitted prompt file with its card, or a candidate of a run.

`PROMPT` is a prompt file; its card must stand beside it, and every hash on the card must fit.
`RUN` is a run directory, meaning the candidate that the search chose; `RUN:candidate` names another
one, by id (`c07`) or by a seed's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heldout.experiments.practice.cards import Card, read_card, refuse_strange
from heldout.gepa.emission import CARD_SUFFIX
from heldout.gepa.gate.settings import primary_pairs
from heldout.gepa.record.codec import plain
from heldout.gepa.record.events import CandidateEvent, SettingsEvent
from heldout.gepa.record.run import Run, load_run
from heldout.gepa.settings import freezes_again
from heldout.gepa.statistics.rates.detection import swept
from heldout.splits.errors import BadInput, Fault
from heldout.splits.hashing import sha256_text
from heldout.students.calls.completion import NoCalls
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import find_design
from heldout.students.frames import BLOCK_SLOT, Frame
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Student

UNCONFIRMED = "unconfirmed"


@dataclass(frozen=True)
class LoadedPrompt:
    """A block, unchanged to the byte, with what is known of it.

    `confirmed`: a gate passed exactly this block on held-out data. `vouched`: the journal of its
    run says so, not a card alone, which anybody can write. `threshold` was frozen on accept
    at `budget` and `samples`; None where nothing froze one. `run` is the run directory it was taken
    from, None for a prompt file that stands alone. `card` is what copies of it say of it.
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
    vouched: bool = True

    @property
    def sha256(self) -> str:
        """Hash of the block."""
        return sha256_text(self.block)

    @property
    def text(self) -> str:
        """The frame with the block, as an emitted prompt file holds it."""
        return self.frame.with_block(self.block)

    @property
    def file_stem(self) -> str:
        """Name of files made from it; one that no gate passed says so."""
        return self.name if self.confirmed else f"{self.name}.{UNCONFIRMED}"

    @property
    def standing(self) -> str:
        """Whether the claim holds, as a sentence for headers."""
        if self.confirmed and not self.vouched:
            return "confirmed by its card alone: no journal stands beside it that could agree"
        if self.confirmed:
            return "confirmed: held-out data agreed before this prompt was emitted"
        return f"{UNCONFIRMED.upper()}: no gate passed this block on held-out data"

    def require_confirmed(self, unconfirmed: bool) -> None:
        """Raise BadInput where no gate passed it, unless the person takes it as such."""
        if not self.confirmed and not unconfirmed:
            raise BadInput.one(
                self.name,
                "no gate passed this block on held-out data; to take it all the same give "
                "--unconfirmed, which is written into file names, headers and cards",
            )

    @property
    def plain_seed(self) -> LoadedPrompt:
        """The block that its design starts from, as a control for it."""
        block = find_design(self.design, self.name).block
        return replace(
            self,
            name=f"{self.design}-plain",
            block=block,
            confirmed=False,
            threshold=None,
            card={},
        )


def load_prompt(source: str, where: str = "PROMPT") -> LoadedPrompt:
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


def from_prompt(path: Path) -> LoadedPrompt:
    """An emitted prompt file. Raises BadInput with every hash that differs from its card."""
    card_file = path.with_name(f"{path.stem}{CARD_SUFFIX}")
    card = read_card(card_file)
    frame = frame_of(card.design, str(card_file))
    try:
        text = path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.one(str(path), f"cannot be read as UTF-8 text: {error}") from error
    block = block_in(text, frame)
    if faults := list(_other_hashes(path, card, text, frame, block)):
        raise BadInput(faults)
    assert block is not None  # a block that cannot be found was a fault
    samples = card.samples
    parameters: Mapping[str, Any] | None = card.parameters
    run = _run_of(path)
    if run is not None:
        known = load_run(run)
        refuse_strange(path, card_file, known)
        # Cards of older versions leave out what the journal of the run knows.
        parameters = known.opened.student.parameters if parameters is None else parameters
        samples = _settings(known).search.samples if samples is None else samples
    return LoadedPrompt(
        name=path.name.partition(f".{UNCONFIRMED}")[0].removesuffix(".txt"),
        design=card.design,
        frame=frame,
        block=block,
        confirmed=card.decision == "emitted" and card.confirmed,
        model=card.model,
        temperature=card.temperature,
        parameters=parameters or {},
        budget=Budget(card.max_tokens, card.reasoning_effort),
        samples=samples or 1,
        threshold=card.threshold,
        card=card.content,
        run=run,
        vouched=run is not None,
    )


def from_run(path: Path, name: str | None) -> LoadedPrompt:
    """A candidate of a run, the winner without a name. Raises BadInput where there is none."""
    run = load_run(path)
    candidate = _candidate(run, path, name)
    where = f"{path}:{candidate.id}"
    if candidate.block is None:
        raise BadInput.one(where, f"its text is not kept ({candidate.reason})")
    if sha256_text(candidate.block) != candidate.sha256:
        raise BadInput.one(where, "its block does not fit its hash in the journal")
    student, settings = run.opened.student, _settings(run)
    frame = frame_of(student.design or "", str(path))
    if frame.sha256 != settings.frame_sha256:
        raise BadInput.one(str(path), "was made with another version of the frame of this design")
    won = run.winner is not None and run.winner.id == candidate.id
    samples, threshold = settings.search.samples, accept_threshold(run, candidate.id)
    at = run.heldout.winner.at_threshold if won and run.heldout is not None else None
    if at is not None and freezes_again(settings.search, settings.confirm):
        samples, threshold = settings.confirm.samples, at.threshold
    prompt = LoadedPrompt(
        name=f"{run.name}-{candidate.id}",
        design=student.design or "",
        frame=frame,
        block=candidate.block,
        confirmed=won and run.decision == "emitted",
        model=student.model,
        temperature=student.temperature or 0.0,
        parameters=student.parameters or {},
        budget=student.budget,
        samples=samples,
        threshold=threshold,
        card={},
        run=path,
    )
    return replace(prompt, card=_card(prompt, run, candidate, won=won))


def accept_threshold(run: Run, candidate: str) -> float | None:
    """The threshold of a candidate that its accept scores freeze, None where it has none."""
    table = run.accept_table(candidate)
    if table is None:
        return None
    return swept(table, _settings(run).gate.cap, primary_pairs(run.primary)).threshold


def student_to_look_at(design: str, where: str) -> Student:
    """A student of `design` that can ask nothing, for its frame and range.

    Raises BadInput for a name that is not in the roster.
    """
    context = DesignContext(Roles.all(ModelPin("none")), NoCalls(), run_seed=0)
    return find_design(design, where).build(context)


def frame_of(design: str, where: str) -> Frame:
    """The frame of a design. Raises BadInput for a name that is not in the roster."""
    return student_to_look_at(design, where).frame


def block_in(text: str, frame: Frame) -> str | None:
    """The block that `frame` was filled with to give `text`, None if it was another frame."""
    head, _, tail = frame.template.partition(f"{{{{{BLOCK_SLOT}}}}}")
    fits = text.startswith(head) and text.endswith(tail)
    if not fits or len(text) < len(head) + len(tail):
        return None
    return text[len(head) : len(text) - len(tail)]


def _other_hashes(
    path: Path, card: Card, text: str, frame: Frame, block: str | None
) -> Iterator[Fault]:
    """What differs from the card: the text was changed after it was emitted."""
    hashes = {
        "prompt_sha256": (sha256_text(text), card.prompt_sha256),
        "frame_sha256": (frame.sha256, card.frame_sha256),
    }
    if block is not None:
        hashes["block_sha256"] = (sha256_text(block), card.block_sha256)
    for name, (found, said) in hashes.items():
        if found != said:
            message = f"{name} is {found}, its card says {said}: not what was emitted"
            yield Fault(str(path), message)
    if block is None:
        yield Fault(str(path), f"is not the frame of design {card.design} with a block")


def _candidate(run: Run, path: Path, name: str | None) -> CandidateEvent:
    if name is None:
        if run.winner is None:
            raise BadInput.one(str(path), f"has no winner yet; name a candidate, as in {path}:c00")
        return run.candidates[run.winner.id]
    for candidate in run.candidates.values():
        if name in (candidate.id, candidate.name):
            return candidate
    last = next(reversed(run.candidates), "none")
    raise BadInput.one(f"{path}:{name}", f"no such candidate; the run has c00 to {last}")


def _settings(run: Run) -> SettingsEvent:
    if run.settings is None:
        raise BadInput.one(str(run.run_dir), "has not begun its search: it has no candidate yet")
    return run.settings


def _card(
    prompt: LoadedPrompt, run: Run, candidate: CandidateEvent, *, won: bool
) -> dict[str, Any]:
    """The card of a candidate that has none of its own: what the run knows of it."""
    return {
        "campaign": run.name,
        "candidate": candidate.id,
        "block_sha256": prompt.sha256,
        "frame_sha256": prompt.frame.sha256,
        "run_id": run.run_id,
        "design": prompt.design,
        "models": {
            "student": {
                "id": prompt.model,
                "temperature": prompt.temperature,
                "parameters": dict(prompt.parameters),
            }
        },
        "simulated": run.simulated,
        "student_budget": plain(prompt.budget),
        "threshold": {
            "rule": "flag a note whose score is below the value; frozen on accept",
            "value": prompt.threshold,
        },
        "gate": {
            "decision": run.decision if won else "not_confirmed",
            "reason": run.reason if won else None,
        },
    }


def _run_of(prompt: Path) -> Path | None:
    """The run a prompt file lies in, if it does."""
    folder = prompt.resolve().parent
    files = ("config.yaml", "journal.jsonl")
    inside = folder.name == "prompts" and all((folder.parent / f).is_file() for f in files)
    return folder.parent if inside else None
