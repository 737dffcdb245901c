"""The one door to LiteLLM: hosted models, and everything else that has a LiteLLM id.

LiteLLM is imported when it is first needed, which takes seconds. It is told to keep off the
network by itself, to send every request exactly once, and to drop no parameter. It makes the
request; what goes over the wire and what comes back is ours (`litellm_wire`).
"""

from __future__ import annotations

import os
import re
import threading
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from importlib.metadata import version
from typing import Any

from heldout.splits.errors import Fault, InfrastructureFailure
from heldout.students.models.chat import BODY_BYTES, Budget, ChatReply, ChatRequest, ModelPin
from heldout.students.models.http_status import error_body, fault_of
from heldout.students.models.litellm_wire import LiteLLMCall, keep_to_our_wire, making
from heldout.students.models.normalise import filtered, normalised
from heldout.students.models.payload import chat_messages
from heldout.students.models.pins import EFFORTS, PinnedModel, nearest_effort
from heldout.students.models.secrets import Redact, key_in, redact, redactor
from heldout.students.models.wire import Wire

NOISE = ("Items? .* on TypedDict class", "Pydantic serializer warnings", "Use 'content=<...>'")
"""Warnings of LiteLLM about its own classes and calls, which nobody here can act on."""

BREAKS = (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError)
"""How LiteLLM ends over a body that it did not expect, where it makes no error of its own of it."""


ELSEWHERE = frozenset({408, 429, 502, 503, 504})
"""What only a provider says, though its bytes may have come another way than over our wire."""


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
    keep_to_our_wire()
    return litellm


class _OpenModels:
    """The models of this process that use LiteLLM, whose clients belong to all of them.

    The last one that closes closes the clients; a run that ends takes nothing from a run beside it.
    """

    def __init__(self) -> None:
        self._lock, self._models = threading.Lock(), set[int]()

    def enter(self, model: LiteLLMModel) -> None:
        """The model may make clients from now on."""
        with self._lock:
            self._models.add(id(model))

    def leave(self, model: LiteLLMModel) -> bool:
        """The model is closed; True if it was the last one."""
        with self._lock:
            self._models.discard(id(model))
            return not self._models


_open_models = _OpenModels()


class LiteLLMModel:
    """A model behind `litellm.acompletion`; its key comes from the environment.

    `body_bytes` is how much of a reply is read. To be closed with `aclose`.
    """

    def __init__(
        self,
        api_base: str | None = None,
        key_env: str | None = None,
        *,
        body_bytes: int = BODY_BYTES,
    ) -> None:
        self._key_env, self._body_bytes = key_env, body_bytes
        self._fixed: dict[str, Any] = {
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": False,
            # LiteLLM's own logging of calls, nobody's here, is a tenth of what a call costs.
            "no-log": True,
        }
        if api_base is not None:
            self._fixed["api_base"] = api_base

    @cached_property
    def _litellm(self) -> Any:
        # Loaded when it is first needed: models are opened before a campaign's first event is on
        # record, and nobody should wait seconds for a run directory that says nothing.
        _open_models.enter(self)
        return litellm_module()

    @cached_property
    def _key(self) -> dict[str, str]:
        return {"api_key": key_in(self._key_env)} if self._key_env else {}

    @cached_property
    def _clean(self) -> Redact:
        return redactor(*self._key.values())

    @cached_property
    def _wire(self) -> Wire:
        return Wire(self._clean, self._body_bytes)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """One request, no retries. Raises InfrastructureFailure when no reply came back."""
        import openai  # noqa: PLC0415 - comes with LiteLLM, whose errors derive from its own

        arguments = _arguments(self._litellm, request.pin, request.budget, request.seed)
        with making(LiteLLMCall(self._wire, request, self._clean)) as call:
            try:
                response = await self._litellm.acompletion(
                    messages=chat_messages(request), **arguments, **self._fixed, **self._key
                )
            except (openai.OpenAIError, *BREAKS) as error:
                # What came over the wire says more than what LiteLLM makes of it.
                return call.outcome() or _broke(self._litellm, error, call, request)
        reply = call.outcome()
        return reply or normalised(response.model_dump(), request, self._clean)

    async def aclose(self) -> None:
        """Close the connections, and LiteLLM's, if it was asked for any."""
        if "_wire" in vars(self):
            await self._wire.aclose()
        if "_litellm" in vars(self) and _open_models.leave(self):
            await self._litellm.close_litellm_async_clients()
            # A closed client that stays there would be given to the next model.
            self._litellm.in_memory_llm_clients_cache.flush_cache()


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
    return {name: value for name, value in arguments.items() if name not in pin.dialect.omit}


def takes_seed(litellm: Any, pin: ModelPin) -> bool:
    """True if LiteLLM can pass a seed to this model; without one, samples are still independent."""
    if _is_custom(litellm, pin):
        return True
    return "seed" in (litellm.get_supported_openai_params(model=pin.id) or ())


def _is_custom(litellm: Any, pin: ModelPin) -> bool:
    provider = pin.id.partition("/")[0]
    return any(entry["provider"] == provider for entry in litellm.custom_provider_map)


def _broke(litellm: Any, error: Any, call: LiteLLMCall, request: ChatRequest) -> ChatReply:
    """What an error of LiteLLM's own means. Raises InfrastructureFailure but for a refusal."""
    said = redact(f"{type(error).__name__}: {error}")
    if call.received is not None:
        # The bytes came whole, so the provider speaks otherwise than LiteLLM knows.
        raise InfrastructureFailure(
            f"a reply that LiteLLM cannot read ({' '.join(said.split())[:300]})", kind="unreadable"
        )
    if isinstance(error, litellm.exceptions.ContentPolicyViolationError):
        return filtered(request, said)
    status = getattr(error, "status_code", None)
    if _is_custom(litellm, request.pin) or status in ELSEWHERE:
        raise fault_of(status if isinstance(status, int) else 400, error_body(said))
    # It never came to a request, and asking again would not come to one either.
    key = status in (401, 403) or re.search("api.?key|credential", said, re.IGNORECASE)
    words = " ".join(said.split())[:300]
    raise InfrastructureFailure(
        f"nothing was sent: {words}", kind="auth" if key else "bad_request", transient=False
    )


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


def key_variables(model: PinnedModel) -> tuple[str, ...]:
    """The environment variables one of which must hold the key of a model; empty where one does.

    Only of providers that take a plain key and nothing else, whose endpoint is their own.
    """
    if model.api_base is not None:
        return ()
    litellm = litellm_module()
    if _is_custom(litellm, model.pin):
        return ()
    found: list[str] = litellm.validate_environment(model=model.pin.id)["missing_keys"]
    plain = all(name.endswith("_API_KEY") for name in found)
    # A provider may take other words for its key (`…_AUTH_TOKEN`), which LiteLLM does not list.
    prefixes = tuple(f"{name.removesuffix('_API_KEY')}_" for name in found)
    others = any(name.startswith(prefixes) and "TOKEN" in name for name in os.environ)
    return tuple(found) if plain and not others else ()


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
