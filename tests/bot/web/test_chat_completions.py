"""OpenAI's form, with OpenAI's own client, and with what chat front ends send beside what a person says."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import openai
import pytest
from pydantic import BaseModel
from starlette.routing import BaseRoute, Mount

from agent.events import Source, Started, Thinking
from agent.ports.agent import Guidance
from agent.questions import QuestionKind
from agent.run import Outcome, RunId
from bot.domain.task import Task, TaskState
from bot.domain.task_request import TaskOptions
from bot.web.chat_completions import ChatCompletions, side_answer
from bot.web.chat_request import ChatMessage, ChatRequest
from tests.bot.web.v1.test_reading import used
from tests.bot.web.v1.world import ApiWorld, open_api
from tests.bot.world import ANNA, World, png


@pytest.fixture
async def api(real_world: None, tmp_path: Path) -> AsyncIterator[ApiWorld]:  # noqa: ARG001
    async with open_api(tmp_path) as opened:
        yield opened


@pytest.fixture
async def client(api: ApiWorld) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(
        api_key=await api.token("ui"), base_url=f"{api.url.with_path('/v1')}", max_retries=0
    ) as made:
        yield made


async def given(api: ApiWorld, number: int = 1) -> Task:
    async with asyncio.timeout(5):
        while True:
            found = await api.world.task_service.active()
            if len(found) >= number:
                return found[-1]
            await asyncio.sleep(0.01)


def said(*texts: str) -> list[Any]:
    return [{"role": "assistant" if number % 2 else "user", "content": text} for number, text in enumerate(texts)]


async def test_the_phones_are_the_models(client: openai.AsyncOpenAI) -> None:
    assert [model.id for model in (await client.models.list()).data] == ["opengui", "opengui/Pixel", "opengui/Moto"]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
async def test_it_is_said_how_answers_without_a_phone_are_worded(
    api: ApiWorld, client: openai.AsyncOpenAI, name: str
) -> None:
    more: dict[str, Any] = {name: 99}
    asking = asyncio.create_task(
        client.chat.completions.create(model="opengui", messages=said("hi"), temperature=0.5, **more)
    )
    task = await given(api)
    assert task.request.guidance == Guidance(temperature=0.5, max_tokens=99)
    await api.world.end(task)
    await asking


async def test_the_last_message_is_the_task_and_its_end_the_answer(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    messages = [{"role": "system", "content": "Be brief."}, *said("hi", "hello", "open settings")]
    asking = asyncio.create_task(client.chat.completions.create(model="opengui/Moto", messages=messages))
    task = await given(api)
    assert (task.text, task.phone) == ("open settings", "moto")
    await api.world.end(task)
    told = await asking
    assert told.choices[0].message.content == "It is done."
    assert told.choices[0].finish_reason == "stop"


FORM = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "minutes": {"type": "integer"}},
    "required": ["title", "minutes"],
    "additionalProperties": False,
}
IN_FORM: dict[str, Any] = {
    "response_format": {"type": "json_schema", "json_schema": {"name": "talk", "strict": True, "schema": FORM}}
}
TALK = '{"title": "On \u201cends\u201d", "minutes": 25}'
PAGE = Source(url="https://example.org", title="Programme")


class Talk(BaseModel):
    """The same form, as OpenAI's client parses it."""

    title: str
    minutes: int


@pytest.mark.parametrize("streamed", [False, True])
async def test_an_answer_in_a_form_is_the_document_alone(
    api: ApiWorld, client: openai.AsyncOpenAI, *, streamed: bool
) -> None:
    """Seen failing without `_said`: the summary and the pages stood around the document."""
    if streamed:
        stream = Streamed(client, "find the talk", **IN_FORM)
    else:
        asking = asyncio.create_task(
            client.chat.completions.parse(model="opengui", messages=said("find the talk"), response_format=Talk)
        )
    task = await given(api)
    assert task.request.result_schema is not None
    assert task.request.result_schema.document["required"] == FORM["required"]
    api.world.agent.tell(task.id, Thinking(node="summarizer", text="It is at ten.", is_answer=True))
    await api.world.end(task, data=TALK, sources=(PAGE,))
    if streamed:
        await stream.reading
        assert (stream.content, stream.finish) == ([TALK], "stop")
        assert "It is at ten." in stream.reasoning
    else:
        message = (await asking).choices[0].message
        assert (message.content, message.parsed) == (TALK, Talk(title="On \u201cends\u201d", minutes=25))


