"""`heldout export`: a block as files that run in another stack and give the same scores there."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from heldout.experiments.practice.cards import card_text
from heldout.experiments.practice.export_clients import sending
from heldout.experiments.practice.loaded_prompt import (
    UNCONFIRMED,
    LoadedPrompt,
    student_to_look_at,
)
from heldout.experiments.practice.session import JudgeOptions, make_ready
from heldout.experiments.practice.thresholds import ThresholdChoice, threshold_for
from heldout.experiments.practice.vendored import PACKAGE, ROOTS, renamed, vendored
from heldout.experiments.runs.run_directory import is_free, working_in
from heldout.gepa.record.codec import plain
from heldout.splits.counted import counted
from heldout.splits.errors import BadInput
from heldout.splits.hashing import sha256_text
from heldout.splits.loading.text_files import suggestion
from heldout.students.designs.roster import find_design
from heldout.students.models.chat import Budget
from heldout.students.models.pins import PinnedModel

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
class ExportReport:
    """The files written, and how to start."""

    target: str
    out: Path
    files: tuple[str, ...]
    use: str
    standing: str
    threshold: ThresholdChoice

    def to_json(self) -> dict[str, Any]:
        """Stable keys."""
        return {
            "target": self.target,
            "out": str(self.out.resolve()),
            "files": list(self.files),
            "use": self.use,
            "standing": self.standing,
            "threshold": plain(self.threshold),
        }

    @property
    def text(self) -> str:
        """For a person."""
        lines = [f"{self.out}: {counted(len(self.files), 'file')} for {self.target}", self.standing]
        return "\n".join([*lines, self.threshold.sentence, f"start with: {self.use}"])


@dataclass(frozen=True, slots=True)
class ExportModel:
    """The model that is asked, with what its pin says of its endpoint."""

    id: str
    temperature: float
    parameters: Mapping[str, Any]
    structured: str
    bounded: bool
    omit: tuple[str, ...]
    counts_tokens: bool
    endings: Mapping[str, str]
    cap_field: str
    body_bytes: int

    @classmethod
    def of(cls, model: PinnedModel) -> ExportModel:
        """Everything of a pin but its address, its key and its prices."""
        pin, dialect = model.pin, model.pin.dialect
        return cls(
            id=pin.id,
            temperature=pin.temperature,
            parameters=dict(pin.parameters),
            structured=str(pin.structured),
            bounded=pin.bounded,
            omit=dialect.omit,
            counts_tokens=dialect.counts_tokens,
            endings={word: str(meaning) for word, meaning in dialect.endings.items()},
            cap_field=model.cap_field,
            body_bytes=model.body_bytes,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportSettings:
    """Everything that was chosen; the content of `settings.json`, which the exported code reads."""

    name: str
    file_stem: str
    standing: str
    confirmed: bool
    design: str
    block_sha256: str
    frame_sha256: str
    model: ExportModel
    budget: Budget
    samples: int
    threshold: float | None
    threshold_from: str
    seed: int
    keywords: Mapping[str, Any]
    score_range: tuple[float, float]


def export(
    prompt: LoadedPrompt,
    to: str,
    out: Path,
    options: JudgeOptions,
    *,
    threshold: float | None = None,
    calibration: Path | None = None,
    unconfirmed: bool = False,
) -> ExportReport:
    """Write `prompt` for the target `to` into `out`, a folder that is absent or empty.

    `threshold` or a `calibration` file replace the threshold on the card; `unconfirmed` takes a
    prompt that no gate passed. Raises BadInput.
    """
    prompt.require_confirmed(unconfirmed)
    _check(prompt, to, out)
    ready = make_ready(prompt, options)
    chosen = threshold_for(prompt, ready.judged_as, threshold, calibration)
    factory = factory_of(prompt)
    settings = ExportSettings(
        name=prompt.name,
        file_stem=prompt.file_stem,
        standing=prompt.standing,
        confirmed=prompt.confirmed,
        design=prompt.design,
        block_sha256=prompt.sha256,
        frame_sha256=prompt.frame.sha256,
        model=ExportModel.of(ready.model),
        budget=ready.budget,
        samples=ready.samples,
        threshold=chosen.value,
        threshold_from=chosen.sentence,
        seed=ready.seed,
        keywords=dict(factory.keywords),
        score_range=student_to_look_at(prompt.design, prompt.name).score_range,
    )
    files = _files(prompt, to, settings, factory)
    with working_in(out):
        _check(prompt, to, out)  # another process may have written there meanwhile
        for name, text in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8"))
    return ExportReport(to, out, tuple(sorted(files)), _use(prompt, to), prompt.standing, chosen)


def _check(prompt: LoadedPrompt, target: str, out: Path) -> None:
    if target not in FILES:
        message = f"{target!r} is none of {', '.join(FILES)}{suggestion(target, tuple(FILES))}"
        raise BadInput.one("--to", message)
    if target == "dspy" and inspect.cleandoc(prompt.block) != prompt.block:
        raise BadInput.one(
            prompt.name,
            "DSPy strips white space around instructions and common indentation, and this block "
            "has some: it would not be the block on the card",
        )
    if out.exists() and not is_free(out):
        raise BadInput.one("--out", f"{out} is not an empty folder")


@dataclass(frozen=True, slots=True)
class DesignFactory:
    """The function that builds a design, by module and name, with what it is told beside."""

    module: str
    function: str
    keywords: Mapping[str, Any]


def factory_of(prompt: LoadedPrompt) -> DesignFactory:
    """How the design of `prompt` is built. Raises BadInput for one that is no plain function."""
    build: Any = find_design(prompt.design, prompt.name).build
    keywords = build.keywords if isinstance(build, partial) else {}
    function = build.func if isinstance(build, partial) else build
    if not function.__name__.isidentifier():
        raise BadInput.one(prompt.name, f"design {prompt.design} is a control: nothing to export")
    return DesignFactory(function.__module__, function.__name__, keywords)


def _files(
    prompt: LoadedPrompt, target: str, settings: ExportSettings, factory: DesignFactory
) -> dict[str, str]:
    """Path to text of everything in an export."""
    roots = (
        *ROOTS,
        factory.module,
        *(["heldout.students.designs.dspy_module"] if target == "dspy" else []),
    )
    header = f"# {prompt.name}: {prompt.standing}.\n# block {prompt.sha256}\n"
    files = {
        **{n: header + t if n.endswith(".py") else t for n, t in vendored(roots).items()},
        f"{PACKAGE}/judge.py": header + _judge(prompt, factory),
        f"{PACKAGE}/endpoint.py": header + _template("endpoint"),
        f"{PACKAGE}/rows.py": header + _template("rows"),
        f"{PACKAGE}/settings.json": json.dumps(plain(settings), indent=2) + "\n",
        f"{PACKAGE}/block.txt": prompt.block,
        _file_name(prompt, target): header + _template(target),
        f"{prompt.file_stem}.txt": prompt.text,
        f"{prompt.file_stem}.card.yaml": _card(prompt, settings),
        "README.md": _readme(prompt, target, settings),
    }
    if target == "promptfoo":
        files["promptfooconfig.yaml"] = _promptfoo(prompt, header)
    return files


def _template(name: str) -> str:
    folder = resources.files("heldout.experiments.practice") / "exports"
    return renamed((folder / f"{name}.py.txt").read_text("utf-8"))


def _judge(prompt: LoadedPrompt, factory: DesignFactory) -> str:
    text = _template("judge").replace("{{module}}", renamed(factory.module))
    return text.replace("{{function}}", factory.function).replace("{{design}}", prompt.design)


def _file_name(prompt: LoadedPrompt, target: str) -> str:
    return FILES[target] if prompt.confirmed else f"{UNCONFIRMED}_{FILES[target]}"


def _use(prompt: LoadedPrompt, target: str) -> str:
    file = _file_name(prompt, target)
    return USES[target].format(file=file, module=file.removesuffix(".py"))


def _card(prompt: LoadedPrompt, settings: ExportSettings) -> str:
    """The card as it came, with what the export adds; the prompt's hash makes it readable again."""
    card = {**prompt.card, "confirmed": prompt.confirmed, "prompt_sha256": sha256_text(prompt.text)}
    return card_text({**card, "export": plain(settings)})


