"""What `heldout judge` does: check everything, judge, and leave table, CSV, JSON and scores.

The output directory holds the call store, so that a second attempt buys nothing twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NoReturn

from heldout.experiments.checking.models import ModelUse, demand_models
from heldout.experiments.judging.fact_digests import facts_path
from heldout.experiments.judging.roster import (
    DesignResult,
    JudgeSettings,
    NoteSet,
    judge_roster,
    note_rows,
    scores_json,
)
from heldout.experiments.judging.table import SIMULATED, to_csv, to_markdown
from heldout.experiments.runs.run_directory import working_in
from heldout.gepa.record.summary import SIMULATED as ALL_SIMULATED
from heldout.gepa.record.summary import simulated_words
from heldout.reflectors.simulated.model import simulated_models
from heldout.splits.benchmark import Consultation
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_json
from heldout.splits.heldout.looks import LookEvent
from heldout.splits.heldout.looks_file import Buyer
from heldout.splits.heldout.registry import Use, consultation_digests, register_use, together
from heldout.splits.heldout.vault import open_splits
from heldout.splits.loading.benchmark_files import BenchmarkSource, open_benchmark
from heldout.students.calls.caller import never
from heldout.students.calls.ledger import Caps, price_faults
from heldout.students.calls.retry import CONCURRENCY, Retry
from heldout.students.calls.session import open_judging
from heldout.students.designs.context import FACTS_BUDGET, Roles
from heldout.students.designs.roster import ROSTER, Design, DesignGroup, find_design
from heldout.students.frames import EscapedTags, load_frame
from heldout.students.models.chat import Budget, ChatModel
from heldout.students.models.pins import PinnedModel, load_pins, read_roles, require

Split = Literal["reflect", "accept"]
PARTS = ("judge", "extractor", "auditor", "second_look")
"""The roles that a judge design can need."""


@dataclass(frozen=True)
class JudgeRequest:
    """One `heldout judge`: what to judge, on what, by whom, and where to leave it.

    Without a `partition` the whole file is judged; with one, `split` of it. `model` plays every
    role; without it the roles of the pins file `models` are used. `block` is a text file to judge
    under instead of the design's own block; it goes with a single design.
    """

    designs: tuple[str, ...]
    benchmark: BenchmarkSource
    out: Path
    seed: int
    budget: Budget
    partition: Path | None = None
    split: Split | None = None
    model: str | None = None
    models: Path | None = None
    temperature: float | None = None
    block: Path | None = None
    replicates: int = 1
    concurrency: int = CONCURRENCY
    caps: Caps = field(default_factory=Caps)
    retry: Retry | None = None


@dataclass(frozen=True)
class JudgeReport:
    """Results in the order asked for.

    `simulated`: a simulated model had a part in them. `params`: what was asked, for the record.
    """

    run_id: str
    results: tuple[DesignResult, ...]
    simulated: bool
    params: Mapping[str, str]
    notices: tuple[str, ...] = ()

    @property
    def simulated_words(self) -> str:
        """What of the roles is simulated, role by role where some are not."""
        words = simulated_words({part: self.params[f"model.{part}"] for part in PARTS})
        return SIMULATED if words in (None, ALL_SIMULATED) else words

    @property
    def unanswered(self) -> dict[str, str]:
        """Why a note got no reply from a design, by id of the note."""
        return {id_: why for result in self.results for id_, why in result.unanswered.items()}

    def to_json(self) -> list[dict[str, Any]]:
        """One object a design."""
        return [{**result.to_json(), "simulated": self.simulated} for result in self.results]


def judge_command(
    request: JudgeRequest,
    doubles: Mapping[str, ChatModel] | None = None,
    *,
    stop: Callable[[], str | None] = never,
) -> JudgeReport:
    """Judge and write; `doubles` stand in for simulated models, for tests.

    Raises BadInput before anything is written; Stopped, CircuitOpen or InfrastructureFailure in
    between, after which the same request goes on from what is stored.
    """
    designs = _designs(request.designs)
    blocks = _blocks(request)
    roles = pinned_roles(request)
    notes = note_set(request)
    settings = JudgeSettings(
        roles=Roles(*(_pin(roles[part], request).pin for part in PARTS)),
        budget=request.budget,
        seed=request.seed,
        replicates=request.replicates,
    )
    run_id = _run_id(notes, settings)
    register_use(
        request.benchmark.pairs,
        notes.consultations,
        Use(run_id, f"judge ({request.split or 'all'})", counts=bool(blocks)),
    )
    with (
        working_in(request.out),
        open_judging(
            f"sqlite:///{request.out / 'calls.sqlite'}",
            run_id,
            roles.values(),
            simulated_models(doubles),
            caps=request.caps,
            concurrency=request.concurrency,
            retry=request.retry,
            stop=stop,
        ) as session,
    ):
        results = judge_roster(designs, notes, settings, session.caller, session.runner, blocks)
        report = JudgeReport(
            run_id,
            tuple(results),
            any(model.pin.id.startswith("sim/") for model in roles.values()),
            _params(notes, settings),
            (*notes.notices, *EscapedTags.of(load_frame("whole_note"), notes.notes).notices),
        )
        write(report, request.out)
    return report


def write(report: JudgeReport, out: Path) -> None:
    """`judge.json`, `judge.csv`, `judge.md`; a design and replicate also scores and notes.

    `scores/` is what `heldout compare` reads; `notes/` says of each note what was found.
    """
    results = report.results
    (out / "judge.json").write_text(json.dumps(report.to_json(), indent=2) + "\n", "utf-8")
    (out / "judge.csv").write_text(to_csv(results), "utf-8")
    (out / "judge.md").write_text(
        to_markdown(results, simulated=report.simulated, words=report.simulated_words), "utf-8"
    )
    for folder in ("scores", "notes"):
        (out / folder).mkdir(exist_ok=True)
    for result in results:
        for replicate in range(len(result.judgements)):
            name = f"{result.design.name}.{replicate}"
            scores = json.dumps(scores_json(result, replicate)) + "\n"
            path = out / "scores" / f"{name}.json"
            path.write_text(scores, "utf-8")
            if result.facts:
                facts_path(path).write_text(json.dumps(result.facts, indent=1) + "\n", "utf-8")
            rows = [json.dumps(row) for row in note_rows(result, replicate)]
            (out / "notes" / f"{name}.jsonl").write_text("\n".join(rows) + "\n", "utf-8")


def note_set(request: JudgeRequest) -> NoteSet:
    """The notes to judge. Held-out notes are no choice: they are looks of a campaign or a rerun."""
    if (request.partition is None) != (request.split is None):
        raise BadInput.one("--split", "goes with --partition: give both or neither")
    name = request.benchmark.pairs.name
    if request.partition is None or request.split is None:
        loaded = open_benchmark(request.benchmark)
        notes = tuple(note for c in loaded.benchmark for note in c.notes)
        known = _digests(loaded.benchmark, loaded.benchmark.has_transcripts)
        return NoteSet(f"{name}, all", notes, loaded.benchmark.clean_means, loaded.notices, known)
    splits = open_splits(
        lambda: open_benchmark(request.benchmark),
        request.partition,
        journal=_NoLooks(),
        buyer=Buyer("judge"),
    )
    chosen = splits.reflect if request.split == "reflect" else splits.accept
    notes = tuple(note for c in chosen for note in c.notes)
    known = _digests(chosen, splits.benchmark.has_transcripts)
    means = splits.benchmark.clean_means
    return NoteSet(f"{name}, {request.split}", notes, means, consultations=known)


def _digests(consultations: Iterable[Consultation], has_transcripts: bool) -> frozenset[str]:
    """The consultations as a registry of looks knows them."""
    each = (consultation_digests(c, has_transcripts=has_transcripts) for c in consultations)
    return frozenset(together(each))


def pinned_roles(request: JudgeRequest) -> dict[str, PinnedModel]:
    """The model of every role a design can need.

    Raises BadInput for a role or model that is not pinned, and for a price that a cap needs.
    """
    pins = load_pins(request.models)
    if request.model is not None:
        roles = dict.fromkeys(PARTS, pins.find(request.model, "--model"))
    elif request.models is not None:
        roles = read_roles(request.models, pins)
    else:
        raise BadInput.one("--model", "name a model, or a pins file with roles (--models)")
    require(roles, PARTS, f"{request.models or '--models'}: roles")
    budgets: dict[str, list[Budget]] = {}
    for part in PARTS:
        asked = request.budget if part in ("judge", "second_look") else FACTS_BUDGET
        budgets.setdefault(roles[part].name, []).append(asked)
    named = {roles[part].name: roles[part] for part in reversed(PARTS)}
    where = {name: "--model" if request.model else _role_names(roles, name) for name in named}
    uses = [
        ModelUse(where[name], named[name], tuple(dict.fromkeys(asked)))
        for name, asked in budgets.items()
    ]
    demand_models(uses, price_faults({part: roles[part].pin for part in PARTS}, request.caps))
    return {part: roles[part] for part in PARTS}


def _role_names(roles: Mapping[str, PinnedModel], name: str) -> str:
    """The roles that the model called `name` plays, as a fault names them."""
    played = [part for part in PARTS if roles[part].name == name]
    return f"role{'s' if len(played) > 1 else ''} {', '.join(played)}"


def _designs(names: Sequence[str]) -> list[Design]:
    """The designs by name, `all` for the whole roster; the controls stand in every roster."""
    if "all" in names:
        return list(ROSTER)
    controls = [design.name for design in ROSTER if design.group is DesignGroup.CONTROL]
    return [find_design(name, "DESIGN") for name in dict.fromkeys([*names, *controls])]


def _blocks(request: JudgeRequest) -> dict[str, str]:
    """The block to judge under where it is not the design's own."""
    if request.block is None:
        return {}
    if len(request.designs) != 1 or request.designs == ("all",):
        raise BadInput.one("--block", "goes with one design, whose block it replaces")
    try:
        text = request.block.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput.one(str(request.block), f"cannot be read as UTF-8 text: {error}") from error
    if not text:
        raise BadInput.one(str(request.block), "holds no text")
    return {request.designs[0]: text}


