"""A loaded prompt made ready to judge: what a person chose, the model pinned, the student built."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from heldout.experiments.checking.models import ModelUse, demand_models
from heldout.experiments.practice.loaded_prompt import LoadedPrompt
from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import load_config
from heldout.experiments.runs.run_directory import existing_run
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.errors import BadInput
from heldout.students.calls.caller import never
from heldout.students.calls.completion import CompletionClient
from heldout.students.calls.ledger import Caps, Ledger, price_faults
from heldout.students.calls.retry import CONCURRENCY, Retry
from heldout.students.calls.session import JudgingSession, open_judging
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import find_design
from heldout.students.models.chat import Budget, ChatModel
from heldout.students.models.pins import PinnedModel, Pins, load_pins
from heldout.students.student import Student

STORE = "calls.sqlite"
"""The call store in the folder of a command's output, from which a second attempt goes on."""

DEFAULT_SEED = 11
"""Of a prompt without a run; stands in the command line's help."""


@dataclass(frozen=True)
class JudgeOptions:
    """What a person may choose for any judging; None takes what the prompt came with.

    `model` is a name in the pins file `models`; `effort` `-` sends none; `samples` make one
    judging; without a `seed` it is that of the prompt's run, else 11; `usd` and `wall_s`
    (seconds) are the most to spend. `doubles` replace simulated models, for tests.
    """

    model: str | None = None
    models: Path | None = None
    temperature: float | None = None
    max_tokens: int | None = None
    effort: str | None = None
    samples: int | None = None
    seed: int | None = None
    concurrency: int = CONCURRENCY
    usd: float | None = None
    wall_s: float | None = None
    retry: Retry | None = None
    doubles: Mapping[str, ChatModel] = field(default_factory=dict)

    @property
    def caps(self) -> Caps:
        """The most to spend."""
        return Caps(usd=self.usd, wall_s=self.wall_s)

    def budget_for(self, prompt: LoadedPrompt) -> Budget:
        """What one call may spend."""
        return budget_asked(prompt, self.effort, self.max_tokens) or prompt.budget


@dataclass(frozen=True)
class JudgedAs:
    """What a threshold depends on: block, frame, model, budget and samples."""

    design: str
    block_sha256: str
    frame_sha256: str
    model: str
    temperature: float
    parameters: Mapping[str, Any]
    max_tokens: int
    reasoning_effort: str | None
    samples: int


@dataclass(frozen=True)
class ReadyPrompt:
    """A prompt with everything that judges under it, checked but not opened."""

    prompt: LoadedPrompt
    model: PinnedModel
    budget: Budget
    samples: int
    seed: int
    options: JudgeOptions

    @property
    def simulated(self) -> bool:
        """True where the judge is a simulated model."""
        return self.model.pin.id.startswith("sim/")

    @property
    def judged_as(self) -> JudgedAs:
        """What a threshold for these judgings depends on."""
        return JudgedAs(
            design=self.prompt.design,
            block_sha256=self.prompt.sha256,
            frame_sha256=self.prompt.frame.sha256,
            model=self.model.pin.id,
            temperature=self.model.pin.temperature,
            parameters=dict(self.model.pin.parameters),
            max_tokens=self.budget.max_tokens,
            reasoning_effort=self.budget.reasoning_effort,
            samples=self.samples,
        )

    def student(self, calls: CompletionClient) -> Student:
        """The design of the prompt, built as a campaign builds it.

        Raises BadInput where this version's frame of the design is another one.
        """
        prompt = self.prompt
        context = DesignContext(Roles.all(self.model.pin), calls, self.seed)
        student = find_design(prompt.design, prompt.name).build(context)
        if student.frame.sha256 != prompt.frame.sha256:
            message = f"the frame of design {prompt.design} has changed since"
            raise BadInput.one(prompt.name, message)
        return student

    @contextmanager
    def opened(
        self,
        store: Path,
        run_id: str,
        *,
        ledger: Ledger | None = None,
        stop: Callable[[], str | None] = never,
    ) -> Iterator[PromptSession]:
        """Judge with the store in the file `store`, as `run_id`; calls of other runs are used."""
        with open_judging(
            f"sqlite:///{store}",
            run_id,
            [self.model],
            simulated_models(self.options.doubles),
            caps=self.options.caps,
            ledger=ledger,
            concurrency=self.options.concurrency,
            retry=self.options.retry,
            stop=stop,
        ) as session:
            yield PromptSession(session, self.student(session.caller))


def unanswered_lines(unanswered: Mapping[str, str]) -> list[str]:
    """What is said at the end of notes that no reply came for, by id, with why."""
    if not unanswered:
        return []
    what = "1 note was" if len(unanswered) == 1 else f"{len(unanswered)} notes were"
    return [
        f"{what} not answered and left aside; the same command asks again:",
        *(f"  {id_}: {why}" for id_, why in unanswered.items()),
    ]


def tell_nobody(line: str) -> None:
    """Progress that nobody watches."""


@dataclass(frozen=True)
class PromptSession:
    """An open judging session and the student that judges in it."""

    judging: JudgingSession
    student: Student


def make_ready(
    prompt: LoadedPrompt, options: JudgeOptions, budgets: Sequence[Budget] | None = None
) -> ReadyPrompt:
    """`prompt` as `options` want it judged, checked before anything is sent or written.

    `budgets` are what it will be judged at, by default the one of `options`. Raises BadInput for a
    model that is not pinned, an effort it does not take, a price that a cap needs.
    """
    budget = options.budget_for(prompt)
    config = config_of(prompt)
    pins = load_pins(options.models or (None if config is None else config.models))
    if options.model is None:
        model = _by_id(pins, prompt.model)
        pin = replace(model.pin, temperature=prompt.temperature, parameters=prompt.parameters)
    else:
        model = pins.find(options.model, "--model")
        pin = model.pin
    if options.temperature is not None:
        pin = replace(pin, temperature=options.temperature)
    model = replace(model, pin=pin)
    budgets = [budget] if budgets is None else budgets
    demand_models(
        [ModelUse("judge", model, tuple(budgets))],
        price_faults({"judge": pin}, options.caps),
    )
    seed = options.seed
    if seed is None:
        # The seed of the prompt's run, so that its calls are the same ones.
        seed = DEFAULT_SEED if config is None else config.seed
    samples = options.samples or prompt.samples
    return ReadyPrompt(prompt, model, budget, samples, seed, options)


def budget_asked(prompt: LoadedPrompt, effort: str | None, max_tokens: int | None) -> Budget | None:
    """The prompt's own budget with these changes, None where none is asked for."""
    if max_tokens is None and effort is None:
        return None
    effort = prompt.budget.reasoning_effort if effort is None else effort
    return Budget(max_tokens or prompt.budget.max_tokens, None if effort == "-" else effort)


def config_of(prompt: LoadedPrompt) -> Config | None:
    """The configuration of the run a prompt was taken from, None for one that stands alone."""
    if prompt.run is None:
        return None
    return load_config(existing_run(prompt.run).config, stored=True)


def _by_id(pins: Pins, model: str) -> PinnedModel:
    """The pinned model with this provider id: cards name what was asked, not the pin's name."""
    found = (pinned for pinned in pins.models.values() if pinned.pin.id == model)
    return next(found, None) or pins.find(model, "--model")
