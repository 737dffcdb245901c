"""DSPy's door for students: any judge design as a `dspy.Module`.

The instructions of the module's signature are the instruction block, so `dspy.Evaluate` and DSPy's
optimisers run on it unchanged; the adapter leaves all wording to the design's own frame, so the
model gets byte for byte what the native path sends.
"""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import os
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_OFFLINE_MODE", "True")

import dspy
from dspy import lm15

from heldout.splits.benchmark import Note, NoteClass, NoteLabel
from heldout.splits.errors import InfrastructureFailure
from heldout.students.calls.answering import Calls
from heldout.students.calls.call import CallSpec
from heldout.students.models.chat import Budget, ChatReply, FinishReason, Message, Usage
from heldout.students.student import Judgement, Student

Build = Callable[[Calls], Student]
"""Makes the design on a caller: `lambda calls: design.build(Workshop(roles, calls, 11))`."""

FINISH = {
    "stop": FinishReason.STOP,
    "tool_call": FinishReason.STOP,
    "length": FinishReason.LENGTH,
    "content_filter": FinishReason.FILTER,
}
INPUTS = ("transcript", "note", "item", "consultation", "siblings")
EFFORTS = {"none": "off"}
"""Words for reasoning efforts in which DSPy differs."""


class NoPlaceForDemonstrations(ValueError):
    """A DSPy optimiser wants to show examples, but a frame has only one part that may change."""

    def __init__(self, demos: int) -> None:
        super().__init__(
            f"{demos} demonstration(s) given: a frame has no place for them; use an optimiser of "
            "instructions, or set its number of demonstrations to 0"
        )


class Signature(dspy.Signature):  # type: ignore[misc]
    """Judge the note against the transcript."""

    transcript: str = dspy.InputField()
    note: str = dspy.InputField()
    assessment: str = dspy.OutputField()
    score: float | None = dspy.OutputField()
    flag: bool | None = dspy.OutputField()
    outcome: str = dspy.OutputField()