@pytest.mark.parametrize("outcome", [Outcome.FAILED, Outcome.BLOCKED, Outcome.DECLINED])
async def test_without_a_document_the_answer_is_a_refusal(
    api: ApiWorld, client: openai.AsyncOpenAI, outcome: Outcome
) -> None:
    """Seen failing without `_said`: the client failed at words that are no JSON."""
    asking = asyncio.create_task(
        client.chat.completions.parse(model="opengui", messages=said("find the talk"), response_format=Talk)
    )
    await api.world.end(await given(api), outcome)
    told = await asking
    message = told.choices[0].message
    assert (message.content, message.parsed, message.refusal) == (None, None, "It is done.")
    assert (told.model_extra or {})["opengui"]["outcome"] == outcome


async def test_a_question_of_a_task_with_a_form_is_no_document_and_its_answer_gets_one(
    api: ApiWorld, client: openai.AsyncOpenAI
) -> None:
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("book it"), **IN_FORM))
    task = await given(api)
    await api.world.ask(task, choices=("today", "tomorrow"))
    message = (await asking).choices[0].message
    assert (message.content, message.refusal) == (None, "Which one?\n- today\n- tomorrow")
    more = said("book it", message.refusal, "tomorrow")
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=more, **IN_FORM))
    async with asyncio.timeout(5):
        while ("answer", "tomorrow") not in api.world.agent.asked:
            await asyncio.sleep(0.01)
    await api.world.end(task, data=TALK)
    assert (await asking).choices[0].message.content == TALK


@pytest.mark.parametrize(("kind", "schema"), [("text", None), ("json_object", {"type": "object"})])
async def test_forms_without_a_schema(
    api: ApiWorld, client: openai.AsyncOpenAI, kind: Any, schema: dict[str, Any] | None
) -> None:
    asking = asyncio.create_task(
        client.chat.completions.create(model="opengui", messages=said("look"), response_format={"type": kind})
    )
    task = await given(api)
    form = task.request.result_schema
    assert (None if form is None else form.document) == schema
    await api.world.end(task, data='{"a": 1}')
    content = (await asking).choices[0].message.content
    assert content == ('It is done.\n\n{"a": 1}' if schema is None else '{"a": 1}')


async def test_the_same_words_in_another_form_are_another_task(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    first = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("find the talk")))
    task = await given(api)
    other = asyncio.create_task(
        client.chat.completions.create(model="opengui", messages=said("find the talk"), **IN_FORM)
    )
    await given(api, 2)
    (second,) = [each for each in await api.world.task_service.active() if each.id != task.id]
    assert second.request.result_schema is not None
    for each, data in ((task, None), (second, TALK)):
        await api.world.end(each, data=data)
    assert ((await first).choices[0].message.content, (await other).choices[0].message.content) == ("It is done.", TALK)


class Streamed:
    """What came of a stream: both texts, and what its last chunks say."""

    def __init__(self, client: openai.AsyncOpenAI, text: str, **more: Any) -> None:
        self._asking = client.chat.completions.create(model="opengui", messages=said(text), stream=True, **more)
        self.content: list[str] = []
        self.reasoning = ""
        self.finish: str | None = None
        self.state: dict[str, Any] = {}
        self.usage: Any = None
        self.reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for chunk in await self._asking:
            self.usage = chunk.usage
            for choice in chunk.choices:
                delta = choice.delta.model_dump(exclude_none=True)
                self.content += [delta["content"]] if delta.get("content") else []
                self.reasoning += delta.get("reasoning_content", "")
                self.finish = choice.finish_reason
                self.state = (chunk.model_extra or {}).get("opengui", {})


