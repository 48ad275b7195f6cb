"""The Responses API: items, events and the store of past responses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.fakes.model_server.accounting import Count
from tests.fakes.model_server.chat import Json, output_tokens, pieces
from tests.fakes.model_server.script import Answer


class ResponseStore:
    """Responses that the endpoint keeps: the whole context that a next call continues from."""

    def __init__(self) -> None:
        self._contexts: dict[str, list[Json]] = {}

    def __contains__(self, response: str) -> bool:
        return response in self._contexts

    def __len__(self) -> int:
        return len(self._contexts)

    def context(self, response: str) -> list[Json]:
        """Everything said up to this response, itself included."""
        return self._contexts[response]

    def keep(self, response: str, context: list[Json]) -> None:
        """Remember a response."""
        self._contexts[response] = context

    def delete(self, response: str) -> bool:
        """Forget one response; False when it is unknown."""
        return self._contexts.pop(response, None) is not None

    def clear(self) -> None:
        """Forget all, as a restarted server does."""
        self._contexts.clear()


def unanswered_call(context: list[Json]) -> str:
    """The id of a tool call without its output, which the real API refuses; "" when there is none."""
    answered = {item.get("call_id") for item in context if item.get("type") == "function_call_output"}
    calls = [str(item["call_id"]) for item in context if item.get("type") == "function_call"]
    return next((call for call in calls if call not in answered), "")


def output_items(answer: Answer, number: int) -> list[Json]:
    """The answer as output items."""
    items: list[Json] = []
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        items.append({"id": f"rs_{number}", "type": "reasoning", "summary": summary})
    if answer.text or answer.refusal:
        part = (
            {"type": "output_text", "text": answer.text, "annotations": []}
            if answer.text
            else {"type": "refusal", "refusal": answer.refusal}
        )
        head = {"id": f"msg_{number}", "type": "message", "role": "assistant", "status": "completed"}
        items.append(head | {"content": [part]})
    items.extend(
        {
            "id": f"fc_{number}_{index}",
            "type": "function_call",
            "status": "completed",
            "call_id": f"call_{number}_{index}",
            "name": call.name,
            "arguments": call.raw,
        }
        for index, call in enumerate(answer.tool_calls)
    )
    return items


def usage(answer: Answer, count: Count) -> Json | None:
    """The usage block of a response."""
    if answer.usage == "missing":
        return None
    if isinstance(answer.usage, dict):
        return answer.usage
    output, reasoning = output_tokens(answer)
    return {
        "input_tokens": count.input,
        "input_tokens_details": {"cached_tokens": count.cached},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": count.input + output,
    }


def whole(answer: Answer, body: Json, number: int, block: Json | None, previous: str | None) -> Json:
    """A response object."""
    cut = answer.finish_reason == "length"
    return {
        "id": f"resp_{number}",
        "object": "response",
        "created_at": 1,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "error": None,
        "model": body.get("model", ""),
        "previous_response_id": previous,
        "store": bool(body.get("store", True)),
        "output": output_items(answer, number),
        "usage": block,
    }


def events(answer: Answer, response: dict[str, Any]) -> Iterator[Json]:
    """The response as streamed events."""
    begun = response | {"status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for piece in pieces(answer.reasoning, answer.piece):
        yield {"type": "response.reasoning_summary_text.delta", "delta": piece}
    for piece in pieces(answer.text, answer.piece):
        yield {"type": "response.output_text.delta", "delta": piece}
    for index, item in enumerate(response["output"]):
        if item["type"] == "function_call":
            added = item | {"arguments": "", "status": "in_progress"}
            yield {"type": "response.output_item.added", "output_index": index, "item": added}
            for piece in pieces(item["arguments"], answer.piece):
                yield {"type": "response.function_call_arguments.delta", "output_index": index, "delta": piece}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": f"response.{response['status']}", "response": response}
