"""Parts: the strategies a configuration names. The one place where names become objects.

A part is named by a word of the built-in ones, or by an import path `package.module:Name`. What
stands at an import path is looked for beside the configuration file (`parts:` names another
folder), then among installed packages. It is checked by the conformance tests of `heldout.testing`
before anything is bought, and the digest of its source stands in the first event of the run.

Only what judges imports a part; status, report, verify, lineage and ui read its name alone.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import math
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from heldout.experiments.runs.config import Config
from heldout.experiments.runs.config_file import GIVEN
from heldout.gepa.acceptance import Acceptance, FullPool, MinibatchImprovement
from heldout.gepa.gate.rules import Rule, all_rules
from heldout.gepa.minibatch import ConsultationFirst, Minibatch
from heldout.gepa.objective import DetectionFirst, Objective, PairedFirst, SeverityWeighted
from heldout.gepa.settings import is_import_path
from heldout.reflectors.model import ModelReflector
from heldout.reflectors.prompts import Terms
from heldout.reflectors.reflector import Reflector
from heldout.splits.errors import BadInput, Fault
from heldout.students.calls.completion import CompletionClient, NoCalls
from heldout.students.designs.context import DesignContext, Roles
from heldout.students.designs.roster import DESIGNS, DesignGroup, find_design
from heldout.students.models.chat import Budget, ModelPin
from heldout.students.student import Student

Part = TypeVar("Part")

OBJECTIVES: Mapping[str, Callable[[Config], Objective]] = {
    "paired_first": lambda c: PairedFirst(c.search.primary, c.gate.cap, c.search.denominator),
    "detection_first": lambda c: DetectionFirst(c.search.primary, c.gate.cap, c.search.denominator),
    "severity_weighted": lambda c: SeverityWeighted(c.gate.cap),
}
ACCEPTANCES: Mapping[str, Callable[[Config], Acceptance]] = {
    "minibatch": lambda c: MinibatchImprovement(c.search.acceptance_margin),
    "full_pool": lambda c: FullPool(c.search.acceptance_margin),
}
MINIBATCHES: Mapping[str, Callable[[Config], Minibatch]] = {
    "consultation_first": lambda c: ConsultationFirst(
        c.search.minibatch_consultations, c.search.minibatch_errored
    ),
}
FAILS = (
    ImportError,
    SyntaxError,
    ArithmeticError,
    AttributeError,
    LookupError,
    NameError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    AssertionError,
    SystemExit,
)
"""What a person's module may raise while it is imported or built."""


class OwnPart:
    """A part that is not built in: what it does wrong while a run goes is a fault that names it."""

    def __init__(self, key: str, path: str, part: object) -> None:
        self.key, self.path, self.part = key, path, part

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.part, name)
        if inspect.iscoroutinefunction(found):

            async def awaited(*given: Any, **named: Any) -> Any:
                with self._named(name):
                    return await found(*given, **named)

            return awaited
        if not callable(found):
            return found

        def called(*given: Any, **named: Any) -> Any:
            with self._named(name):
                answer = found(*given, **named)
                if name == "rank" and not _is_rank(answer):
                    raise ValueError(f"a rank is a tuple of finite numbers, not {answer!r:.60}")
                return answer

        return called

    @contextmanager
    def _named(self, method: str) -> Iterator[None]:
        try:
            yield
        except FAILS as error:
            message = f"{self.path} failed in {method} ({_told(error)})"
            raise BadInput.one(self.key, message) from error


def _is_rank(answer: object) -> bool:
    return isinstance(answer, tuple) and all(
        isinstance(value, int | float) and math.isfinite(value) for value in answer
    )


@dataclass(frozen=True, slots=True)
class PartKind:
    """A key of the configuration that takes a part, and what is built in for it."""

    key: str
    names: Mapping[str, str]
    """What each built-in part is, in one line."""


def part_kinds() -> tuple[PartKind, ...]:
    """Every key that takes a part."""
    return (
        PartKind(
            "student.design",
            {
                name: f"{design.group} design, starts from the block {design.block_name}"
                for name, design in DESIGNS.items()
                if design.group is not DesignGroup.CONTROL
            },
        ),
        PartKind("reflector.kind", {"model": "asks a chat model for rewrites and merges"}),
        PartKind(
            "search.objective",
            {
                "paired_first": _first_line(PairedFirst),
                "detection_first": _first_line(DetectionFirst),
                "severity_weighted": _first_line(SeverityWeighted),
            },
        ),
        PartKind(
            "search.acceptance",
            {
                "minibatch": _first_line(MinibatchImprovement),
                "full_pool": _first_line(FullPool),
            },
        ),
        PartKind("search.minibatch", {"consultation_first": _first_line(ConsultationFirst)}),
        PartKind(
            "gate.rule", {name: _first_line(type(r)) for name, r in all_rules(seed=0).items()}
        ),
    )