async def test_a_stream_has_what_happens_and_the_answer_in_pieces(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    stream = Streamed(client, "open settings", stream_options={"include_usage": True})
    task = await given(api)
    api.world.agent.tell(task.id, Thinking(node="plan_generator", text="First I "))
    api.world.agent.tell(task.id, Thinking(node="plan_generator", text="look."))
    await api.world.step(task, 1)
    await api.world.step(task, 2)
    await used(api, task, 1)
    for text in ("It is", " done."):
        api.world.agent.tell(task.id, Thinking(node="summarizer", text=text, is_answer=True))
    await api.world.end(task)
    await stream.reading
    *lines, tool = stream.reasoning.split("\n")
    assert lines == ["First I look.", "Tapped Search", "Tapped Search"]
    assert tool.startswith("calculate {")
    assert stream.content == ["It is", " done."], "nothing is said twice"
    assert (stream.finish, stream.state) == ("stop", {"task": task.id, "state": "ended", "outcome": "succeeded"})
    ended = await api.world.task_service.known(task.id)
    assert stream.usage.total_tokens == ended.usage.input + ended.usage.output


@pytest.mark.parametrize(
    ("begun", "content"),
    [
        ([], "It is done."),
        (["It is"], "It is done."),
        (["  It is done.\n"], "  It is done.\n"),
        (["I look it up.", None, "It is done."], "I look it up.\n\nIt is done."),
        (["I have opened it."], "I have opened it.\n\nIt is done."),
        (["It is done. And more"], "It is done. And more\n\nIt is done."),
    ],
)
async def test_an_answer_that_was_begun_ends_as_the_task_did(
    api: ApiWorld, client: openai.AsyncOpenAI, begun: list[str | None], content: str
) -> None:
    """Whatever was sent before, the end of the task is what the answer ends with, once. None stands for a tool."""
    stream = Streamed(client, "open settings")
    task = await given(api)
    for text in begun:
        if text is None:
            async with asyncio.timeout(5):
                while not stream.content:
                    await asyncio.sleep(0.01)
            await used(api, task, 1)
        else:
            api.world.agent.tell(task.id, Thinking(node="coder", text=text, is_answer=True))
    await api.world.end(task)
    await stream.reading
    assert "".join(stream.content) == content


async def test_an_end_that_is_no_success_says_so(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    whole = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("look")))
    task = await given(api)
    await api.world.end(task, Outcome.FAILED)
    assert (await whole).model_extra == {"opengui": {"task": task.id, "state": "ended", "outcome": "failed"}}


@pytest.mark.parametrize("by", ["revoking", "stopping"])
async def test_an_answer_that_is_cut_off_is_an_error(api: ApiWorld, client: openai.AsyncOpenAI, by: str) -> None:
    """Seen failing without CutOff: an empty answer with "stop", as if the task had ended."""
    stream = Streamed(client, "open settings")
    await given(api)
    whole = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("look at the clock")))
    await given(api, 2)
    await asyncio.sleep(0.1)  # both answers are waited for
    if by == "revoking":
        await api.world.rights.revoke_token("ui", ANNA)
    else:
        await api.console.stop()
    with pytest.raises(openai.APIError):
        await stream.reading
    assert (stream.content, stream.finish) == ([], None)
    with pytest.raises(openai.InternalServerError, match="revoked" if by == "revoking" else "stopping"):
        await whole


async def test_an_equal_request_attaches_to_the_task_at_work(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    """Seen failing without the look for it: two tasks, and the phone did it twice."""
    first = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("pay the bill")))
    task = await given(api)
    first.cancel()  # the connection is cut
    again = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("pay the bill")))
    await asyncio.sleep(0.1)
    assert len(await api.world.task_service.active()) == 1
    await api.world.end(task)
    assert (await again).id == f"chatcmpl-{task.id}"


async def test_what_ended_while_the_connection_was_cut_is_told_not_done_again(
    api: ApiWorld, client: openai.AsyncOpenAI
) -> None:
    first = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("pay the bill")))
    task = await given(api)
    first.cancel()
    await asyncio.sleep(0.1)
    await api.world.end(task)
    told = await client.chat.completions.create(model="opengui", messages=said("pay the bill"))
    assert told.id == f"chatcmpl-{task.id}"
    # Its answer has arrived: the same words are a new task now.
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("pay the bill")))
    assert (await given(api)).id != task.id
    asking.cancel()


