"""Reply bodies in the shapes that providers document, with what they must be read as.

Written from the providers' API references; texts and numbers are made up. `OPENAI_LIKE` are chat
completions as OpenAI-compatible endpoints send them, `NATIVE` the provider's own protocol, which
LiteLLM translates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heldout.students.models.chat import StopReason, Usage


@dataclass(frozen=True)
class Shape:
    """A body, the model asked, and how it must be read."""

    name: str
    model: str
    body: dict[str, Any]
    text: str
    reasoning: str
    finish: StopReason
    usage: Usage


def chat(message: dict[str, Any], usage: dict[str, Any], finish: str = "stop", **more: Any) -> Any:
    """A chat completion with one choice."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_750_000_000,
        "model": "served-model-2025",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", **message},
                "finish_reason": finish,
                **more,
            }
        ],
        "usage": usage,
    }


STOP, LENGTH, FILTER = StopReason.STOP, StopReason.LENGTH, StopReason.FILTER

OPENAI_LIKE = (
    Shape(
        "openai reasoning model",
        "openai/gpt-5",
        chat(
            {"content": "Score: 7", "refusal": None, "annotations": []},
            {
                "prompt_tokens": 1200,
                "completion_tokens": 340,
                "total_tokens": 1540,
                "prompt_tokens_details": {"cached_tokens": 1024, "audio_tokens": 0},
                "completion_tokens_details": {
                    "reasoning_tokens": 320,
                    "audio_tokens": 0,
                    "accepted_prediction_tokens": 0,
                    "rejected_prediction_tokens": 0,
                },
            },
        ),
        "Score: 7",
        "",
        STOP,
        Usage(1200, 340, 320, 1024),
    ),
    Shape(
        "openai reasoning used the whole cap",
        "openai/gpt-5",
        chat(
            {"content": "", "refusal": None},
            {
                "prompt_tokens": 1200,
                "completion_tokens": 1024,
                "total_tokens": 2224,
                "completion_tokens_details": {"reasoning_tokens": 1024},
            },
            "length",
        ),
        "",
        "",
        LENGTH,
        Usage(1200, 1024, 1024, 0),
    ),
    Shape(
        "openai refusal",
        "openai/gpt-4o",
        chat(
            {"content": None, "refusal": "I can't help with that."},
            {"prompt_tokens": 30, "completion_tokens": 9, "total_tokens": 39},
        ),
        "I can't help with that.",
        "",
        FILTER,
        Usage(30, 9, 0, 0),
    ),
    Shape(
        "azure content filter in the reply",
        "openai/gpt-4o",
        chat(
            {"content": None},
            {"prompt_tokens": 30, "completion_tokens": 0, "total_tokens": 30},
            "content_filter",
            content_filter_results={"violence": {"filtered": True, "severity": "medium"}},
        ),
        "",
        "",
        FILTER,
        Usage(30, 0, 0, 0),
    ),
    Shape(
        "deepseek reasoner",
        "openai/deepseek-reasoner",
        chat(
            {"content": "Score: 3", "reasoning_content": "First the facts."},
            {
                "prompt_tokens": 900,
                "completion_tokens": 210,
                "total_tokens": 1110,
                "completion_tokens_details": {"reasoning_tokens": 190},
                "prompt_cache_hit_tokens": 512,
                "prompt_cache_miss_tokens": 388,
            },
        ),
        "Score: 3",
        "First the facts.",
        STOP,
        Usage(900, 210, 190, 512),
    ),
    Shape(
        "openrouter with reasoning details",
        "openai/qwen3",
        chat(
            {
                "content": "Score: 9",
                "refusal": None,
                "reasoning": "Nothing is missing.",
                "reasoning_details": [
                    {"type": "reasoning.text", "text": "Nothing is missing.", "index": 0}
                ],
            },
            {
                "prompt_tokens": 800,
                "completion_tokens": 120,
                "total_tokens": 920,
                "completion_tokens_details": {"reasoning_tokens": 100},
                "cost": 0.0012,
            },
            native_finish_reason="stop",
            logprobs=None,
        ),
        "Score: 9",
        "Nothing is missing.",
        STOP,
        Usage(800, 120, 100, 0),
    ),
    Shape(
        "mistral magistral, content in parts",
        "mistral/magistral-medium-2506",
        chat(
            {
                "content": [
                    {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]},
                    {"type": "text", "text": "Score: 5"},
                ],
                "tool_calls": None,
            },
            {"prompt_tokens": 700, "completion_tokens": 88, "total_tokens": 788},
        ),
        "Score: 5",
        "Let me see.",
        STOP,
        Usage(700, 88, 0, 0),
    ),
    Shape(
        "xai, reasoning counted beside the completion",
        "openai/grok-3-mini",
        chat(
            {"content": "Score: 2", "reasoning_content": "Much is missing.", "refusal": None},
            {
                "prompt_tokens": 600,
                "completion_tokens": 12,
                "total_tokens": 912,
                "prompt_tokens_details": {"cached_tokens": 5, "text_tokens": 600},
                "completion_tokens_details": {"reasoning_tokens": 300},
            },
        ),
        "Score: 2",
        "Much is missing.",
        STOP,
        Usage(600, 312, 300, 5),
    ),
    Shape(
        "groq",
        "openai/gpt-oss-20b",
        {
            **chat(
                {"content": "Score: 6", "reasoning": "Short."},
                {
                    "queue_time": 0.03,
                    "prompt_tokens": 400,
                    "prompt_time": 0.01,
                    "completion_tokens": 50,
                    "completion_time": 0.05,
                    "total_tokens": 450,
                    "total_time": 0.06,
                },
            ),
            "x_groq": {"id": "req_1"},
        },
        "Score: 6",
        "Short.",
        STOP,
        Usage(400, 50, 0, 0),
    ),
    Shape(
        "vllm, cut while it was still reasoning",
        "hosted_vllm/qwen3-8b",
        chat(
            {"content": None, "reasoning_content": "Fact one, fact two,", "tool_calls": []},
            {"prompt_tokens": 500, "completion_tokens": 256, "total_tokens": 756},
            "length",
            stop_reason=None,
        ),
        "",
        "Fact one, fact two,",
        LENGTH,
        Usage(500, 256, 0, 0),
    ),
    Shape(
        "llama.cpp",
        "openai/smollm2",
        {
            **chat(
                {"content": '{"score": 4}'},
                {
                    "completion_tokens": 9,
                    "prompt_tokens": 300,
                    "total_tokens": 309,
                    "prompt_tokens_details": {"cached_tokens": 280},
                },
            ),
            "timings": {"prompt_n": 20, "prompt_ms": 85.1, "predicted_n": 9},
        },
        '{"score": 4}',
        "",
        STOP,
        Usage(300, 9, 0, 280),
    ),
)

