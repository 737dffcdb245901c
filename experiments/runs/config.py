"""The campaign configuration: one YAML file, strictly typed. Unknown keys are faults.

Every section is a frozen model; search, confirm and gate are the engine's own settings, validated
as they stand. Where a default depends on other values (partition manifest, benchmark seed, tracking
address and text) the field is None here and whoever uses it fills it in.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from heldout.gepa.gate.decide import GateSettings
from heldout.gepa.settings import ConfirmSettings, SearchSettings, one_of
from heldout.reflectors.payload import MIN_PAYLOAD_TOKENS
from heldout.reflectors.prompts import Layout
from heldout.splits.benchmark import CleanMeans
from heldout.students.calls.retry import CONCURRENCY, Retry

Positive = Annotated[int, Field(ge=1, le=1_000_000_000, strict=True)]
NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"


class Section(BaseModel):
    """A part of the configuration: no unknown keys, no change after loading."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, use_attribute_docstrings=True, allow_inf_nan=False
    )


class Synthetic(Section):
    """A benchmark drawn by the deterministic program instead of read from files."""

    consultations: Annotated[int, Field(ge=10, le=2000)] = 48
    seed: int | None = None
    """Defaults to the campaign seed, so that each run has a fresh held-out set."""


class BenchmarkSection(Section):
    """What to run on: `pairs` (with `consultations`), or `synthetic`."""

    pairs: Path | None = None
    consultations: Path | None = None
    synthetic: Synthetic | None = None
    clean_means: CleanMeans = CleanMeans.UNEDITED
    public: bool = False
    transcript: Literal["present", "absent"] = "present"
    columns: dict[str, str] = {}
    """What the tables call a column, by its name here: `text: Clinical Note`."""
    delimiter: str | None = None
    """Of a CSV; found where left out."""
    encoding: str | None = None
    """Of the tables and transcripts; found where left out."""
    multiline: bool = False
    """Take cells over several lines, also where one of their lines reads as a row of its own."""

    @model_validator(mode="after")
    def _one_source(self) -> BenchmarkSection:
        if (self.pairs is None) == (self.synthetic is None):
            raise ValueError("give either pairs or synthetic")
        return self


class SharesSection(Section):
    """Shares of the three splits; they sum to 1."""

    reflect: Annotated[float, Field(gt=0, lt=1)] = 0.40
    accept: Annotated[float, Field(gt=0, lt=1)] = 0.18
    heldout: Annotated[float, Field(gt=0, lt=1)] = 0.42

    @model_validator(mode="after")
    def _whole(self) -> SharesSection:
        total = self.reflect + self.accept + self.heldout
        if abs(total - 1) > 1e-9:
            raise ValueError(f"shares sum to {total:g}, they must sum to 1")
        return self


class PartitionSection(Section):
    """The split: drawn and frozen to `manifest` when that file is absent."""

    manifest: Path | None = None
    exclude: tuple[Path, ...] = ()
    planned_looks: Positive = 1
    shares: SharesSection = SharesSection()


class BudgetSection(Section):
    """What one model call may spend."""

    max_tokens: Positive = 1024
    reasoning_effort: str | None = None


class ModelSection(Section):
    """A model and what it may spend on one call."""

    model: str
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    """Defaults to the temperature of the model's pin."""
    parameters: dict[str, Any] = {}
    """Extra parameters, over those of the pin; for simulated models `effect`."""
    budget: BudgetSection = BudgetSection()


class StudentSection(ModelSection):
    """The judge under optimisation; `design` is a name of the roster or an import path."""

    design: str