def _pin(model: PinnedModel, request: JudgeRequest) -> PinnedModel:
    if request.temperature is None:
        return model
    return replace(model, pin=replace(model.pin, temperature=request.temperature))


def _run_id(notes: NoteSet, settings: JudgeSettings) -> str:
    """The same notes, models, budget and seed continue the same work."""
    roles = [settings.roles.judge, settings.roles.extractor]
    roles += [settings.roles.auditor, settings.roles.second_look]
    asked = [[pin.id, pin.temperature, dict(pin.parameters)] for pin in roles]
    budget = [settings.budget.max_tokens, settings.budget.reasoning_effort]
    return "judge-" + sha256_json([notes.digest, asked, budget, settings.seed])[:16]


def _params(notes: NoteSet, settings: JudgeSettings) -> dict[str, str]:
    """What was asked, one value a name."""
    roles = {part: getattr(settings.roles, part) for part in PARTS}
    return {
        "set": notes.name,
        "set_sha256": notes.digest,
        "clean_means": notes.clean_means,
        "seed": str(settings.seed),
        "replicates": str(settings.replicates),
        "max_tokens": str(settings.budget.max_tokens),
        "reasoning_effort": settings.budget.reasoning_effort or "",
        **{f"model.{part}": pin.id for part, pin in roles.items()},
        **{f"temperature.{part}": f"{pin.temperature:g}" for part, pin in roles.items()},
    }


class _NoLooks:
    """A journal for somebody who never looks."""

    def append(self, event: LookEvent, /) -> NoReturn:
        raise RuntimeError(f"judging reflect or accept is no look: {event}")