NATIVE = (
    Shape(
        "anthropic with extended thinking",
        "anthropic/claude-sonnet-4-5",
        {
            "id": "msg_01",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [
                {"type": "thinking", "thinking": "Compare them.", "signature": "c2ln"},
                {"type": "text", "text": "Score: 8"},
            ],
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": 50,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 1000,
                "output_tokens": 220,
            },
        },
        "Score: 8",
        "Compare them.",
        STOP,
        Usage(1050, 220, 3, 1000),  # LiteLLM counts the words of the thinking itself
    ),
    Shape(
        "anthropic at the cap",
        "anthropic/claude-sonnet-4-5",
        {
            "id": "msg_02",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [{"type": "text", "text": "Score"}],
            "stop_reason": "max_tokens",
            "stop_sequence": None,
            "usage": {"input_tokens": 50, "output_tokens": 16},
        },
        "Score",
        "",
        LENGTH,
        Usage(50, 16, 0, 0),
    ),
    Shape(
        "anthropic refusal",
        "anthropic/claude-sonnet-4-5",
        {
            "id": "msg_03",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [],
            "stop_reason": "refusal",
            "stop_sequence": None,
            "usage": {"input_tokens": 50, "output_tokens": 1},
        },
        "",
        "",
        FILTER,
        Usage(50, 1, 0, 0),
    ),
    Shape(
        "gemini with thoughts",
        "gemini/gemini-2.5-flash",
        {
            "candidates": [
                {
                    "content": {"parts": [{"text": "Score: 1"}], "role": "model"},
                    "finishReason": "STOP",
                    "index": 0,
                }
            ],
            "usageMetadata": {
                "promptTokenCount": 640,
                "candidatesTokenCount": 6,
                "totalTokenCount": 946,
                "thoughtsTokenCount": 300,
                "cachedContentTokenCount": 128,
            },
            "modelVersion": "gemini-2.5-flash",
            "responseId": "r1",
        },
        "Score: 1",
        "",
        STOP,
        Usage(640, 306, 300, 128),
    ),
    Shape(
        "gemini at the cap",
        "gemini/gemini-2.5-flash",
        {
            "candidates": [
                {"content": {"role": "model"}, "finishReason": "MAX_TOKENS", "index": 0}
            ],
            "usageMetadata": {
                "promptTokenCount": 640,
                "totalTokenCount": 1664,
                "thoughtsTokenCount": 1024,
            },
            "modelVersion": "gemini-2.5-flash",
        },
        "",
        "",
        LENGTH,
        Usage(640, 1024, 1024, 0),
    ),
    Shape(
        "gemini safety",
        "gemini/gemini-2.5-flash",
        {
            "candidates": [
                {
                    "content": {"role": "model", "parts": [{"text": ""}]},
                    "finishReason": "SAFETY",
                    "index": 0,
                }
            ],
            "usageMetadata": {"promptTokenCount": 640, "totalTokenCount": 640},
            "modelVersion": "gemini-2.5-flash",
        },
        "",
        "",
        FILTER,
        Usage(640, 0, 0, 0),
    ),
    Shape(
        "ollama",
        "ollama_chat/qwen3",
        {
            "model": "qwen3",
            "created_at": "2025-10-17T23:14:07Z",
            "message": {"role": "assistant", "content": "Score: 4", "thinking": "Hm."},
            "done": True,
            "done_reason": "stop",
            "total_duration": 174560334,
            "prompt_eval_count": 111,
            "eval_count": 18,
        },
        "Score: 4",
        "Hm.",
        STOP,
        Usage(111, 18, 0, 0),
    ),
)