class ReflectorSection(ModelSection):
    """The model that writes rewrites."""

    kind: Annotated[str, one_of("model")] = "model"
    """What writes rewrites; `model` asks the chat model."""
    budget: BudgetSection = BudgetSection(max_tokens=16_000)
    max_words: Annotated[int, Field(ge=20)] = 400
    """Length cap of a block."""
    payload_tokens: Annotated[int, Field(ge=2 * MIN_PAYLOAD_TOKENS)] = 12_000
    """Budget of the traces in one reflection prompt."""
    layout: Layout = Layout.BLOCK_LAST
    """Order of the request; `block_first` for simulated reflectors and runs begun with it."""

    @model_validator(mode="before")
    @classmethod
    def _as_before(cls, given: Any) -> Any:
        """Simulated reflectors keep the order that their published figures were made with."""
        if isinstance(given, dict) and str(given.get("model", "")).startswith("sim/"):
            return {"layout": Layout.BLOCK_FIRST, **given}
        return given


class SeedBlock(Section):
    """A named block the search starts from."""

    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    text: str

    @field_validator("text")
    @classmethod
    def _not_empty(cls, text: str) -> str:
        if not text.strip():
            raise ValueError("the seed block is empty")
        return text.strip()


class StoreSection(Section):
    """Where calls are kept (default: calls.sqlite in the run directory), and reuse across runs."""

    url: str | None = None
    reuse: Literal["off", "read-write", "replay"] = "off"


class RoleCapsSection(Section):
    """Hard caps of one role alone."""

    usd: Annotated[float, Field(gt=0)] | None = None
    calls: Positive | None = None
    tokens: Positive | None = None


class CapsSection(RoleCapsSection):
    """Hard caps; reaching one stops the run with status 3. `resume --set` may raise them.

    `student`, `reflector` and `retry` (targeted retries of either) have caps of their own.
    """

    wall_s: Annotated[float, Field(gt=0)] | None = None
    student: RoleCapsSection = RoleCapsSection()
    reflector: RoleCapsSection = RoleCapsSection()
    retry: RoleCapsSection = RoleCapsSection()


class TrackingSection(Section):
    """Where MLflow records the run, and how much clinical text may leave the run directory."""

    uri: str | None = None
    experiment: str = "heldout"
    text: Literal["full", "hashes", "none"] | None = None
    enabled: bool = True


class LooksSection(Section):
    """Where looks at held-out consultations are registered."""

    registry: Path | None = None
    """A file; by default beside the pairs file, else in the working folder."""


class Config(Section):
    """One campaign."""

    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    seed: Annotated[int, Field(ge=-(2**63), lt=2**63, strict=True)]
    concurrency: Annotated[int, Field(ge=1, le=512, strict=True)] = CONCURRENCY
    benchmark: BenchmarkSection
    partition: PartitionSection = PartitionSection()
    student: StudentSection
    reflector: ReflectorSection
    seeds: Annotated[tuple[SeedBlock, ...], Field(min_length=1)]
    baseline: str | None = None
    """Name of the seed that the winner is compared with; the first by default."""
    models: Path | None = None
    """A file of model pins, needed for every model that is not simulated."""
    parts: Path | None = None
    """Where parts named by import path are looked for; the folder of this file by default."""
    search: SearchSettings = SearchSettings()
    confirm: ConfirmSettings = ConfirmSettings()
    gate: GateSettings = GateSettings()
    looks: LooksSection = LooksSection()
    store: StoreSection = StoreSection()
    budget: CapsSection = CapsSection()
    retry: Retry = Retry()
    """How long a call is asked again after a fault, and when all failing stops the run."""
    tracking: TrackingSection = TrackingSection()

    @model_validator(mode="after")
    def _seed_names(self) -> Config:
        names = [seed.name for seed in self.seeds]
        if len(set(names)) < len(names):
            raise ValueError("two seeds have the same name")
        if len({seed.text for seed in self.seeds}) < len(names):
            raise ValueError("two seeds have the same text")
        if self.baseline is not None and self.baseline not in names:
            raise ValueError(f"baseline {self.baseline!r} is not a seed; seeds: {', '.join(names)}")
        return self

    @property
    def baseline_name(self) -> str:
        """Name of the baseline seed."""
        return self.baseline or self.seeds[0].name
