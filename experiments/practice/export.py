"""`heldout export`: a block as files that run in another stack and give the same scores there."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Literal

import yaml

from heldout.experiments.practice.loaded_prompt import (
    UNCONFIRMED,
    Taken,
    card_text,
    require_confirmed,
)
from heldout.experiments.practice.session import Asking, identity, pinned_for
from heldout.experiments.practice.thresholds import Chosen, threshold_for
from heldout.experiments.practice.vendored import PACKAGE, ROOTS, renamed, vendored
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_text
from heldout.splits.loading.text_files import suggestion
from heldout.students.calls.answering import CompletionClient, NoCalls
from heldout.students.designs.roster import find_design
from heldout.students.designs.workshop import DesignContext, Roles
from heldout.students.models.chat import Budget, ModelPin

Target = Literal["dspy", "mlflow-judge", "inspect", "promptfoo", "python"]

FILES: Mapping[str, str] = {
    "dspy": "dspy_judge.py",
    "mlflow-judge": "mlflow_judge.py",
    "inspect": "inspect_judge.py",
    "promptfoo": "promptfoo_judge.py",
    "python": "python_judge.py",
}
"""The file of each target; `unconfirmed_` stands before that of a block no gate passed."""

USES: Mapping[str, str] = {
    "dspy": "from {module} import HeldoutJudge",
    "mlflow-judge": "from {module} import judge_scorer",
    "inspect": "inspect eval {file} --model openai/… -T notes=notes.jsonl",
    "promptfoo": "PROMPTFOO_DISABLE_TEMPLATING=true promptfoo eval -c promptfooconfig.yaml",
    "python": "python {file} notes.jsonl",
}


@dataclass(frozen=True)
class ExportRequest:
    """One `heldout export`; `budget`, `samples` None: as the block came."""

    taken: Taken
    to: str
    out: Path
    asking: Asking
    budget: Budget | None = None
    samples: int | None = None
    threshold: float | None = None
    calibration: Path | None = None
    unconfirmed: bool = False


@dataclass(frozen=True)
class ExportReport:
    """The files written, and how to start."""

    target: str
    out: Path
    files: tuple[str, ...]
    use: str
    standing: str
    threshold: Chosen

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        return {
            "target": self.target,
            "out": str(self.out.resolve()),
            "files": list(self.files),
            "use": self.use,
            "standing": self.standing,
            "threshold": self.threshold.to_json(),
        }

    @property
    def text(self) -> str:
        """For a person."""
        lines = [f"{self.out}: {len(self.files)} files for {self.target}", self.standing]
        return "\n".join([*lines, self.threshold.sentence, f"start with: {self.use}"])


def export(request: ExportRequest) -> ExportReport:
    """Write the export into `request.out`, a folder that is absent or empty. Raises BadInput."""
    taken, target = request.taken, request.to
    _check(request)
    budget, samples = request.budget or taken.budget, request.samples or taken.samples
    model = pinned_for(taken, request.asking, [budget])
    judged_as = identity(taken, model, budget, samples)
    chosen = threshold_for(taken, judged_as, request.threshold, request.calibration)
    maker = maker_of(taken)
    settings = {
        "name": taken.name,
        "file_stem": taken.file_stem,
        "standing": taken.standing,
        "confirmed": taken.confirmed,
        "design": taken.design,
        "block_sha256": taken.sha256,
        "frame_sha256": taken.frame.sha256,
        "model": {
            "id": model.pin.id,
            "temperature": model.pin.temperature,
            "parameters": dict(model.pin.parameters),
        },
        "budget": {"max_tokens": budget.max_tokens, "reasoning_effort": budget.reasoning_effort},
        "samples": samples,
        "threshold": chosen.value,
        "threshold_from": chosen.sentence,
        "seed": request.asking.seed,
        "keywords": dict(maker.keywords),
        "score_range": list(_score_range(taken)),
    }
    files = _files(taken, target, settings, maker)
    for name, text in files.items():
        path = request.out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    use = _use(taken, target)
    return ExportReport(target, request.out, tuple(sorted(files)), use, taken.standing, chosen)


def _check(request: ExportRequest) -> None:
    taken, target, out = request.taken, request.to, request.out
    require_confirmed(taken, request.unconfirmed)
    if target not in FILES:
        message = f"{target!r} is none of {', '.join(FILES)}{suggestion(target, tuple(FILES))}"
        raise BadInput.one("--to", message)
    if target == "dspy" and inspect.cleandoc(taken.block) != taken.block:
        raise BadInput.one(
            taken.name,
            "DSPy strips white space around instructions and common indentation, and this block "
            "has some: it would not be the block on the card",
        )
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadInput.one("--out", f"{out} is not an empty folder")


@dataclass(frozen=True, slots=True)
class Maker:
    """The function that builds a design, by module and name, with what it is told beside."""

    module: str
    function: str
    keywords: Mapping[str, Any]


def maker_of(taken: Taken) -> Maker:
    """How the design of `taken` is built. Raises BadInput for one that is no plain function."""
    build: Any = find_design(taken.design, taken.name).build
    keywords = build.keywords if isinstance(build, partial) else {}
    function = build.func if isinstance(build, partial) else build
    if not function.__name__.isidentifier():
        raise BadInput.one(taken.name, f"design {taken.design} is a control: nothing to export")
    return Maker(function.__module__, function.__name__, keywords)


def _files(taken: Taken, target: str, settings: Mapping[str, Any], maker: Maker) -> dict[str, str]:
    """Path to text of everything in an export."""
    roots = (
        *ROOTS,
        maker.module,
        *(["heldout.students.designs.dspy_module"] if target == "dspy" else []),
    )
    header = f"# {taken.name}: {taken.standing}.\n# block {taken.sha256}\n"
    files = {
        **{n: header + t if n.endswith(".py") else t for n, t in vendored(roots).items()},
        f"{PACKAGE}/judge.py": header + _judge(taken, maker),
        f"{PACKAGE}/endpoint.py": header + _template("endpoint"),
        f"{PACKAGE}/settings.json": json.dumps(settings, indent=2) + "\n",
        f"{PACKAGE}/block.txt": taken.block,
        _file_name(taken, target): header + _template(target),
        f"{taken.file_stem}.txt": taken.prompt,
        f"{taken.file_stem}.card.yaml": _card(taken, settings),
        "README.md": _readme(taken, target, settings),
    }
    if target == "promptfoo":
        files["promptfooconfig.yaml"] = _promptfoo(taken, header)
    return files


def _template(name: str) -> str:
    folder = resources.files("heldout.experiments.practice") / "exports"
    return renamed((folder / f"{name}.py.txt").read_text("utf-8"))


def _judge(taken: Taken, maker: Maker) -> str:
    text = _template("judge").replace("{{module}}", renamed(maker.module))
    return text.replace("{{function}}", maker.function).replace("{{design}}", taken.design)


def _file_name(taken: Taken, target: str) -> str:
    return FILES[target] if taken.confirmed else f"{UNCONFIRMED}_{FILES[target]}"


def _use(taken: Taken, target: str) -> str:
    file = _file_name(taken, target)
    return USES[target].format(file=file, module=file.removesuffix(".py"))


def _card(taken: Taken, settings: Mapping[str, Any]) -> str:
    """The card as it came, with what the export adds; the prompt's hash makes it readable again."""
    card = {**taken.card, "confirmed": taken.confirmed, "prompt_sha256": sha256_text(taken.prompt)}
    return card_text({**card, "export": dict(settings)})