async def test_a_question_is_an_answer_and_the_next_message_answers_it(
    api: ApiWorld, client: openai.AsyncOpenAI
) -> None:
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("book it")))
    task = await given(api)
    await api.world.ask(task, choices=("today", "tomorrow"))
    asked = (await asking).choices[0].message.content
    assert asked == "Which one?\n- today\n- tomorrow"
    more = said("book it", asked, "tomorrow")
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=more))
    async with asyncio.timeout(5):
        while ("answer", "tomorrow") not in api.world.agent.asked:
            await asyncio.sleep(0.01)
    await api.world.end(task)
    assert (await asking).choices[0].message.content == "It is done."


async def test_what_is_said_while_a_task_is_at_work_is_a_note_for_it(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    create = client.chat.completions.create
    first = asyncio.create_task(create(model="opengui", messages=said("book it")))
    task = await given(api)
    api.world.agent.tell(task.id, Started(run=RunId(task.id), phone="1", phone_name="Pixel"))
    await api.world.until(task, TaskState.WORKING)
    second = asyncio.create_task(create(model="opengui", messages=said("book it", "…", "at noon")))
    async with asyncio.timeout(5):
        while (f"steer {task.id}", "at noon") not in api.world.agent.asked:
            await asyncio.sleep(0.01)
    await api.world.end(task)
    assert {(await each).id for each in (first, second)} == {f"chatcmpl-{task.id}"}


async def begun(api: ApiWorld, client: openai.AsyncOpenAI, *texts: str) -> tuple[Task, asyncio.Task[Any]]:
    """A task at work that a conversation has given with the last of its texts, and the request that waits for it."""
    asking = asyncio.create_task(client.chat.completions.create(model="opengui/Pixel", messages=said(*texts)))
    task = await given(api)
    await api.world.task_service.set_place(task.id, task.origin)  # as where its card is shown
    api.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
    return await api.world.until(task, TaskState.WORKING), asking


@pytest.mark.parametrize("state", [TaskState.WORKING, TaskState.WAITING, TaskState.ENDED])
async def test_a_conversation_that_began_with_the_same_words_is_another_one(
    api: ApiWorld, client: openai.AsyncOpenAI, state: TaskState
) -> None:
    """Seen failing without the look at where the task was given: it was steered, answered and followed from there."""
    task, first = await begun(api, client, "hi", "hello", "book it")
    if state is TaskState.WAITING:
        question = await api.world.ask(task)
    if state is TaskState.ENDED:
        await api.world.end(task)
    asking = asyncio.create_task(
        client.chat.completions.create(model="opengui", messages=said("hi", "hello", "open maps", "…", "tomorrow"))
    )
    other = await given(api, 1 if state is TaskState.ENDED else 2)
    assert (other.text, other.request.follows) == ("tomorrow", "")
    assert api.world.agent.asked == []
    if state is TaskState.WAITING:
        found = await api.world.task_service.question(question.question.id)
        assert found is not None
        assert found.answer is None
    for each in (first, asking):
        each.cancel()


@pytest.mark.parametrize("words", ["feed her", "17:30", "246810", "what do you know about me?"])
async def test_what_ended_in_this_very_conversation_is_followed(
    api: ApiWorld, client: openai.AsyncOpenAI, words: str
) -> None:
    """Also by what looks like a code, and where its words are kept without what they had of control characters. Seen
    failing where `Unclear` and `FactsAsked` knew nothing of it.
    """
    task, first = await begun(api, client, "my\tcat is Mia\r\n\x07")
    await api.world.end(task)
    await first
    asking = asyncio.create_task(
        client.chat.completions.create(model="opengui", messages=said("my\tcat is Mia\r\n\x07", "…", words))
    )
    assert (await given(api)).request.follows == task.id
    asking.cancel()


@pytest.mark.parametrize(
    "more",
    [
        {"model": "opengui/Moto"},
        {"extra_body": {"member": "researcher"}},
        {"extra_body": {"search": True}},
        {"extra_body": {"deep": True}},
        {"extra_body": {"quick": True}},
        IN_FORM,
    ],
)
async def test_what_asks_for_another_phone_or_way_is_no_note(
    api: ApiWorld, client: openai.AsyncOpenAI, more: dict[str, Any]
) -> None:
    """Seen failing without `_goes_with`: the words were a note, and the rest was dropped."""
    _, first = await begun(api, client, "book it")
    wish = {"model": "opengui", "messages": said("book it", "…", "look at the weather"), **more}
    asking = asyncio.create_task(client.chat.completions.create(**wish))
    assert (await given(api, 2)).text == "look at the weather"
    for each in (first, asking):
        each.cancel()


async def test_a_paused_task_gets_no_note(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    task, first = await begun(api, client, "book it")
    await api.world.task_service.pause(task.id, ANNA)
    again = asyncio.create_task(
        client.chat.completions.create(model="opengui", messages=said("book it", "…", "look at the weather"))
    )
    assert (await given(api, 2)).text == "look at the weather"
    for each in (first, again):
        each.cancel()


@pytest.mark.slow
async def test_a_note_is_given_once_and_the_same_words_again_are_another(tmp_path: Path) -> None:
    """Seen failing without `_is_noted`: a service that has been started again was told it twice."""

    def started_again(world: World) -> Sequence[BaseRoute]:
        return [Mount("/v1/again", routes=ChatCompletions(world.services, asyncio.Event()).routes())]

    async with open_api(tmp_path, more=started_again) as api:
        secret = await api.token("ui")
        clients = [
            openai.AsyncOpenAI(api_key=secret, base_url=f"{api.url.with_path(path)}", max_retries=0)
            for path in ("/v1", "/v1/again/v1")
        ]
        task, first = await begun(api, clients[0], "book it")
        waiting = [first]
        for client, texts, notes in (
            (clients[0], ["book it", "…", "go on"], 1),
            (clients[1], ["book it", "…", "go on"], 1),
            (clients[1], ["book it", "…", "go on", "…", "go on"], 2),
        ):
            create = client.chat.completions.create(model="opengui", messages=said(*texts))
            waiting.append(asyncio.create_task(create))
            await asyncio.sleep(0.2)
            assert api.world.agent.asked == [(f"steer {task.id}", "go on")] * notes
        await api.world.end(task)
        assert {(await each).id for each in waiting} == {f"chatcmpl-{task.id}"}
        for client in clients:
            await client.close()


@pytest.mark.parametrize("kind", [QuestionKind.APPROVE, QuestionKind.SECRET, QuestionKind.TAKE_OVER])
async def test_nothing_is_approved_here(api: ApiWorld, client: openai.AsyncOpenAI, kind: QuestionKind) -> None:
    """Seen failing without the look at the kind: "allow" in a chat allowed it."""
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=said("pay")))
    task = await given(api)
    question = await api.world.ask(task, kind)
    told = (await asking).choices[0].message.content or ""
    assert "only a person" in told
    again = await client.chat.completions.create(model="opengui", messages=said("pay", told, "allow"))
    assert "only a person" in (again.choices[0].message.content or "")
    found = await api.world.task_service.question(question.question.id)
    assert found is not None
    assert found.answer is None


