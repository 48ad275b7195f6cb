"""Chat completions as JSON and as a stream of chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.model_server.accounting import Count, text_tokens
from tests.fakes.model_server.personalities import Personality
from tests.fakes.model_server.script import Answer

Json = dict[str, Any]


def output_tokens(answer: Answer) -> tuple[int, int]:
    """Tokens of the whole output, and how many of them are reasoning."""
    reasoning = text_tokens(answer.reasoning)
    calls = sum(text_tokens(call.name + call.raw) for call in answer.tool_calls)
    return reasoning + text_tokens(answer.text + answer.refusal) + calls, reasoning


def usage(answer: Answer, count: Count, personality: Personality) -> Json | None:
    """The usage block, in the words of this endpoint."""
    if answer.usage == "missing":
        return None
    if isinstance(answer.usage, dict):
        return answer.usage
    output, reasoning = output_tokens(answer)
    block: Json = {
        "prompt_tokens": count.input,
        "completion_tokens": output,
        "total_tokens": count.input + output,
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
    if personality.usage == "deepseek":
        return block | {
            "prompt_cache_hit_tokens": count.cached,
            "prompt_cache_miss_tokens": count.input - count.cached,
        }
    return block | {"prompt_tokens_details": {"cached_tokens": count.cached}}


def whole(answer: Answer, model: str, number: int, block: Json | None, personality: Personality) -> Json:
    """The answer to a request without streaming."""
    message: Json = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal or None}
    if answer.reasoning:
        message[personality.reasoning_field] = answer.reasoning
    if answer.tool_calls:
        message["tool_calls"] = [
            {"id": f"call_{number}_{index}", "type": "function", "function": {"name": call.name, "arguments": call.raw}}
            for index, call in enumerate(answer.tool_calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": answer.finish, "logprobs": None}
    body = {"id": f"chatcmpl-{number}", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
    return body | ({"usage": block} if block is not None else {})


def chunks(answer: Answer, model: str, number: int, block: Json | None, personality: Personality) -> Iterator[Json]:
    """The answer as streamed chunks; `block` is None when usage was not asked for."""

    def chunk(delta: Json, finish: str | None = None) -> Json:
        choices = [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}]
        return base | {"choices": choices}

    base: Json = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1, "model": model}
    yield chunk({"role": "assistant", "content": ""})
    for piece in pieces(answer.reasoning, answer.piece):
        yield chunk({personality.reasoning_field: piece, "content": None})
    for piece in pieces(answer.text, answer.piece):
        yield chunk({"content": piece})
    for piece in pieces(answer.refusal, answer.piece):
        yield chunk({"refusal": piece})
    for index, call in enumerate(answer.tool_calls):
        head = {"id": f"call_{number}_{index}", "type": "function", "function": {"name": call.name, "arguments": ""}}
        yield chunk({"tool_calls": [{"index": index} | head]})
        for piece in pieces(call.raw, answer.piece):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, answer.finish)
    if block is not None:
        yield base | {"choices": [], "usage": block}


def pieces(text: str, size: int) -> Iterator[str]:
    """The text in pieces of at most `size` characters."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
