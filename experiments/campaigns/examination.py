"""What is known of a configuration before anything is written, worked out piece by piece.

No heavy import happens here, but for models that are called through LiteLLM: the data, the
partition, the pins and their prices, the seeds and what the confirmation will cost are all known
without a model. A piece that cannot be worked out raises its fault whenever it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from heldout.experiments.campaigns.parts import build_student
from heldout.experiments.checking.checklist import Settled, all_of
from heldout.experiments.checking.models import ModelUse
from heldout.experiments.runs.config import Config, ModelSection, RoleCapsSection
from heldout.experiments.runs.run_data import RunData, data_of
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.gepa.record.summary import simulated_words
from heldout.gepa.settings import ConfirmSettings, freezes_again
from heldout.reflectors.prompts import LengthCap
from heldout.splits.benchmark import Benchmark, Note
from heldout.splits.errors import Fault
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.loading.benchmark_files import BenchmarkSource, Loaded
from heldout.splits.partition.draw import draw_partition, verify
from heldout.splits.partition.manifest import Partition, Shares, read_manifest
from heldout.splits.synthetic import SyntheticDraw, draw
from heldout.students.calls.ledger import Amount, Caps, Role, price_faults
from heldout.students.frames import EscapedTags
from heldout.students.models.chat import (
    BYTES_A_TOKEN,
    Budget,
    Message,
    ModelPin,
    cost_usd,
    prompt_tokens_bound,
)
from heldout.students.models.litellm_client import priced
from heldout.students.models.pins import ClientKind, PinnedModel, Pins, load_pins
from heldout.students.student import Student

CHARACTERS_A_WORD = 8


@dataclass(frozen=True)
class Checked(RunData):
    """A configuration with what it refers to, read and found good.

    `made` is the synthetic benchmark where the run draws its own and has not written it yet;
    `partition` is drawn but not frozen while the manifest is absent.
    """

    config: Config
    made: SyntheticDraw | None
    partition: Partition
    student: PinnedModel
    judge: Student
    """The judge as it can be looked at: frame, score range, calls; it has no caller."""
    reflector: PinnedModel
    confirmation: Amount
    notices: tuple[str, ...]
    escaped: tuple[str, ...]
    """What is said of the frame's own tags in the data; empty where there are none."""

    @property
    def is_new_partition(self) -> bool:
        """True while the manifest has to be frozen."""
        return not self.manifest.exists()

    @property
    def simulated_words(self) -> str | None:
        """What of the models is simulated, model by model; None where nothing is."""
        return simulated_words({"judge": self.student.pin.id, "reflector": self.reflector.pin.id})

    @property
    def simulated(self) -> bool:
        """True if either model is a simulated one; its results are called so everywhere."""
        return self.simulated_words is not None


class Examination:
    """A configuration under examination, for a run in `run`.

    `buyer` is who would look at held-out in a new run, None for a run that is continued or only
    read. Every property raises BadInput for what is wrong with it.
    """

    def __init__(self, config: Config, run: RunDirectory, buyer: Buyer | None = None) -> None:
        self.config, self.run, self.buyer = config, run, buyer

    @classmethod
    def of(cls, checked: Checked, run: RunDirectory, buyer: Buyer) -> Examination:
        """The examination of what was found good before, so that it is not read again."""
        found = cls(checked.config, run, buyer)
        for name in ("made", "partition", "student", "judge", "reflector", "confirmation"):
            vars(found)[f"_{name}"] = (getattr(checked, name), None)
        return found

    @Settled
    def pins(self) -> Pins:
        """The pinned models."""
        return load_pins(self.config.models)

    @Settled
    def student(self) -> PinnedModel:
        """The model of the judge, as the configuration asks it."""
        section = self.config.student
        return _pinned(self.pins.find(section.model, "student.model"), section)

    @Settled
    def reflector(self) -> PinnedModel:
        """The model that writes rewrites, as the configuration asks it."""
        section = self.config.reflector
        return _pinned(self.pins.find(section.model, "reflector.model"), section)

    @property
    def uses(self) -> Sequence[ModelUse]:
        """Both models, with what single calls may spend."""
        student, reflector = all_of(lambda: self.student, lambda: self.reflector)
        return uses_of(self.config, student, reflector)

    @property
    def unpriced(self) -> Sequence[Fault]:
        """Models whose price is unknown beside a cap in USD, of everything or of their role."""
        pins = {use.where: use.model.pin for use in self.uses}
        return [*_unpriced(self.config, pins), *_unpriced_stop(self.config, self.student)]

    @Settled
    def judge(self) -> Student:
        """The judge, without a caller."""
        return build_student(self.config, self.student.pin)

    @Settled
    def data(self) -> RunData:
        """Where the data lie."""
        return data_of(self.config, self.run)

    @Settled
    def made(self) -> SyntheticDraw | None:
        """The synthetic benchmark of a run that has not written it yet."""
        return _drawn(self.config, self.data.source)

    @Settled
    def loaded(self) -> Loaded:
        """The benchmark."""
        return Loaded(self.made.benchmark) if self.made else self.data.load()

    @Settled
    def partition(self) -> Partition:
        """The frozen partition, verified, or the one that would be drawn."""
        return _partition(self.config, self.loaded, self.data)

    @Settled
    def heldout_judging(self) -> Amount:
        """The most that judging one block on held-out can cost."""
        return self._judging("heldout")

    @Settled
    def confirmation(self) -> Amount:
        """The most that freezing thresholds and judging winner and baseline can cost."""
        again = freezes_again(self.config.search, self.config.confirm)
        one = self.heldout_judging + (self._judging("accept") if again else Amount())
        return one + one

    def _judging(self, split: str) -> Amount:
        notes = _notes_of(self.loaded.benchmark, self.partition, split)
        return judging_amount(notes, self.config, self.student.pin, self.judge)

    @Settled
    def escaped(self) -> tuple[str, ...]:
        """What is said of the frame's own tags in the data."""
        notes = (note for consultation in self.loaded.benchmark for note in consultation.notes)
        return EscapedTags.of(self.judge.frame, notes).notices

    def checked(self) -> Checked:
        """Everything together, once every check has passed."""
        return Checked(
            source=self.data.source,
            manifest=self.data.manifest,
            exclude=self.data.exclude,
            registry=self.data.registry,
            config=self.config,
            made=self.made,
            partition=self.partition,
            student=self.student,
            judge=self.judge,
            reflector=self.reflector,
            confirmation=self.confirmation,
            notices=(*self.loaded.notices, *_dropped(self.made), *self.escaped),
            escaped=self.escaped,
        )


