"""DSPy's door for students: any judge design as a `dspy.Module`, and a module as a student.

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
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
os.environ.setdefault("LITELLM_OFFLINE_MODE", "True")

import dspy
from dspy import lm15
from dspy.utils.exceptions import AdapterParseError

from heldout.splits.benchmark import Note, NoteClass, NoteLabel
from heldout.splits.counted import counted
from heldout.splits.errors import HeldoutError, InfrastructureFailure
from heldout.splits.randomness import call_seed
from heldout.students.calls.call import CallSpec, Stage
from heldout.students.calls.completion import CompletionClient
from heldout.students.frames import Frame
from heldout.students.models.chat import (
    Budget,
    ChatReply,
    Message,
    ModelPin,
    StopReason,
    Usage,
)
from heldout.students.models.normalise import of_text
from heldout.students.student import Judgement, Outcome, Student

Build = Callable[[CompletionClient], Student]
"""Makes the design on a caller: `lambda calls: design.build(DesignContext(roles, calls, 11))`."""

FINISH = {
    "stop": StopReason.STOP,
    "tool_call": StopReason.STOP,
    "length": StopReason.LENGTH,
    "content_filter": StopReason.FILTER,
}
INPUTS = ("transcript", "note", "item", "consultation", "siblings")
EFFORTS = {"none": "off"}
"""Words for reasoning efforts in which DSPy differs."""


class NoPlaceForDemonstrations(ValueError):
    """A DSPy optimiser wants to show examples, but a frame has only one part that may change."""

    def __init__(self, demos: int) -> None:
        super().__init__(
            f"{counted(demos, 'demonstration')} given: a frame has no place for them; use "
            "an optimiser of "
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

    async def _judge(self, calls: CompletionClient, signature: Any, demos: Any) -> Judgement:
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
    return of_text(
        response.text or "",
        FINISH[response.finish_reason],
        Usage(usage.input_tokens or 0, usage.output_tokens or 0, usage.reasoning_tokens or 0),
        response.model,
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


class ModuleStudent:
    """A `dspy.Module` with one predictor as a student: the predictor's instructions are the block.

    The module is called with `transcript` and `note` (texts) and gives a prediction with `score`
    (higher is better, within `score_range` of the module, 0 to 1 by default) and, where it has a
    rule of its own, `flag`. Its model is the campaign's, so its calls are stored and capped like
    all others; DSPy's caches and retries are off. A prediction that cannot be read is asked for
    once more. Raises ValueError for a module with another number of predictors, or one that does
    not take the two texts.
    """

    calls_per_judgement = 2

    def __init__(
        self,
        module: dspy.Module,
        pin: ModelPin,
        caller: CompletionClient,
        run_seed: int,
        occasion: str = "",
    ) -> None:
        predictors = module.predictors()
        if len(predictors) != 1:
            raise ValueError(f"has {len(predictors)} predictors, one is needed: its block evolves")
        taken = set(predictors[0].signature.input_fields)
        if not {"transcript", "note"} <= taken:
            raise ValueError(f"takes {sorted(taken)}; transcript and note are needed")
        self.module, self.pin, self.caller = module, pin, caller
        self.run_seed, self.occasion = run_seed, occasion
        self.design = type(module).__name__
        low, high = getattr(module, "score_range", (0.0, 1.0))
        self.score_range = (float(low), float(high))

    @cached_property
    def frame(self) -> Frame:
        """What DSPy puts around the block, as a frame: for its hash, and for emission."""
        signature = self.module.predictors()[0].signature.with_instructions("{{block}}")
        inputs = {name: f"{{{{{name}}}}}" for name in signature.input_fields}
        messages = _adapter().format(signature, demos=[], inputs=inputs)
        return Frame(self.design, "\n\n".join(str(m["content"]) for m in messages))

    async def judge(self, block: str, note: Note, budget: Budget, sample: int) -> Judgement:
        """Judge `note` under `block`."""
        first = _CampaignEngine(self, note, budget, sample, asyncio.get_running_loop())
        found = await self._answered(first, block, note)
        if found.outcome is not Outcome.CONTRACT_VIOLATION:
            return found
        again = replace(first, attempt=1, complaint=found.assessment, keys=[], finish=[])
        second = await self._answered(again, block, note)
        return replace(second, calls=found.calls + second.calls)

    async def _answered(self, engine: _CampaignEngine, block: str, note: Note) -> Judgement:
        module = self.module.deepcopy()
        predictor = module.predictors()[0]
        predictor.signature = predictor.signature.with_instructions(block)
        lm = dspy.LM(self.pin.id, cache=False, num_retries=0, engine=engine)
        with dspy.context(lm=lm, adapter=_adapter(), disable_history=True):
            try:
                # In a thread, so that a module with `forward` alone does not hold up the others.
                prediction = await asyncio.to_thread(
                    module,
                    transcript=self.frame.escaped(note.transcript),
                    note=self.frame.escaped(note.text),
                )
            except (AdapterParseError, AttributeError, LookupError, TypeError, ValueError) as error:
                if engine.failure:
                    raise engine.failure[0] from error
                return self._unread(engine, str(error).partition("\n")[0])
            except dspy.LMError as error:
                raise (engine.failure or [InfrastructureFailure(str(error))])[0] from error
        if StopReason.FILTER in engine.finish:
            return self._unread(engine, "content filter")
        return self._judgement(engine, prediction)

    def _judgement(self, engine: _CampaignEngine, prediction: dspy.Prediction) -> Judgement:
        low, high = self.score_range
        score = prediction.get("score")
        if isinstance(score, bool) or not isinstance(score, int | float):
            return self._unread(engine, "the prediction has no score")
        if not low <= score <= high:
            return self._unread(engine, f"the score is outside {low:g} to {high:g}")
        flag = prediction.get("flag")
        return Judgement(
            float(score),
            Outcome.OK,
            tuple(engine.keys),
            str(prediction.get("assessment", "")),
            flag=flag if isinstance(flag, bool) else None,
            frame_sha256=self.frame.sha256,
        )

    def _unread(self, engine: _CampaignEngine, why: str) -> Judgement:
        outcome = {
            StopReason.FILTER: Outcome.REFUSED,
            StopReason.LENGTH: Outcome.TRUNCATED,
        }.get(engine.finish[-1] if engine.finish else StopReason.STOP, Outcome.CONTRACT_VIOLATION)
        return Judgement(None, outcome, tuple(engine.keys), why, frame_sha256=self.frame.sha256)


@dataclass(frozen=True)
class _CampaignEngine:
    """DSPy's way to a model, through the campaign's caller: one judging of one note.

    `complete` runs in the module's thread while the call is made on the campaign's loop.
    """

    student: ModuleStudent
    note: Note
    budget: Budget
    sample: int
    loop: asyncio.AbstractEventLoop
    attempt: int = 0
    complaint: str = ""
    keys: list[str] = field(default_factory=list)
    finish: list[StopReason] = field(default_factory=list)
    failure: list[HeldoutError] = field(default_factory=list)

    def complete(self, request: lm15.Request) -> lm15.Response:
        """The reply to what the module asks."""
        spec = self._spec(request)
        pending = asyncio.run_coroutine_threadsafe(self.student.caller.call(spec), self.loop)
        try:
            answered = pending.result()
        except HeldoutError as error:
            # DSPy may wrap it; what stops a campaign must come out as it is.
            self.failure.append(error)
            raise
        self.keys.append(answered.key)
        self.finish.append(answered.reply.finish)
        return _response(answered.reply)

    def _spec(self, request: lm15.Request) -> CallSpec:
        student = self.student
        system = () if request.system is None else (Message("system", _text(request.system)),)
        messages = [Message(str(m.role), m.text or "") for m in request.messages]
        if self.complaint:
            messages.append(Message("user", f"Your last reply could not be used: {self.complaint}"))
        stage = Stage.RETRY if self.attempt else Stage.JUDGE
        return CallSpec(
            stage=stage,
            item=self.note.id,
            messages=(*system, *messages),
            pin=student.pin,
            budget=self.budget,
            seed=call_seed(student.run_seed, self.note.id, stage, self.sample),
            sample=self.sample,
            # A module may ask more than once in one judging.
            attempt=self.attempt + len(self.keys),
            occasion=student.occasion,
        )


def _adapter() -> dspy.ChatAdapter:
    # The fallback to JSON would be a second call that no budget knows of.
    return dspy.ChatAdapter(use_json_adapter_fallback=False)


def _text(system: Any) -> str:
    return system if isinstance(system, str) else "".join(part.text for part in system)


def _response(reply: ChatReply) -> lm15.Response:
    finish = {StopReason.LENGTH: "length", StopReason.FILTER: "content_filter"}
    return lm15.Response(
        id=None,
        model=reply.model or "",
        message=lm15.Message(role="assistant", parts=(lm15.TextPart(text=reply.text),)),
        finish_reason=finish.get(reply.finish, "stop"),
        usage=lm15.Usage(
            input_tokens=reply.usage.prompt,
            output_tokens=reply.usage.completion,
            reasoning_tokens=reply.usage.reasoning,
        ),
    )
