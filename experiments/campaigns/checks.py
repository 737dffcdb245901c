"""Everything about a configuration that can be checked before anything is written.

No heavy import happens here, but for the price of a hosted model whose pin gives none: the data,
the partition, the pins and their prices, the seeds and what the confirmation will cost are all
known without a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from heldout.experiments.campaigns.parts import build_student, check_own_parts
from heldout.experiments.runs.config import Config, ModelSection, RoleCapsSection
from heldout.experiments.runs.run_data import RunData, data_of
from heldout.experiments.runs.run_directory import RunDirectory
from heldout.gepa.record.summary import simulated_words
from heldout.gepa.settings import ConfirmSettings
from heldout.reflectors.guard import Guard
from heldout.reflectors.prompts import LengthCap
from heldout.splits.benchmark import Benchmark, Note
from heldout.splits.errors import BadInput, Fault
from heldout.splits.loading.benchmark_files import BenchmarkSource, Loaded
from heldout.splits.partition.draw import draw_partition, verify
from heldout.splits.partition.manifest import Partition, Shares, read_manifest
from heldout.splits.protected import ProtectedTexts
from heldout.splits.synthetic import SyntheticDraw, draw
from heldout.students.calls.database import has_password
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
from heldout.students.models.pins import ClientKind, PinnedModel, load_pins
from heldout.students.models.pins_file import parameter_faults
from heldout.students.simulated.effects import Scale
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


def check(config: Config, run: RunDirectory) -> Checked:
    """Check `config` for a run in `run`. Raises BadInput with what is wrong; writes nothing."""
    pins = load_pins(config.models)
    student = _pinned(pins.find(config.student.model, "student.model"), config.student)
    reflector = _pinned(pins.find(config.reflector.model, "reflector.model"), config.reflector)
    _raise(_secret_faults(config))
    caps = caps_of(config)
    roles = {"student": student.pin, "reflector": reflector.pin}
    _raise(_unpriced(config, roles))
    _raise(_stop_faults(config, student))
    check_own_parts(config)
    judge = build_student(config, student.pin)
    _raise(_seed_faults(config, judge))
    if student.pin.id == "sim/judge":
        Scale.of(student.pin.parameters)
    data = data_of(config, run)
    made = _drawn(config, data.source)
    loaded = Loaded(made.benchmark) if made else data.load()
    partition = _partition(config, loaded, data)
    escaped = _escaped(loaded.benchmark, judge)
    checked = Checked(
        source=data.source,
        manifest=data.manifest,
        exclude=data.exclude,
        config=config,
        made=made,
        partition=partition,
        student=student,
        judge=judge,
        reflector=reflector,
        confirmation=confirmation_amount(
            _heldout_notes(loaded.benchmark, partition), config, student.pin, judge
        ),
        notices=(*loaded.notices, *_dropped(made), *escaped),
        escaped=escaped,
    )
    _check_affordable(checked, caps)
    return checked


def _secret_faults(config: Config) -> Iterator[Fault]:
    """Keys and passwords in the configuration, which is copied to the run and to MLflow."""
    for name, section in (("student", config.student), ("reflector", config.reflector)):
        yield from parameter_faults(section.parameters, name)
    if config.store.url is not None and has_password(config.store.url):
        message = "holds a password; keep it in PGPASSWORD or in a password file"
        yield Fault("store.url", message)


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


def budget_of(section: ModelSection) -> Budget:
    """What one call to this model may spend."""
    return Budget(section.budget.max_tokens, section.budget.reasoning_effort)


def confirmation_amount(
    notes: Iterable[Note], config: Config, pin: ModelPin, judge: Student
) -> Amount:
    """The most that judging the winner on held-out can cost, the drift check included.

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
    scale = judgings + confirm.drift_share
    return Amount(int(total.calls * scale) + 1, int(total.tokens * scale) + 1, total.usd * scale)


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


def _heldout_notes(benchmark: Benchmark, partition: Partition) -> list[Note]:
    return [note for name in partition.heldout for note in benchmark.by_id[name].notes]


def _check_affordable(checked: Checked, caps: Caps) -> None:
    """Baseline and winner are judged on held-out alike: twice the confirmation must fit."""
    twice = checked.confirmation + checked.confirmation
    limits: Mapping[str, tuple[float | None, float]] = {
        "usd": (caps.usd, twice.usd),
        "calls": (caps.calls, twice.calls),
        "tokens": (caps.tokens, twice.tokens),
    }
    _raise(
        Fault(
            f"budget.{name}",
            f"{cap:g} cannot pay for the held-out baseline and the confirmation, "
            f"which may take {need:g}; raise it, or lower confirm.samples or confirm.replicates",
        )
        for name, (cap, need) in limits.items()
        if cap is not None and need > cap
    )


def _stop_faults(config: Config, student: PinnedModel) -> list[Fault]:
    if config.search.stop_usd is None or student.pin.priced:
        return []
    message = f"needs a price for {student.pin.id}; give it in the pins file"
    return [Fault("search.stop_usd", message)]


def _seed_faults(config: Config, judge: Student) -> list[Fault]:
    """Seeds that the guard would not let through: every rewrite of them would be rejected too."""
    guard = Guard(judge.frame, length_cap(config), ProtectedTexts())
    found = ((seed, guard.check(seed.text, {}, ())) for seed in config.seeds)
    return [
        Fault(f"seeds: {seed.name}", f"is no usable block ({why.reason}: {why.detail})")
        for seed, why in found
        if why is not None
    ]


def length_cap(config: Config) -> LengthCap:
    """The longest block allowed; 8 characters a word leave room for long words."""
    words = config.reflector.max_words
    return LengthCap(words, CHARACTERS_A_WORD * words)


def _escaped(benchmark: Benchmark, judge: Student) -> tuple[str, ...]:
    escaped = EscapedTags(judge.frame)
    for consultation in benchmark:
        escaped.see(consultation.transcript, *(note.text for note in consultation.notes))
    return escaped.notices


def _dropped(made: SyntheticDraw | None) -> tuple[str, ...]:
    if made is None:
        return ()
    return tuple(f"while drawing the benchmark: {why} ({n})" for why, n in made.dropped.items())


def _raise(faults: Iterable[Fault]) -> None:
    found = list(faults)
    if found:
        raise BadInput(found)