def build_student(
    config: Config, pin: ModelPin, caller: CompletionClient | None = None, occasion: str = ""
) -> Student:
    """The judge, with `pin` in every role; `occasion` buys the calls about notes afresh.

    Without a caller it can be looked at (frame, score range, calls), not asked. One of a person's
    own is a `dspy.Module` with one predictor, or is called with the context that built-in designs
    are made in. Raises BadInput for an unknown design, for a control, which has no block, and for
    one that cannot be built.
    """
    context = DesignContext(Roles.all(pin), caller or NoCalls(), config.seed, occasion=occasion)
    name = config.student.design
    if is_import_path(name):
        return _own_student(config, name, context)
    design = find_design(name, "student.design")
    if design.group is DesignGroup.CONTROL:
        message = f"{design.name} is a control: it has no block that could evolve"
        raise BadInput.one("student.design", message)
    return design.build(context)


def _own_student(config: Config, path: str, context: DesignContext) -> Student:
    found = load(config, "student.design", path)
    try:
        if _is_dspy(found):
            from heldout.students.designs.dspy_module import ModuleStudent  # noqa: PLC0415

            module = found() if inspect.isclass(found) else found
            return ModuleStudent(
                module, context.roles.judge, context.caller, context.run_seed, context.occasion
            )
        own: Any = OwnPart("student.design", path, found(context))
    except FAILS as error:
        raise BadInput.one("student.design", f"{path} cannot be built ({_told(error)})") from error
    student: Student = own
    return student


def _is_dspy(part: object) -> bool:
    """True for a `dspy.Module`; DSPy is not imported to find out."""
    kind = part if inspect.isclass(part) else type(part)
    return any(base.__module__.partition(".")[0] == "dspy" for base in kind.__mro__)


def build_reflector(
    config: Config, *, caller: CompletionClient, terms: Terms, pin: ModelPin, budget: Budget
) -> Reflector:
    """What writes rewrites; one of a person's own takes the same keywords as `ModelReflector`."""
    kind, run_seed = config.reflector.kind, config.seed
    if not is_import_path(kind):
        return ModelReflector(caller, terms, pin, budget, run_seed)
    found = load(config, "reflector.kind", kind)
    try:
        own = found(caller=caller, terms=terms, pin=pin, budget=budget, run_seed=run_seed)
    except FAILS as error:
        raise BadInput.one("reflector.kind", f"{kind} cannot be built ({_told(error)})") from error
    guarded: Any = OwnPart("reflector.kind", kind, own)
    reflector: Reflector = guarded
    return reflector


def objective_of(config: Config) -> Objective:
    """The objective that the configuration names."""
    return _built_in_or_own(config, "search.objective", config.search.objective, OBJECTIVES)


def acceptance_of(config: Config) -> Acceptance:
    """The acceptance rule that the configuration names."""
    return _built_in_or_own(config, "search.acceptance", config.search.acceptance, ACCEPTANCES)


def minibatch_of(config: Config) -> Minibatch:
    """How the configuration draws minibatches."""
    return _built_in_or_own(config, "search.minibatch", config.search.minibatch, MINIBATCHES)


def rule_of(config: Config) -> Rule | None:
    """The gate rule where it is not built in."""
    name = config.gate.rule
    if not is_import_path(name):
        return None
    own: Any = OwnPart("gate.rule", name, instance(config, "gate.rule", name))
    rule: Rule = own
    return rule


def check_own_parts(config: Config) -> None:
    """Run the conformance tests of `heldout.testing` on every part that is not built in.

    A reflector is only imported: its check needs a reply, which only its author knows.

    Raises BadInput that names the key and what the part does wrong.
    """
    own = dict(own_parts(config))
    if not own:
        return
    from heldout import testing  # noqa: PLC0415 (the door stands above; only own parts need it)

    checks: dict[str, Callable[[], object]] = {
        "student.design": lambda: testing.check_student(
            lambda context: _own_student(config, config.student.design, context)
        ),
        "reflector.kind": lambda: _check_reflector(config),
        "search.objective": lambda: testing.check_objective(objective_of(config)),
        "search.acceptance": lambda: testing.check_acceptance(acceptance_of(config)),
        "search.minibatch": lambda: testing.check_minibatch(minibatch_of(config)),
        "gate.rule": lambda: testing.check_rule(instance(config, "gate.rule", config.gate.rule)),
    }
    faults = []
    for key in [key for key in checks if key in own]:
        try:
            checks[key]()
        except FAILS as error:
            faults.append(Fault(key, f"{own[key]} does not keep its contract ({_told(error)})"))
    if faults:
        raise BadInput(faults)


def _check_reflector(config: Config) -> None:
    """A class must have both methods, awaited; what else it does only its author can try."""
    found = load(config, "reflector.kind", config.reflector.kind)
    for name in ("rewrite", "merge") if inspect.isclass(found) else ():
        if not inspect.iscoroutinefunction(getattr(found, name, None)):
            raise TypeError(f"{name} must be an async method")