async def test_how_a_task_is_done_stands_beside_its_words(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    how = {"deep": True, "search": True, "member": "researcher"}
    create = client.chat.completions.create(model="opengui", messages=said("look"), extra_body=how)
    asking = asyncio.create_task(create)
    task = await given(api)
    assert task.request.options == TaskOptions(deep=True, search=True, member="researcher")
    await api.world.end(task)
    await asking


async def test_pictures_become_files_of_the_task(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    url = f"data:image/png;base64,{base64.b64encode(png()).decode()}"
    parts = [{"type": "text", "text": "send this"}, {"type": "image_url", "image_url": {"url": url}}]
    messages: list[Any] = [{"role": "user", "content": parts}]
    asking = asyncio.create_task(client.chat.completions.create(model="opengui", messages=messages))
    task = await given(api)
    assert [file.name for file in task.request.files] == ["picture1.png"]
    asking.cancel()
    messages[0]["content"][0]["text"] = "send that"
    messages[0]["content"][1]["image_url"]["url"] = "http://169.254.169.254/x.png"
    with pytest.raises(openai.BadRequestError, match="data: URL"):
        await client.chat.completions.create(model="opengui", messages=messages)


def in_form(response_format: str) -> str:
    return f'{{"messages": [{{"role": "user", "content": "x"}}], "response_format": {response_format}}}'


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ("{", 400),
        ('{"messages": []}', 400),
        ('{"messages": [{"role": "user", "content": 5}]}', 400),
        ('{"messages": [{"role": "assistant", "content": "x"}]}', 400),
        ('{"n": 2, "messages": [{"role": "user", "content": "x"}]}', 400),
        ('{"n": 0, "messages": [{"role": "user", "content": "x"}]}', 400),
        (in_form('{"type": "json_schema"}'), 400),
        (in_form('{"type": "json_schema", "json_schema": {"name": "x"}}'), 400),
        (in_form('{"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "thing"}}}'), 400),
        (in_form('{"type": "json_schema", "json_schema": {"name": "x", "schema": {"pattern": "(a+)+$"}}}'), 400),
        (in_form('{"type": "json_schema", "json_schema": {"name": "x", "schema": {"$ref": "http://a/b"}}}'), 400),
        (in_form('{"type": "grammar"}'), 400),
        (in_form('"json"'), 400),
        ('{"model": "gpt-5", "messages": [{"role": "user", "content": "x"}]}', 404),
        ('{"messages": [{"role": "user", "content": "x"}], "model": "opengui/opengui"}', 404),
    ],
)
async def test_bad_requests_are_refused_in_openais_form(api: ApiWorld, body: str, status: int) -> None:
    headers = {"Authorization": f"Bearer {await api.token('bad')}", "Content-Type": "application/json"}
    async with api.session.post(api.url.with_path("/v1/chat/completions"), data=body, headers=headers) as response:
        assert response.status == status
        assert (await response.json())["error"]["message"]
    assert not await api.world.task_service.active()


