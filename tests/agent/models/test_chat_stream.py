"""Shapes of streamed answers that servers really send and the API reference does not know."""

from __future__ import annotations

import pytest

from agent.models.base import ToolCall
from agent.models.call_failure import CutShort
from agent.models.chat import ChatReader


def read(*chunks: object) -> ChatReader:
    reader = ChatReader(lambda _: None)
    for chunk in chunks:
        reader.feed(chunk)
    return reader


def delta(**fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": None}]}


def call(*, name: str | None = None, arguments: object = None, **fields: object) -> dict[str, object]:
    return delta(tool_calls=[fields | {"function": {"name": name, "arguments": arguments}}])


def test_calls_that_all_have_the_index_zero_are_told_apart_by_id() -> None:
    reader = read(
        call(index=0, id="a", name="tap", arguments='{"x"'),
        call(index=0, arguments=":1}"),
        call(index=0, id="b", name="tap", arguments='{"x":2}'),
    )
    assert reader.reply("m").tool_calls == (ToolCall("a", "tap", '{"x":1}'), ToolCall("b", "tap", '{"x":2}'))


def test_calls_without_index_and_id_begin_with_a_name() -> None:
    reader = read(call(name="tap", arguments='{"x":'), call(arguments="1}"), call(name="home", arguments="{}"))
    assert reader.reply("m").tool_calls == (ToolCall("call_0", "tap", '{"x":1}'), ToolCall("call_1", "home", "{}"))


def test_pieces_of_two_calls_may_alternate() -> None:
    reader = read(
        call(index=0, id="a", name="tap"),
        call(index=1, id="b", name="home"),
        call(index=0, arguments="{1"),
        call(index=1, arguments="{2"),
        call(index=0, arguments="}"),
        call(index=1, arguments="}"),
    )
    assert [made.arguments for made in reader.reply("m").tool_calls] == ["{1}", "{2}"]


def test_arguments_may_be_an_object() -> None:
    assert read(call(index=0, id="a", name="type", arguments={"text": "你"})).reply("m").tool_calls == (
        ToolCall("a", "type", '{"text": "你"}'),
    )


def test_content_may_be_a_list_of_parts() -> None:
    parts = [{"type": "thinking", "thinking": []}, {"type": "text", "text": "Tap "}, {"type": "text", "text": "it."}]
    assert read(delta(content=parts)).reply("m").text == "Tap it."


def test_nulls_are_nothing() -> None:
    reader = read(
        {"choices": None, "usage": None},
        {"choices": [{"delta": None, "finish_reason": None}]},
        delta(content=None, tool_calls=None, reasoning_content=None),
        delta(tool_calls=[{"index": 0, "id": None, "function": None}]),
    )
    assert reader.reply("m").text == ""
    with pytest.raises(CutShort):
        reader.check()


def test_usage_in_every_chunk_counts_once() -> None:
    def usage(tokens: int) -> dict[str, object]:
        return delta(content="a") | {"usage": {"prompt_tokens": 10, "completion_tokens": tokens}}

    reported = read(usage(1), usage(2), usage(3)).usage
    assert reported is not None
    assert (reported.input, reported.output) == (10, 3)


def test_details_may_be_null() -> None:
    block = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": None, "prompt_cache_hit_tokens": 4}
    reported = read(delta(content="a") | {"usage": block}).usage
    assert reported is not None
    assert (reported.cached, reported.reasoning) == (4, None)


@pytest.mark.parametrize("value", [None, [], "text", {"choices": [{"delta": {"content": 5}}]}])
def test_what_is_no_chunk_is_a_value_error(value: object) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read(value)