def uses_of(config: Config, student: PinnedModel, reflector: PinnedModel) -> Sequence[ModelUse]:
    """Both models, with what single calls may spend."""
    return (
        ModelUse("student", student, (budget_of(config.student),)),
        ModelUse("reflector", reflector, (budget_of(config.reflector),)),
    )


def caps_of(config: Config) -> Caps:
    """The hard caps of a configuration."""
    b = config.budget
    return Caps(b.usd, b.calls, b.tokens, b.wall_s)


def role_caps_of(config: Config) -> dict[Role, Caps]:
    """The hard caps of single roles."""
    sections: dict[Role, RoleCapsSection] = {
        Role.STUDENT: config.budget.student,
        Role.REFLECTOR: config.budget.reflector,
        Role.RETRY: config.budget.retry,
    }
    return {role: Caps(s.usd, s.calls, s.tokens) for role, s in sections.items()}


def _unpriced(config: Config, pins: Mapping[str, ModelPin]) -> Iterator[Fault]:
    """Models whose price is unknown beside a cap in USD, of everything or of their role."""
    yield from price_faults(pins, caps_of(config))
    for role, caps in role_caps_of(config).items():
        concerned = {name: pin for name, pin in pins.items() if role in (name, Role.RETRY)}
        yield from price_faults(concerned, caps, f"budget.{role}")


def _unpriced_stop(config: Config, student: PinnedModel) -> list[Fault]:
    if config.search.stop_usd is None or student.pin.priced:
        return []
    message = f"needs a price for {student.pin.id}; give it in the pins file"
    return [Fault("search.stop_usd", message)]


def budget_of(section: ModelSection) -> Budget:
    """What one call to this model may spend."""
    return Budget(section.budget.max_tokens, section.budget.reasoning_effort)


def judging_amount(notes: Iterable[Note], config: Config, pin: ModelPin, judge: Student) -> Amount:
    """The most that judging one block on `notes` at the confirm settings can cost.

    Every judging may need the retry, and every prompt the longest block the guard lets through.
    """
    confirm: ConfirmSettings = config.confirm
    judgings = confirm.samples * confirm.replicates
    fixed = len(judge.frame.template) + length_cap(config).characters
    calls = judge.calls_per_judgement
    total = Amount()
    for note in notes:
        prompt = prompt_tokens_bound([Message("user", note.transcript + note.text)])
        prompt += -(-fixed // BYTES_A_TOKEN)
        tokens = prompt + config.student.budget.max_tokens
        usd = cost_usd(pin, prompt, config.student.budget.max_tokens) or 0.0
        total += Amount(calls, calls * tokens, calls * usd)
    return Amount(total.calls * judgings + 1, total.tokens * judgings + 1, total.usd * judgings)


def _pinned(model: PinnedModel, section: ModelSection) -> PinnedModel:
    """The pinned model, the configuration going over its temperature and parameters."""
    pin = model.pin
    temperature = pin.temperature if section.temperature is None else section.temperature
    parameters = {**pin.parameters, **section.parameters}
    pinned = replace(model, pin=replace(pin, temperature=temperature, parameters=parameters))
    return priced(pinned) if pinned.client is ClientKind.LITELLM else pinned


def _drawn(config: Config, source: BenchmarkSource) -> SyntheticDraw | None:
    """The synthetic benchmark of a run that has not written it yet."""
    section = config.benchmark.synthetic
    if section is None or source.pairs.exists():
        return None
    return draw(section.consultations, config.seed if section.seed is None else section.seed)


def _partition(config: Config, loaded: Loaded, data: RunData) -> Partition:
    if data.manifest.exists():
        partition = read_manifest(data.manifest)
        verify(
            partition,
            loaded.benchmark,
            files=loaded.files or None,
            exclude=data.exclude,
            where=str(data.manifest),
        )
        return partition
    return new_partition(config, loaded, data.exclude)


def new_partition(config: Config, loaded: Loaded, exclude: frozenset[str]) -> Partition:
    """The partition that this configuration draws from this data."""
    shares = config.partition.shares
    return draw_partition(
        loaded.benchmark,
        seed=config.seed,
        shares=Shares(shares.reflect, shares.accept, shares.heldout),
        exclude=exclude,
        planned_looks=config.partition.planned_looks,
        files=loaded.files,
    )


def _notes_of(benchmark: Benchmark, partition: Partition, split: str) -> list[Note]:
    return [note for name in partition.splits[split] for note in benchmark.by_id[name].notes]


def length_cap(config: Config) -> LengthCap:
    """The longest block allowed; 8 characters a word leave room for long words."""
    words = config.reflector.max_words
    return LengthCap(words, CHARACTERS_A_WORD * words)


def _dropped(made: SyntheticDraw | None) -> tuple[str, ...]:
    if made is None:
        return ()
    return tuple(f"while drawing the benchmark: {why} ({n})" for why, n in made.dropped.items())