def _promptfoo(prompt: LoadedPrompt, header: str) -> str:
    file = f"file://{_file_name(prompt, 'promptfoo')}"
    config = {
        "description": f"{prompt.file_stem}: {prompt.standing}",
        "prompts": ["{{note}}"],
        "providers": [{"id": file, "label": prompt.file_stem}],
        "defaultTest": {"assert": [{"type": "python", "value": file}]},
        "tests": "file://notes.csv",
    }
    return header + yaml.safe_dump(config, sort_keys=False)


def _readme(prompt: LoadedPrompt, target: str, settings: ExportSettings) -> str:
    budget, model = settings.budget, settings.model
    effort = budget.reasoning_effort or "not sent"
    simulated = prompt.model.startswith("sim/")
    lines = [
        f"# {prompt.file_stem}",
        "",
        f"**{prompt.standing}.**",
        "",
        f"Design {prompt.design}, block `{prompt.sha256}`, model `{model.id}` at "
        f"temperature {model.temperature:g}, {budget.max_tokens} tokens, effort "
        f"{effort}, {counted(settings.samples, 'sample')}, seed {settings.seed}.",
        "",
        f"Notes are {settings.threshold_from}.",
        "",
        "```console",
        _use(prompt, target),
        "```",
        "",
        *sending(target, model.body_bytes),
        "",
        f"`{PACKAGE}` holds copies of Heldout's own modules, so that the same replies get the same "
        "scores. Figures, hashes and what they do not show stand on the card beside the prompt.",
    ]
    if simulated:
        lines += ["", "The figures on the card come from a simulated model."]
    return "\n".join(lines) + "\n"
