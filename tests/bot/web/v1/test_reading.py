"""What programs read beside their tasks: memory, the uses of tools, and all that was done under one index."""

from __future__ import annotations

import aiohttp
import pytest

from agent.events import Thinking
from agent.ports.agent import Guidance
from agent.ports.journal import CallKey, NewCall
from bot.domain.right import Right
from bot.domain.task import Task
from bot.people.subjects import Subject
from tests.bot.web.v1.test_conversations import Talk
from tests.bot.web.v1.world import ApiWorld
from tests.bot.world import ANNA, BEN

FORM = "multipart/form-data; boundary=x"


async def used(api: ApiWorld, task: Task, number: int, *, why: str = "") -> None:
    """A member has used a tool for the task; with `why` it was not done."""
    key, call = CallKey(task.id, "coder", 1, number, 0), NewCall("calculate", {"expression": "6*7"}, repeatable=True)
    calls = api.world.store.tool_calls
    if why:
        await calls.refuse(key, call, "failed", {"why": why})
    else:
        await calls.begin(key, call)
        await calls.finish(key, "done", {"told": ["42"]}, 0.5)


async def test_one_reads_what_is_remembered_of_oneself_and_of_nobody_else(api: ApiWorld) -> None:
    secret, other = await api.token("ci", owner=ANNA), await api.token("ben", owner=BEN)
    memory = api.world.services.memory
    kept = await memory.remember(str(Subject.of_person(ANNA)), "My cat is called Mia", phone="pixel")
    await memory.remember(str(Subject.of_person(BEN)), "I am allergic to nuts")
    (fact,) = (await api.ask(secret, "GET", "/memories")).body["data"]["items"]
    assert (fact["id"], fact["text"], fact["phone"], fact["source"]) == (kept.id, kept.text, "pixel", "person")
    (fact,) = (await api.ask(other, "GET", "/memories")).body["data"]["items"]
    assert fact["text"] == "I am allergic to nuts"
    admin = await api.token("boss", Right.ADMIN)
    assert (await api.ask(admin, "GET", "/memories")).body["data"]["items"] == []


async def test_the_uses_of_tools_are_read_by_task_and_by_message(api: ApiWorld) -> None:
    talk, other = await Talk.begin(api), await api.token("ben", owner=BEN)
    task = await talk.say("what is 6 times 7")
    await used(api, task, 1)
    await used(api, task, 2, why="There is no such tool.")
    await api.world.end(task)
    messages = (await talk.messages())["items"]
    paths = [f"/tasks/{task.id}/tool-calls", *(f"{talk.path}/messages/{one['id']}/tool-calls" for one in messages)]
    assert len(paths) == 3
    for path in paths:
        found = (await api.ask(talk.secret, "GET", path)).body["data"]["items"]
        assert [(one["name"], one["member"], one["state"], one["text"]) for one in found] == [
            ("calculate", "coder", "done", "42"),
            ("calculate", "coder", "failed", "There is no such tool."),
        ]
        assert found[0]["arguments"] == {"expression": "6*7"}
        assert (await api.ask(other, "GET", path)).status == 404


async def test_touches_and_tools_have_one_index_in_every_stream(api: ApiWorld) -> None:
    talk = await Talk.begin(api)
    task = await talk.say("look")
    for kind, number in (("tool", 1), ("touch", 1), ("touch", 2), ("tool", 2), ("touch", 3)):
        await (used(api, task, number) if kind == "tool" else api.world.step(task, number))
    await used(api, task, 6, why="It failed.")
    await api.world.end(task)
    for path in (talk.path, f"/tasks/{task.id}"):
        async with await api.stream_of(talk.secret, path) as stream:
            steps = [data for _, name, data in await stream.until("done") if name == "process_step"]
        assert [(one["index"], one["kind"]) for one in steps] == [
            (0, "tool"),
            (1, "touch"),
            (2, "touch"),
            (3, "tool"),
            (4, "touch"),
            (5, "tool"),
        ]
        assert [one["step"] for one in steps if one["kind"] == "touch"] == [0, 1, 2], "as GET steps counts them"
        assert steps[5]["state"] == "failed"


