"""From pins to models that answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from heldout.splits.errors import Fault
from heldout.students.models.chat import Budget, ChatModel
from heldout.students.models.litellm_client import LiteLLMModel, check_parameters
from heldout.students.models.openai_client import OpenAICompatibleModel
from heldout.students.models.pins import ClientKind, PinnedModel, effort_faults
from heldout.students.structured import probed


@asynccontextmanager
async def open_models(
    models: Iterable[PinnedModel], simulated: Mapping[str, ChatModel]
) -> AsyncIterator[dict[str, ChatModel]]:
    """What a `Caller` needs: model ids to models; connections are closed at the end.

    `simulated` holds the in-process models by id. To be entered in the event loop that makes the
    calls. Raises KeyError for a simulated model that is not there.
    """
    async with AsyncExitStack() as stack:
        opened: dict[str, ChatModel] = {}
        for model in models:
            if model.pin.id in opened:
                continue
            if model.client is ClientKind.SIMULATED:
                opened[model.pin.id] = simulated[model.pin.id]
                continue
            connected = _connected(model)
            stack.push_async_callback(connected.aclose)
            opened[model.pin.id] = connected
        yield opened


def _connected(model: PinnedModel) -> OpenAICompatibleModel | LiteLLMModel:
    if model.client is ClientKind.DIRECT and model.api_base is not None:
        return OpenAICompatibleModel(
            model.api_base, model.key_env, cap_field=model.cap_field, body_bytes=model.body_bytes
        )

    return LiteLLMModel(model.api_base, model.key_env, body_bytes=model.body_bytes)


def model_faults(model: PinnedModel, budget: Budget, where: str) -> list[Fault]:
    """What the model will not take, as far as it can be known before anything is sent.

    `where` is the option that asks for it. Imports LiteLLM for a model that is called through it.
    """
    faults = effort_faults(model, budget, where)
    if faults or model.client is not ClientKind.LITELLM:
        return faults

    return check_parameters(replace(model, pin=probed(model.pin)), budget, where)
