"""Exports run for real in other stacks, asked the same 50 notes with the simulated judge."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

from tests.benchmarks.loopback import Answer, Request, completion

from heldout.experiments.practice.verdicts import JudgeConfig, judge_note, own_note
from heldout.splits.synthetic import draw
from heldout.students.models.chat import Budget, ChatReply, ChatRequest, Message, ModelPin
from heldout.students.simulated import SimulatedJudge

NOTES = 50
PIN = ModelPin("sim/judge", 0.7)


def rows(count: int = NOTES) -> list[dict[str, str]]:
    """Notes of a synthetic benchmark with their transcripts, clean and errored."""
    consultations = draw(max(4, count // 3), 5).benchmark
    notes = [note for c in consultations for note in c.notes][:count]
    return [{"transcript": n.transcript, "note": n.text} for n in notes]


def said(body: dict) -> ChatReply:
    """What the simulated judge answers to the body of a chat-completions request."""
    messages = tuple(Message(m["role"], m["content"]) for m in body["messages"])
    budget = Budget(body["max_tokens"], body.get("reasoning_effort"))
    pin = ModelPin("sim/judge", body["temperature"])
    return SimulatedJudge().answer(ChatRequest(pin, messages, budget, body["seed"]))


def respond(request: Request) -> Answer:
    """The same over HTTP."""
    reply = said(request.body)
    return Answer(json.dumps(completion(reply.text, finish=reply.finish.value)).encode())


class InProcess:
    """Calls answered by the simulated judge."""

    async def call(self, spec):
        reply = SimulatedJudge().answer(spec.request)
        return type("Answered", (), {"key": spec.key, "reply": reply})


async def native(taken, build, notes: Sequence[dict[str, str]]) -> list[tuple]:
    """Score and flag of each note as `heldout apply` computes them."""
    student = build(InProcess())
    config = JudgeConfig(taken.block, taken.budget, taken.samples, taken.threshold)
    found = [await judge_note(student, own_note(r["note"], r["transcript"]), config) for r in notes]
    return [(v.score, v.flag) for v in found]


def run(folder: Path, script: str, *arguments: str, env: dict[str, str] | None = None) -> str:
    """Standard output of `script` in `folder`, by this interpreter with tests at hand."""
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(folder), str(root), str(root / "src")])
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, **(env or {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@contextmanager
def imported(*folders: Path) -> Iterator[dict[str, ModuleType]]:
    """The modules of exports by name, imported in this process; `heldout_judge` is the first's."""
    places = list(map(str, folders))
    sys.path[:0] = places
    files = [file for folder in folders for file in folder.glob("*_judge.py")]
    try:
        importlib.invalidate_caches()
        found = {file.stem: importlib.import_module(file.stem) for file in files}
        yield found | {
            name.removeprefix("heldout_judge."): module
            for name, module in sys.modules.items()
            if name.startswith("heldout_judge.")
        }
    finally:
        sys.path[:] = [place for place in sys.path if place not in places]
        for name in [n for n in sys.modules if n.partition(".")[0].endswith("_judge")]:
            del sys.modules[name]


DSPY = """
import json, sys
from types import SimpleNamespace
import dspy
from dspy import lm15
from tests.support.exports import said
import {module}

class Engine:
    def complete(self, request):
        body = {{
            "messages": [{{"role": m.role, "content": m.text}} for m in request.messages],
            "max_tokens": request.config.max_tokens,
            "temperature": request.config.temperature,
            "seed": request.config.seed,
        }}
        reply = said(body)
        message = lm15.Message(role="assistant", parts=(lm15.TextPart(text=reply.text),))
        return lm15.Response(None, "sim", message, reply.finish.value, lm15.Usage(1, 1))

judge = {module}.HeldoutJudge()
with dspy.context(lm=dspy.LM("sim", engine=Engine(), cache=False)):
    found = [judge(**json.loads(line)) for line in open("notes.jsonl")]
print("RESULT" + json.dumps([[f.score, f.flag] for f in found]))
"""

MLFLOW = """
import json, sys
import mlflow
from tests.support.exports import said
import {module}
from heldout_judge.judge import Reply

async def ask(question):
    reply = said({{
        "messages": question.messages,
        "max_tokens": question.max_tokens,
        "temperature": question.temperature,
        "seed": question.seed,
    }})
    return Reply(reply.text, reply.finish.value)

mlflow.set_tracking_uri("sqlite:///mlflow.db")
mlflow.set_experiment("export")
rows = [json.loads(line) for line in open("notes.jsonl")]
data = [
    {{"inputs": {{"transcript": r["transcript"], "at": n}}, "outputs": r["note"]}}
    for n, r in enumerate(rows)
]
result = mlflow.genai.evaluate(data=data, scorers=[{module}.judge_scorer(ask)])
table = result.tables["eval_results"]
found = {{}}
for _, row in table.iterrows():
    request = row["request"]
    request = json.loads(request) if isinstance(request, str) else request
    values = {{a["assessment_name"]: a["feedback"]["value"] for a in row["assessments"]}}
    found[request["at"]] = [
        next((v for k, v in values.items() if k.endswith("/score")), None),
        next((v for k, v in values.items() if k.endswith("/flag")), None),
    ]
print("RESULT" + json.dumps([found[n] for n in range(len(rows))]))
"""


def result(output: str) -> list[tuple]:
    """Scores and flags that a script printed."""
    line = next(ln for ln in output.splitlines() if ln.startswith("RESULT"))
    return [tuple(pair) for pair in json.loads(line.removeprefix("RESULT"))]