def _promptfoo(taken: Taken, header: str) -> str:
    file = f"file://{_file_name(taken, 'promptfoo')}"
    config = {
        "description": f"{taken.file_stem}: {taken.standing}",
        "prompts": ["{{note}}"],
        "providers": [{"id": file, "label": taken.file_stem}],
        "defaultTest": {"assert": [{"type": "python", "value": file}]},
        "tests": "file://notes.csv",
    }
    return header + yaml.safe_dump(config, sort_keys=False)


def _readme(taken: Taken, target: str, settings: Mapping[str, Any]) -> str:
    budget = settings["budget"]
    effort = budget["reasoning_effort"] or "not sent"
    simulated = taken.model.startswith("sim/")
    lines = [
        f"# {taken.file_stem}",
        "",
        f"**{taken.standing}.**",
        "",
        f"Design {taken.design}, block `{taken.sha256}`, model `{settings['model']['id']}` at "
        f"temperature {settings['model']['temperature']:g}, {budget['max_tokens']} tokens, effort "
        f"{effort}, {settings['samples']} sample(s), seed {settings['seed']}.",
        "",
        f"Notes are {settings['threshold_from']}.",
        "",
        "```console",
        _use(taken, target),
        "```",
        "",
        f"`{PACKAGE}` holds copies of Heldout's own modules, so that the same replies get the same "
        "scores. Figures, hashes and what they do not show stand on the card beside the prompt.",
    ]
    if simulated:
        lines += ["", "The figures on the card come from a simulated model."]
    return "\n".join(lines) + "\n"


def _score_range(taken: Taken) -> tuple[float, float]:
    calls: CompletionClient = NoCalls()
    shop = DesignContext(Roles.all(ModelPin("none")), calls, run_seed=0)
    return find_design(taken.design, taken.name).build(shop).score_range
