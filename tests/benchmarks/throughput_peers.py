"""The peers of the throughput benchmark: each scores one seed on every note, as at its start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

SYSTEM = "You judge clinical notes."


def gepa_optimize(base: str, prompts: Sequence[str], in_flight: int) -> None:
    """gepa: `optimize` with a budget of exactly the seed's scores on the validation set."""
    from gepa.adapters.default_adapter.default_adapter import DefaultAdapter
    from gepa.api import optimize

    items: list[Any] = [
        {"input": prompt, "additional_context": {}, "answer": "7"} for prompt in prompts
    ]
    adapter = DefaultAdapter(
        "openai/judge",
        max_litellm_workers=in_flight,
        litellm_batch_completion_kwargs={"api_base": base, "max_tokens": 1000},
    )
    result: Any = optimize(
        {"system_prompt": SYSTEM},
        trainset=items[:3],
        valset=items,
        adapter=adapter,
        reflection_lm=lambda _prompt: "```\nunused\n```",
        max_metric_calls=len(items),
        raise_on_exception=True,
    )
    assert result.val_aggregate_scores[0] == 1.0


def dspy_gepa(base: str, prompts: Sequence[str], in_flight: int) -> None:
    """dspy.GEPA: `compile` with the same budget, caching off, as many threads as in flight."""
    import dspy

    model = dspy.LM("openai/judge", api_base=base, cache=False, num_retries=0, max_tokens=1000)
    examples = [
        dspy.Example(consultation=prompt, score="7").with_inputs("consultation")
        for prompt in prompts
    ]

    def metric(gold: Any, pred: Any, *_: Any) -> float:
        return float(gold.score == pred.score)

    with dspy.context(lm=model):
        optimiser = dspy.GEPA(
            metric=metric,
            max_metric_calls=len(examples),
            num_threads=in_flight,
            reflection_lm=model,
        )
        optimiser.compile(
            dspy.Predict("consultation -> score"), trainset=examples[:3], valset=examples
        )