async def test_without_a_token_nobody_gets_in(api: ApiWorld) -> None:
    for path in ("/v1/models", "/v1/chat/completions", "/mcp"):
        async with api.session.post(api.url.with_path(path), json={}) as response:
            assert response.status == 401


OPEN_WEBUI = (
    "### Task:\nGenerate a concise, 3-5 word title with an emoji summarizing the chat history.\n### Output:\n"
    'JSON format: { "title": "your concise title here" }\n### Chat History:\n<chat_history>\nUSER: open the settings\n'
    "ASSISTANT: done\n</chat_history>"
)
FOLLOW_UPS = '### Task:\nSuggest 3-5 relevant follow-up questions\n### Output:\nJSON format: { "follow_ups": ["Q1"] }'
TAGS = '### Task:\nGenerate 1-3 broad tags\n### Output:\nJSON format: { "tags": ["tag1"] }'
LIBRECHAT = "Provide a concise, 5-word-or-less title for the conversation, using title case.\n\nUser: open the settings"
LOBE = "You are a professional conversation summarizer. Generate a concise title that captures the essence."


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([("user", OPEN_WEBUI)], '{"title": "open the settings ASSISTANT: done </chat_history>"}'),
        ([("user", FOLLOW_UPS)], '{"follow_ups": []}'),
        ([("user", TAGS)], '{"tags": []}'),
        ([("user", LIBRECHAT)], "open the settings"),
        ([("system", LOBE), ("user", "user: open the settings")], "open the settings"),
        ([("user", "Write a title for my note")], None),
        ([("system", "You control a home. Answer briefly."), ("user", "Turn on wifi")], None),
    ],
)
def test_requests_about_a_conversation_touch_no_phone(messages: list[tuple[str, Any]], told: str | None) -> None:
    chat = ChatRequest(messages=[ChatMessage(role=role, content=text) for role, text in messages])  # type: ignore[arg-type]
    found = side_answer(chat)
    if told is None:
        assert found is None
        return
    assert found is not None
    if told.startswith("{") and "title" in told:
        assert json.loads(found)["title"].startswith("open the settings")
    else:
        assert found == told


async def test_a_title_is_no_task(api: ApiWorld, client: openai.AsyncOpenAI) -> None:
    """Seen failing without the look for it: Open WebUI's request was a task, and waited for a phone."""
    async with asyncio.timeout(5):
        told = await client.chat.completions.create(model="opengui", messages=said(OPEN_WEBUI))
    assert "open the settings" in (told.choices[0].message.content or "")
    assert not await api.world.task_service.active()
