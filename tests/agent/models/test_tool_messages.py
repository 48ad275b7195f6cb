"""Calls of tools and their results, as both ways of an endpoint take them."""

from __future__ import annotations

from agent.models.base import Message, ModelRequest, Purpose, ToolCall
from agent.models.chat import chat_payload
from agent.models.conversations import Turn, digests
from agent.models.endpoint_quirks import EndpointQuirks
from agent.models.responses import response_payload

CALLED = Message("assistant", ("I look.",), (ToolCall("c1", "look", '{"what": "A"}'),))
RESULT = Message("tool", ("1 euro",), call_id="c1")
REQUEST = ModelRequest(Purpose.MEMBER, (Message("user", ("price?",)), CALLED, RESULT))


def test_chat_completions_take_calls_and_results_as_messages() -> None:
    messages = chat_payload("any", REQUEST, EndpointQuirks())["messages"]
    assert isinstance(messages, list)
    assert messages[1:] == [
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "look", "arguments": '{"what": "A"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "1 euro"},
    ]


def test_responses_take_them_as_items() -> None:
    items = response_payload("any", REQUEST, Turn(REQUEST.messages), EndpointQuirks(), store=False)["input"]
    assert isinstance(items, list)
    assert items[1:] == [
        {"role": "assistant", "content": "I look."},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": '{"what": "A"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "1 euro"},
    ]


def test_messages_with_other_calls_differ() -> None:
    other = Message("assistant", ("I look.",), (ToolCall("c2", "look", '{"what": "B"}'),))
    assert digests([CALLED]) != digests([other])
