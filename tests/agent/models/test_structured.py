"""Answers of a given form: the ladder of what endpoints take, tolerant reading, and one repair turn."""

from __future__ import annotations

import json
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from agent.models.base import Message, ModelRequest, Purpose
from agent.models.errors import ModelAnswerUnusable
from agent.models.json_answers import ask, objects_in
from tests.agent.models.endpoints import asking, model_at
from tests.fakes.model_server import (
    DASHSCOPE,
    DEEPSEEK,
    OPENAI,
    STRICT,
    Answer,
    Call,
    ModelServer,
    Personality,
    refused,
)

pytestmark = pytest.mark.slow


class Intent(BaseModel):
    """What a person wants."""

    kind: Literal["chat", "simple", "complex"]
    reason: str = ""


GOOD = '{"kind": "simple", "reason": "one step"}'
NO_SCHEMA = Personality("no schema over responses", responses="stateful", schema="json_object")


@pytest.mark.parametrize(
    ("personality", "formats"),
    [
        (OPENAI, ["json_schema"]),
        (DASHSCOPE, ["json_schema"]),
        (DEEPSEEK, ["json_schema", "json_object"]),
        (STRICT, ["json_schema", "json_object", None]),
    ],
)
async def test_the_strictest_form_that_the_endpoint_takes(personality: Personality, formats: list[str | None]) -> None:
    async with ModelServer([GOOD, GOOD], personality=personality) as server, model_at(server) as model:
        answer, usage = await ask(model, asking(purpose=Purpose.INTENT), Intent)
        tries = [request for request in server.requests if "stream_options" not in request.body or formats[-1]]
        sent = [(request.body.get("response_format") or {}).get("type") for request in tries]
        assert list(dict.fromkeys(sent)) == formats
        before = len(server.requests)
        await ask(model, asking(purpose=Purpose.INTENT), Intent)
        assert len(server.requests) == before + 1
    assert answer == Intent(kind="simple", reason="one step")
    assert usage.calls == 1


async def test_the_schema_is_strict_and_in_the_prompt() -> None:
    async with ModelServer([GOOD]) as server, model_at(server) as model:
        await ask(model, asking(), Intent)
        form = server.requests[0].body["response_format"]["json_schema"]
        assert form["strict"] is True
        assert form["schema"]["additionalProperties"] is False
        assert form["schema"]["required"] == ["kind", "reason"]
        assert "JSON schema" in server.requests[0].messages[0]["content"]
        assert server.requests[0].messages[-1]["content"] == "What do you see?"


async def test_a_request_without_a_system_message_gets_one() -> None:
    request = ModelRequest(Purpose.INTENT, (Message("user", ("Hello",)),))
    async with ModelServer([GOOD]) as server, model_at(server) as model:
        await ask(model, request, Intent)
        assert [message["role"] for message in server.requests[0].messages] == ["system", "user"]


async def test_the_ladder_works_over_the_responses_api() -> None:
    async with (
        ModelServer([GOOD], personality=NO_SCHEMA) as server,
        model_at(server, api="responses") as model,
    ):
        answer, _ = await ask(model, asking(purpose=Purpose.INTENT), Intent)
        assert [request.body["text"]["format"]["type"] for request in server.requests] == ["json_schema", "json_object"]
    assert answer.kind == "simple"


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"Sure! Here it is:\n\n{GOOD}\n\nAnything else? }}",
        f'<think>Maybe {{"kind": "complex"}}?</think>{GOOD}',
        f'An example is {{"kind": "…"}}, but mine is {GOOD}.',
        GOOD.replace(", ", ",\n\t"),
        f"{{broken {GOOD}",
    ],
)
async def test_what_stands_around_the_object_does_no_harm(text: str) -> None:
    async with ModelServer([text]) as server, model_at(server) as model:
        answer, _ = await ask(model, asking(), Intent)
    assert answer == Intent(kind="simple", reason="one step")


@pytest.mark.parametrize(
    "answer",
    [
        Answer(tool_calls=(Call(name="Intent", arguments={"kind": "chat"}),)),
        Answer(reasoning='So it is {"kind": "chat"}'),
    ],
)
async def test_the_object_is_found_where_servers_misplace_it(answer: Answer) -> None:
    async with ModelServer([answer]) as server, model_at(server) as model:
        assert (await ask(model, asking(), Intent))[0].kind == "chat"


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (Answer(text="I would say it is simple."), "no JSON object"),
        (Answer(text='{"kind": "easy"}'), "kind"),
        (Answer(text='{"kind": "sim', finish_reason="length"), "cut off"),
        (Answer(), "no JSON object"),
    ],
)
async def test_one_repair_turn_says_what_was_wrong(bad: Answer, told: str) -> None:
    async with ModelServer([bad, GOOD]) as server, model_at(server) as model:
        answer, usage = await ask(model, asking(), Intent)
        roles = [message["role"] for message in server.requests[1].messages]
        assert roles == ["system", "user", "assistant", "user"]
        assert told in server.requests[1].messages[-1]["content"]
        assert usage.calls == 2
        assert usage.input == server.tokens.input
    assert answer.kind == "simple"


async def test_twice_out_of_form_is_the_end() -> None:
    async with ModelServer(["No.", "No!", GOOD]) as server, model_at(server) as model:
        with pytest.raises(ModelAnswerUnusable, match="fake-vl twice did not answer in the requested form"):
            await ask(model, asking(), Intent)
        assert len(server.requests) == 2


async def test_a_refusal_about_something_else_does_not_step_down() -> None:
    async with ModelServer([refused(400, "Too many tokens."), GOOD]) as server, model_at(server) as model:
        with pytest.raises(Exception, match="Too many tokens"):
            await ask(model, asking(), Intent)
        await ask(model, asking(), Intent)
        assert server.requests[1].body["response_format"]["type"] == "json_schema"


_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


async def test_a_raw_line_break_in_a_string_is_kept() -> None:
    async with ModelServer(['{"kind": "chat", "reason": "one\ntwo"}']) as server, model_at(server) as model:
        assert (await ask(model, asking(), Intent))[0].reason == "one\ntwo"


@given(st.dictionaries(st.text(), _values, min_size=1), st.text().filter(lambda text: not set(text) & set("{}<>")))
def test_an_object_is_found_in_any_prose(value: dict[str, object], prose: str) -> None:
    assert next(objects_in(f"{prose}{json.dumps(value)}{prose}")) == value


@given(st.text(alphabet='{}[]":,\\ax\n <think>/'))
def test_no_text_is_too_odd_to_read(text: str) -> None:
    assert all(isinstance(value, dict) for value in objects_in(text))


def test_deep_nesting_and_endless_braces_end_quickly() -> None:
    assert list(objects_in('{"a":' * 100_000)) == []
    assert list(objects_in("{" * 100_000)) == []