@pytest.mark.parametrize("name", ["note.txt", "../../note.txt", ""])
async def test_a_file_can_be_sent_as_a_form(api: ApiWorld, name: str) -> None:
    secret = await api.token("ci")
    data = bytes(range(256)) + b"\r\n--x\r\n"
    form = aiohttp.FormData(quote_fields=False)
    form.add_field("purpose", "assistants")
    form.add_field("file", data, filename=name or "blob", content_type="text/plain")
    headers = {"Authorization": f"Bearer {secret}"}
    async with api.session.post(api.url.with_path("/api/v1/files"), data=form, headers=headers) as answer:
        assert answer.status == 201, await answer.text()
        taken = await answer.json()
    assert taken["name"] == ("note.txt" if name else "blob")
    assert await api.world.store.frames.load(taken["content"]) == data
    file = {"name": taken["name"], "content": taken["content"]}
    assert (await api.ask(secret, "POST", "/tasks", {"text": "send it", "files": [file]})).status == 201


@pytest.mark.parametrize(
    ("body", "content_type", "status"),
    [
        (b"", FORM, 422),
        (b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n--x--\r\n', FORM, 422),
        (b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nb\r\n--x--\r\n', FORM, 422),
        (b"--y\r\nnothing", FORM, 400),
        (b"--x--", "multipart/form-data", 400),
        (b"x", "text/plain", 415),
    ],
)
async def test_a_form_without_a_file_is_refused(api: ApiWorld, body: bytes, content_type: str, status: int) -> None:
    headers = {"Authorization": f"Bearer {await api.token('ci')}", "Content-Type": content_type}
    async with api.session.post(api.url.with_path("/api/v1/files"), data=body, headers=headers) as answer:
        assert (answer.status, set(await answer.json())) == (status, {"code", "message", "details"})


async def test_a_form_is_taken_for_files_alone(api: ApiWorld) -> None:
    """A page of somebody else could send one without being asked."""
    headers = {"Authorization": f"Bearer {await api.token('ci')}", "Content-Type": FORM}
    for path in ("/api/v1/tasks", "/v1/chat/completions"):
        async with api.session.post(api.url.with_path(path), data=b"--x--", headers=headers) as answer:
            assert answer.status == 415, path


async def test_a_conversation_says_how_answers_without_a_phone_are_worded(api: ApiWorld) -> None:
    secret = await api.token("ci", owner=ANNA)
    made = (await api.ask(secret, "POST", "/conversations", {"temperature": 0, "max_tokens": 99})).body
    path = f"/conversations/{made['id']}"
    renamed = (await api.ask(secret, "PATCH", path, {"title": "Home"})).body
    assert (renamed["temperature"], renamed["max_tokens"]) == (0, 99)
    task = (await api.ask(secret, "POST", f"{path}/messages", {"text": "hi"})).body["task"]
    assert (await api.world.task_service.known(task)).request.guidance == Guidance(temperature=0, max_tokens=99)
    changed = (await api.ask(secret, "PATCH", path, {"temperature": None})).body
    assert (changed["temperature"], changed["max_tokens"]) == (None, 99)
    for wrong in ({"temperature": 3}, {"max_tokens": 0}, {"max_tokens": "99"}):
        assert (await api.ask(secret, "PATCH", path, wrong)).status == 422


async def test_servers_of_others_are_shown_to_admins_and_changed_by_nobody(api: ApiWorld) -> None:
    secret, admin = await api.token("ci"), await api.token("boss", Right.ADMIN)
    assert (await api.ask(secret, "GET", "/mcp-servers")).status == 403
    assert (await api.ask(admin, "GET", "/mcp-servers")).body["data"]["items"] == []
    for method in ("POST", "PATCH", "DELETE"):
        assert (await api.ask(admin, method, "/mcp-servers", {})).status == 405


async def test_a_front_end_is_told_thinking_tool_calls_and_results_in_order(api: ApiWorld) -> None:
    talk = await Talk.begin(api)
    async with await api.stream_of(talk.secret, talk.path) as stream:
        task = await talk.say("what is 6 times 7")
        await stream.until("thinking_start")
        api.world.agent.tell(task.id, Thinking(node="coder", reasoning="I multiply."))
        assert (await stream.until("thinking"))[-1][2]["reasoning"] == "I multiply."
        await used(api, task, 1)
        await api.world.step(task, 1)
        await api.world.end(task)
        told = await stream.until("done")
    names = ["tool_calls", "tool_result", "process_step", "process_step", "message", "done"]
    assert [name for _, name, _ in told] == names