class JudgeModule(dspy.Module):  # type: ignore[misc]
    """A judge design as a DSPy module.

    Calling it with the inputs of `example` gives a prediction with `assessment`, `score` (None
    unless `outcome` is `ok`), `flag` and `outcome`. The model is DSPy's (`dspy.configure(lm=…)`),
    asked with the temperature of the design's pin, `budget` and the seeds of the native path.
    Raises ValueError for a block whose indentation DSPy would change.
    """

    def __init__(self, build: Build, block: str, budget: Budget, *, sample: int = 0) -> None:
        super().__init__()
        if inspect.cleandoc(block) != block:
            raise ValueError(
                "DSPy strips white space around instructions and common indentation from them; "
                "give the block without either"
            )
        self.predict = dspy.Predict(Signature.with_instructions(block))
        self.build, self.budget, self.sample = build, budget, sample
        self.shared: dict[str, _Answered] = {}

    @property
    def block(self) -> str:
        """The instruction block as it stands now."""
        return str(self.predict.signature.instructions)

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Judge one note."""
        with dspy.context(adapter=self._adapter(inputs)):
            return self.predict(transcript=inputs["transcript"], note=inputs["note"])

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """Judge one note, without blocking the event loop."""
        with dspy.context(adapter=self._adapter(inputs)):
            return await self.predict.acall(transcript=inputs["transcript"], note=inputs["note"])

    def _adapter(self, inputs: Mapping[str, Any]) -> FrameAdapter:
        return FrameAdapter(self, _note(inputs))


class FrameAdapter(dspy.Adapter):  # type: ignore[misc]
    """Sends what a design's frames render for one note, and reads replies by its contracts."""

    def __init__(self, module: JudgeModule, note: Note) -> None:
        super().__init__()
        self.module, self.whole = module, note

    def __call__(
        self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """The outcome of one judging, in the signature's output fields."""
        del lm_kwargs, inputs
        calls = _DspyCalls(lm, self.module.shared, self.whole.id)
        return [_outputs(_run(self._judge(calls, signature, demos)))]

    async def acall(
        self, lm: Any, lm_kwargs: Any, signature: Any, demos: Any, inputs: Any
    ) -> list[dict[str, Any]]:
        """The same, awaited."""
        del lm_kwargs, inputs
        calls = _AsyncDspyCalls(lm, self.module.shared, self.whole.id)
        return [_outputs(await self._judge(calls, signature, demos))]

    def format(self, signature: Any, demos: Any, inputs: Any) -> list[dict[str, Any]]:
        """The messages of the first call about this note; no model is asked."""
        del inputs
        calls = _Capture()
        try:
            _run(self._judge(calls, signature, demos))
        except _Captured as first:
            return first.messages
        return []

    async def _judge(self, calls: Calls, signature: Any, demos: Any) -> Judgement:
        if demos:
            raise NoPlaceForDemonstrations(len(demos))
        module = self.module
        student = module.build(calls)
        return await student.judge(signature.instructions, self.whole, module.budget, module.sample)


def example(note: Note) -> dspy.Example:
    """`note` as DSPy data; its label stands beside the inputs, for metrics."""
    values = (note.transcript, note.text, note.id, note.consultation, list(note.siblings))
    inputs = dict(zip(INPUTS, values, strict=True))
    return dspy.Example(**inputs, label=note.label).with_inputs(*INPUTS)


def _note(inputs: Mapping[str, Any]) -> Note:
    """The note to judge; nothing of its gold label is known here."""
    item = inputs.get("item", "")
    label = NoteLabel(item, inputs.get("consultation", ""), "", NoteClass.CLEAN, item)
    siblings = tuple(inputs.get("siblings", ()))
    return Note(label, inputs["note"], inputs["transcript"], siblings=siblings)


@dataclass(frozen=True, slots=True)
class _Answered:
    key: str
    reply: ChatReply


@dataclass(frozen=True)
class _DspyCalls:
    """Makes calls through a DSPy language model; those about a consultation once a module."""

    lm: Any
    shared: dict[str, _Answered]
    item: str

    async def call(self, spec: CallSpec) -> _Answered:
        """The reply to `spec`."""
        if spec.key not in self.shared:
            answered = _Answered(spec.key, _reply(await self._ask(_request(self.lm.model, spec))))
            if spec.item == self.item:
                return answered
            self.shared.setdefault(spec.key, answered)
        return self.shared[spec.key]

    async def _ask(self, request: lm15.Request) -> lm15.Response:
        return self.lm(request)


class _AsyncDspyCalls(_DspyCalls):
    async def _ask(self, request: lm15.Request) -> lm15.Response:
        return await self.lm.acall(request)


class _Captured(Exception):
    def __init__(self, messages: list[dict[str, Any]]) -> None:
        self.messages = messages
        super().__init__("captured")


class _Capture:
    async def call(self, spec: CallSpec) -> _Answered:
        raise _Captured([{"role": m.role, "content": m.content} for m in spec.messages])


def _request(model: str, spec: CallSpec) -> lm15.Request:
    effort = spec.budget.reasoning_effort
    return lm15.Request(
        model=model,
        messages=tuple(_message(m) for m in spec.messages),
        config=lm15.Config(
            max_tokens=spec.budget.max_tokens,
            temperature=spec.pin.temperature,
            seed=spec.seed,
            reasoning=lm15.Reasoning(EFFORTS.get(effort, effort)) if effort else None,
            extensions=dict(spec.pin.parameters) or None,
        ),
    )


def _message(message: Message) -> lm15.Message:
    return lm15.Message(role=message.role, parts=(lm15.TextPart(text=message.content),))


def _reply(response: lm15.Response) -> ChatReply:
    if response.finish_reason not in FINISH:
        raise InfrastructureFailure(f"the model stopped with «{response.finish_reason}»")
    usage = response.usage
    return ChatReply(
        text=response.text or "",
        finish=FINISH[response.finish_reason],
        usage=Usage(usage.input_tokens or 0, usage.output_tokens or 0, usage.reasoning_tokens or 0),
        usd=None,
        model=response.model,
    )


def _outputs(answer: Judgement) -> dict[str, Any]:
    return {
        "assessment": answer.assessment,
        "score": answer.score,
        "flag": answer.flag,
        "outcome": str(answer.outcome),
    }


def _run(judging: Coroutine[Any, Any, Judgement]) -> Judgement:
    """The result of `judging`, also where an event loop runs already (a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(judging)
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(context.run, asyncio.run, judging).result()
