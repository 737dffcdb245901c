"""The one door to LiteLLM: hosted models, and everything else that has a LiteLLM id.

LiteLLM is imported when it is first needed, which takes seconds. It is told to keep off the
network by itself, to send every request exactly once, and to drop no parameter.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import Any

from heldout.splits.errors import Fault, InfrastructureFailure
from heldout.students.models.chat import Budget, ChatReply, ChatRequest, ModelPin
from heldout.students.models.http_status import fault_of, is_filter
from heldout.students.models.normalise import filtered, normalised
from heldout.students.models.pins import EFFORTS, PinnedModel, nearest_effort
from heldout.students.models.secrets import redact, redactor

NOISE = ("Items? .* on TypedDict class", "Pydantic serializer warnings", "Use 'content=<...>'")
"""Warnings of LiteLLM about its own classes and calls, which nobody here can act on."""


def litellm_module() -> Any:
    """LiteLLM, imported and configured: no network at import, no retries, nothing dropped."""
    for name in ("LITELLM_LOCAL_MODEL_COST_MAP", "LITELLM_OFFLINE_MODE"):
        os.environ.setdefault(name, "True")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    for noise in NOISE:
        warnings.filterwarnings("ignore", noise)
    import litellm  # noqa: PLC0415 - it costs seconds, so only runs that need it pay

    litellm.drop_params = False
    litellm.num_retries = 0
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    return litellm


class LiteLLMModel:
    """A model behind `litellm.acompletion`; its key comes from the environment."""

    def __init__(self, api_base: str | None = None, key_env: str | None = None) -> None:
        self._clean = redactor()
        self._fixed: dict[str, Any] = {
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": False,
            # LiteLLM's own logging of calls, nobody's here, is a tenth of what a call costs.
            "no-log": True,
        }
        if api_base is not None:
            self._fixed["api_base"] = api_base
        if key_env is not None:
            self._fixed["api_key"] = os.environ.get(key_env, "")

    @cached_property
    def _litellm(self) -> Any:
        # Loaded when it is first needed: models are opened before a campaign's first event is on
        # record, and nobody should wait seconds for a run directory that says nothing.
        return litellm_module()

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One request, no retries. Raises InfrastructureFailure when no reply came back."""
        import openai  # noqa: PLC0415 - comes with LiteLLM, whose errors derive from its own

        arguments = _arguments(self._litellm, request.pin, request.budget, request.seed)
        messages = [{"role": m.role, "content": m.content} for m in request.messages]
        try:
            response = await self._litellm.acompletion(
                messages=messages, **arguments, **self._fixed
            )
        except openai.APIConnectionError as error:
            raise _connection_fault(error) from error
        except openai.APIError as error:
            if _filtered(self._litellm, error):
                return filtered(request.pin, str(error))
            raise _fault(error) from error
        return normalised(response.model_dump(), request.pin, self._clean)

    async def aclose(self) -> None:
        """Close LiteLLM's connections, if it was asked for any."""
        if "_litellm" in vars(self):
            await self._litellm.close_litellm_async_clients()


def _arguments(litellm: Any, pin: ModelPin, budget: Budget, seed: int) -> dict[str, Any]:
    """What `acompletion` is asked for beside the messages."""
    arguments = {
        **pin.parameters,
        "model": pin.id,
        "temperature": pin.temperature,
        "max_tokens": budget.max_tokens,
    }
    if budget.reasoning_effort is not None:
        arguments["reasoning_effort"] = budget.reasoning_effort
        if _is_custom(litellm, pin):
            arguments["allowed_openai_params"] = ["reasoning_effort"]
    if takes_seed(litellm, pin):
        arguments["seed"] = seed
    return arguments


def takes_seed(litellm: Any, pin: ModelPin) -> bool:
    """True if LiteLLM can pass a seed to this model; without one, samples are still independent."""
    if _is_custom(litellm, pin):
        return True
    return "seed" in (litellm.get_supported_openai_params(model=pin.id) or ())


def _is_custom(litellm: Any, pin: ModelPin) -> bool:
    provider = pin.id.partition("/")[0]
    return any(entry["provider"] == provider for entry in litellm.custom_provider_map)


def _connection_fault(error: Any) -> InfrastructureFailure:
    kind = "timeout" if "timeout" in type(error).__name__.lower() else "connect"
    return InfrastructureFailure(redact(str(error))[:300], kind=kind)


def _fault(error: Any) -> InfrastructureFailure:
    response = getattr(error, "response", None)
    headers = dict(response.headers) if response is not None else {}
    status = int(getattr(error, "status_code", None) or 500)
    if "ContextWindow" in type(error).__name__:
        status = 413
    return fault_of(status, str(error), headers)