def digests(config: Config) -> dict[str, str] | None:
    """Digest of the source of every part that is not built in, by import path; None without any.

    Raises BadInput where one cannot be imported.
    """
    found = {}
    for where, path in own_parts(config):
        part = load(config, where, path)
        try:
            found[path] = _digest(part)
        except OSError as error:
            raise BadInput.one(where, f"the source of {path} is gone ({error.strerror})") from error
    return found or None


def refuse_changed(config: Config, recorded: Mapping[str, str] | None) -> None:
    """Raises BadInput where a part is not the one that the run began with."""
    now = digests(config) or {}
    changed = [path for path, digest in (recorded or {}).items() if now.get(path) != digest]
    if changed:
        message = "its source was changed after the run began; start a new run"
        raise BadInput([Fault(path, message) for path in changed])


def own_parts(config: Config) -> Iterator[tuple[str, str]]:
    """Key and import path of every part that is not built in."""
    named = {
        "student.design": config.student.design,
        "reflector.kind": config.reflector.kind,
        "search.objective": config.search.objective,
        "search.acceptance": config.search.acceptance,
        "search.minibatch": config.search.minibatch,
        "gate.rule": config.gate.rule,
    }
    return ((key, name) for key, name in named.items() if is_import_path(name))


def load(config: Config, where: str, path: str) -> Any:
    """The object at an import path. Raises BadInput; `where` is the key that names it."""
    if path in GIVEN:
        return GIVEN[path]
    module_name, _, name = path.partition(":")
    try:
        module = _module(module_name, config.parts)
    except FAILS as error:
        raise BadInput.one(where, f"{module_name} cannot be imported ({_told(error)})") from error
    if not hasattr(module, name):
        raise BadInput.one(where, f"{module.__file__ or module_name} has no {name}")
    return getattr(module, name)


def instance(config: Config, where: str, path: str) -> Any:
    """The part at an import path; a class is called without arguments."""
    found = load(config, where, path)
    if not inspect.isclass(found):
        return found
    try:
        return found()
    except FAILS as error:
        raise BadInput.one(where, f"{path} cannot be built ({_told(error)})") from error


def _built_in_or_own(
    config: Config, where: str, name: str, built_in: Mapping[str, Callable[[Config], Part]]
) -> Part:
    if name in built_in:
        return built_in[name](config)
    own: Any = OwnPart(where, name, instance(config, where, name))
    part: Part = own
    return part


def _module(name: str, folder: Path | None) -> ModuleType:
    """The module as its file is now, looked for in `folder` first."""
    with _searched(folder):
        top = name.partition(".")[0]
        loaded = [m for m in (sys.modules.get(top), sys.modules.get(name)) if m is not None]
        # Two folders may hold modules of one name, and a file may have been edited since: what
        # runs has to be what the digest is of.
        elsewhere = folder is not None and any(_is_elsewhere(m, folder / top) for m in loaded)
        if elsewhere or _SOURCES.get(name, _source(sys.modules.get(name))) != _source(
            sys.modules.get(name)
        ):
            for other in [m for m in sys.modules if m.partition(".")[0] == top]:
                del sys.modules[other]
        module = importlib.import_module(name)
        _SOURCES[name] = _source(module)
        return module


_SOURCES: dict[str, str | None] = {}
"""Digest of the file of each module of parts, as it was imported."""


def _source(module: ModuleType | None) -> str | None:
    file = getattr(module, "__file__", None)
    if file is None or not Path(file).is_file():
        return None
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()


def _is_elsewhere(module: ModuleType, beside: Path) -> bool:
    here = beside.is_dir() or beside.with_suffix(".py").is_file()
    file = Path(module.__file__ or beside)
    return here and not (file == beside.with_suffix(".py") or file.is_relative_to(beside))


@contextmanager
def _searched(folder: Path | None) -> Iterator[None]:
    if folder is None:
        yield
        return
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _digest(part: object) -> str:
    """Digest of the file that a part is written in, or of its own source where it has no file."""
    owner: Any = part if inspect.isclass(part) or inspect.isroutine(part) else type(part)
    module = inspect.getmodule(owner)
    file = getattr(module, "__file__", None)
    source = Path(file).read_bytes() if file else _own_source(owner).encode()
    return hashlib.sha256(source).hexdigest()


def _own_source(owner: Any) -> str:
    """Source of a function or a class of a notebook, where only functions know their source."""
    inside = [owner] if inspect.isroutine(owner) else vars(owner).values()
    functions = [inspect.unwrap(found) for found in inside if inspect.isfunction(found)]
    # What `dataclass` adds has no source of its own.
    written = [f for f in functions if f.__code__.co_filename != "<string>"]
    return "\n".join(inspect.getsource(function) for function in written)


def _first_line(part: object) -> str:
    return (inspect.getdoc(part) or "").partition("\n")[0]


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".partition("\n")[0]