def _filtered(litellm: Any, error: Any) -> bool:
    if isinstance(error, litellm.exceptions.ContentPolicyViolationError):
        return True
    return is_filter(int(getattr(error, "status_code", None) or 0), str(error))


def priced(model: PinnedModel) -> PinnedModel:
    """`model` with prices from LiteLLM's table where its entry gives none; unknown stays unknown.

    An endpoint of one's own has no price in anybody's table.
    """
    if model.pin.priced or model.api_base is not None:
        return model
    provider, _, rest = model.pin.id.partition("/")
    table = litellm_module().model_cost
    known = table.get(model.pin.id) or table.get(rest) or {}
    prompt, completion = known.get("input_cost_per_token"), known.get("output_cost_per_token")
    if prompt is None or completion is None or known.get("litellm_provider") != provider:
        return model
    cached = known.get("cache_read_input_token_cost")
    pin = replace(
        model.pin,
        usd_per_million_prompt=prompt * 1e6,
        usd_per_million_completion=completion * 1e6,
        usd_per_million_cached=None if cached is None else cached * 1e6,
    )
    return replace(model, pin=pin, priced_on=f"LiteLLM {version('litellm')}")


def check_parameters(model: PinnedModel, budget: Budget, where: str) -> list[Fault]:
    """What LiteLLM says this model does not take: each fault names parameter and model.

    `where` is the option that asks, such as `student.model`.
    """
    litellm = litellm_module()
    place = f"{where} {model.pin.id}"
    try:
        asked = _mapped(litellm, model.pin, budget)
        plain = _mapped(litellm, model.pin, replace(budget, reasoning_effort=None))
    except litellm.exceptions.UnsupportedParamsError as error:
        return [Fault(place, _unsupported(str(error)) + _effort_hint(litellm, model, budget))]
    except litellm.exceptions.BadRequestError as error:
        return [Fault(place, redact(str(error)))]
    effort = budget.reasoning_effort
    if effort is not None and asked == plain:
        return [
            Fault(
                place,
                f"reasoning_effort {effort!r} changes nothing of what LiteLLM sends; "
                "leave it out, or pass the provider's own parameter under `parameters`",
            )
        ]
    return list(_thinking_faults(asked, model.pin, budget, place))


def _mapped(litellm: Any, pin: ModelPin, budget: Budget) -> dict[str, Any]:
    """What LiteLLM makes of our arguments for the provider of `pin`."""
    from litellm.utils import get_optional_params  # noqa: PLC0415 - see litellm_module

    arguments = _arguments(litellm, pin, budget, seed=1)
    name, provider, _, _ = litellm.get_llm_provider(model=arguments.pop("model"))
    found = get_optional_params(
        model=name, custom_llm_provider=provider, drop_params=False, **arguments
    )
    return dict(found)


def _unsupported(said: str) -> str:
    line = said.splitlines()[0].removeprefix("litellm.UnsupportedParamsError: ")
    return f"{line.partition(' To drop')[0]} Nothing is dropped; take it out of the config"


def _effort_hint(litellm: Any, model: PinnedModel, budget: Budget) -> str:
    """The nearest effort that LiteLLM would take; nothing where the effort is not what is wrong."""
    if budget.reasoning_effort is None:
        return ""
    accepted = []
    for effort in EFFORTS:
        try:
            _mapped(litellm, model.pin, replace(budget, reasoning_effort=effort))
        except litellm.exceptions.UnsupportedParamsError:
            continue
        accepted.append(effort)
    near = nearest_effort(budget.reasoning_effort, accepted)
    return f"; it takes {', '.join(accepted)}, the nearest is {near!r}" if near else ""


def _thinking_faults(
    asked: Mapping[str, Any], pin: ModelPin, budget: Budget, place: str
) -> Iterator[Fault]:
    """The rules of providers whose effort becomes a budget of thinking tokens."""
    thinking = asked.get("thinking") or {}
    tokens = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    if not tokens:
        return
    effort = budget.reasoning_effort
    if tokens >= budget.max_tokens:
        yield Fault(
            place,
            f"reasoning_effort {effort!r} is {tokens} thinking tokens, which do not fit under "
            f"budget.max_tokens = {budget.max_tokens}",
        )
    if pin.temperature != 1:
        yield Fault(
            place,
            f"reasoning_effort {effort!r} is taken at temperature 1 only, not {pin.temperature:g}",
        )
