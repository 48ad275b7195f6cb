"""What programs can do: tasks, conversations, phones and records, each with the rights of its token."""

from __future__ import annotations

import asyncio

import pytest

from agent.events import Resumed, Started, Thinking
from agent.ports.journal import CallKey, NewCall
from agent.questions import QuestionKind
from agent.run import RunId
from bot.domain.right import Right
from bot.domain.task import TaskState
from tests.bot.web.v1.world import ApiWorld
from tests.bot.world import ANNA, BEN


async def test_a_task_is_given_and_looked_at(api: ApiWorld) -> None:
    secret = await api.token("ci", owner=ANNA)
    made = await api.ask(secret, "POST", "/tasks", {"text": "open settings", "phone": "pixel"})
    assert made.status == 201
    assert made.headers["Location"] == f"/api/v1/tasks/{made.body['id']}"
    assert made.headers["X-Request-Id"]
    assert (made.body["state"], made.body["person"], made.body["phone"]) == ("queued", "api:ci", "pixel")
    listed = await api.ask(secret, "GET", "/tasks")
    assert [one["id"] for one in listed.body["data"]["items"]] == [made.body["id"]]
    assert (await api.ask(secret, "GET", f"/tasks/{made.body['id']}")).body["text"] == "open settings"


async def test_a_task_that_follows_up_another(api: ApiWorld) -> None:
    secret, other = await api.token("ci", owner=ANNA), await api.token("other", owner=BEN)
    first = (await api.ask(secret, "POST", "/tasks", {"text": "look up the weather"})).body["id"]
    body = {"text": "and tomorrow?", "follows": first}
    assert (await api.ask(secret, "POST", "/tasks", body)).body["follows"] == first
    refused = await api.ask(other, "POST", "/tasks", body)
    assert (refused.status, refused.body["code"]) == (404, "not_found")


async def test_what_belongs_to_a_person_is_one_persons_over_all_their_tokens(api: ApiWorld) -> None:
    one, two = await api.token("one", owner=ANNA), await api.token("two", owner=ANNA)
    other = await api.token("other", owner=BEN)
    task = (await api.ask(one, "POST", "/tasks", {"text": "open settings"})).body["id"]
    assert (await api.ask(two, "POST", f"/tasks/{task}/cancel")).body["state"] == "ended"
    refused = await api.ask(other, "GET", f"/tasks/{task}")
    assert (refused.status, refused.body["code"]) == (404, "not_found")


async def test_an_idempotency_key_has_one_effect(api: ApiWorld) -> None:
    """Seen failing without `begin`: two tasks."""
    secret = await api.token("ci")
    body = {"text": "open settings"}
    first, second = [await api.ask(secret, "POST", "/tasks", body, Idempotency_Key="k-1") for _ in range(2)]
    assert first.body == second.body
    assert second.headers["Idempotent-Replay"] == "true"
    other = await api.ask(secret, "POST", "/tasks", {"text": "open the camera"}, Idempotency_Key="k-1")
    assert (other.status, other.body["code"]) == (422, "key_used")
    assert len(await api.world.task_service.recent(10)) == 1
    # Another token's keys are its own, and what was refused may come again.
    await api.ask(await api.token("two"), "POST", "/tasks", {"text": "other"}, Idempotency_Key="k-1")
    assert (await api.ask(secret, "POST", "/tasks/99/cancel", Idempotency_Key="k-2")).status == 404
    assert (await api.ask(secret, "POST", "/tasks/99/cancel", Idempotency_Key="k-2")).status == 404
    assert len(await api.world.task_service.recent(10)) == 2


async def test_a_request_that_was_cut_off_by_a_crash_gives_no_second_task(api: ApiWorld) -> None:
    """Seen failing with an event of its own for each request."""
    secret = await api.token("ci")
    made = await api.ask(secret, "POST", "/tasks", {"text": "open settings"}, Idempotency_Key="k")

    async def forget(transaction: object) -> None:
        await transaction.fetch("UPDATE api_requests SET status = 0, body = ''")  # type: ignore[attr-defined]  # a Transaction

    await api.world.store.write(forget)
    again = await api.ask(secret, "POST", "/tasks", {"text": "open settings"}, Idempotency_Key="k")
    assert again.body["id"] == made.body["id"]


async def test_a_conversation_tells_what_happens_without_a_gap(api: ApiWorld) -> None:
    secret = await api.token("ci", owner=ANNA)
    conversation = (await api.ask(secret, "POST", "/conversations", {"title": "Home"})).body["id"]
    async with await api.stream(secret, conversation) as stream:
        taken = await api.ask(secret, "POST", f"/conversations/{conversation}/messages", {"text": "open settings"})
        assert taken.body["became"] == "task"
        task = await api.world.task_service.known(taken.body["task"])
        assert (await stream.next()) == (1, "thinking_start", {"index": 1, "task": task.id})
        api.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
        api.world.agent.tell(task.id, Thinking(node="planner", text="First I"))
        assert (await stream.next()) == (
            2,
            "thinking",
            {"index": 2, "task": task.id, "node": "planner", "text": "First I", "reasoning": "", "is_answer": False},
        )
        for number in (1, 2):
            await api.world.step(task, number)
        asked = await api.world.ask(task)
        told = await stream.until("message")
        assert [(number, name) for number, name, _ in told] == [
            (3, "process_step"),
            (4, "process_step"),
            (5, "message"),
        ]
        assert told[-1][2]["question"] == asked.question.id
        answered = await api.ask(secret, "POST", f"/conversations/{conversation}/messages", {"text": "the blue one"})
        assert answered.body["became"] == "answer"
        api.world.agent.tell(task.id, Resumed(question=asked.question.id))
        await api.world.until(task, TaskState.WORKING)
        await api.world.end(task)
        told = await stream.until("done")
        assert [name for _, name, _ in told] == ["message", "done"]
        assert told[-1][2]["outcome"] == "succeeded"
        assert told[-1][2]["message"] == told[0][2]["message"]
    # What was missed is told again behind the last number that came.
    async with await api.stream(secret, conversation, "5") as stream:
        assert [number for number, _, _ in await stream.until("done")] == [6, 7]
    messages = (await api.ask(secret, "GET", f"/conversations/{conversation}/messages?limit=2")).body["data"]
    assert [one["text"] for one in messages["items"]] == ["open settings", "Which one?"]
    assert messages["has_more"]
    rest = await api.ask(
        secret, "GET", f"/conversations/{conversation}/messages?limit=50&cursor={messages['next_cursor']}"
    )
    assert [one["role"] for one in rest.body["data"]["items"]] == ["user", "assistant"]


async def test_tool_calls_are_told_as_they_are_made_and_once(api: ApiWorld) -> None:
    secret, calls = await api.token("ci", owner=ANNA), api.world.store.tool_calls
    conversation = (await api.ask(secret, "POST", "/conversations", {})).body["id"]
    async with await api.stream(secret, conversation) as stream:
        await api.ask(secret, "POST", f"/conversations/{conversation}/messages", {"text": "what is 6 times 7"})
        task = await api.world.task_service.known("1")
        await stream.until("thinking_start")
        one, two = CallKey(task.id, "coder", 1, 1, 0), CallKey(task.id, "coder", 1, 1, 1)
        await calls.begin(one, NewCall("calculate", {"expression": "6*7"}, repeatable=True))
        assert (await stream.next() or ())[1:] == (
            "tool_calls",
            {
                "index": 2,
                "task": "1",
                "call": "1-coder-1-1-0",
                "member": "coder",
                "name": "calculate",
                "arguments": {"expression": "6*7"},
            },
        )
        await calls.finish(one, "done", {"told": ["42"]}, 0.5)
        number, name, told = await stream.next() or (0, "", {})
        assert (number, name, told["call"], told["state"], told["text"]) == (
            3,
            "tool_result",
            "1-coder-1-1-0",
            "done",
            "42",
        )
        await calls.refuse(two, NewCall("shell", {"command": "x"}), "skipped", {"why": "A call before it failed."})
        told_then = await stream.until("tool_result")
        names = [(4, "process_step"), (5, "tool_calls"), (6, "tool_result")]
        assert [(number, name) for number, name, _ in told_then] == names
        assert told_then[-1][2]["text"] == "A call before it failed."
        await api.world.end(task)
        assert [number for number, _, _ in await stream.until("done")] == [7, 8, 9]


async def test_a_conversation_says_how_its_tasks_are_thought_about(api: ApiWorld) -> None:
    secret = await api.token("ci", owner=ANNA)
    made = await api.ask(secret, "POST", "/conversations", {"system_prompt": "Answer in French."})
    assert (made.status, made.body["model"], made.body["system_prompt"]) == (201, "", "Answer in French.")
    path = f"/conversations/{made.body['id']}"
    model = (await api.ask(secret, "GET", "/models")).body["data"]["items"][0]["name"]
    refused = await api.ask(secret, "PATCH", path, {"model": "gpt-99", "system_prompt": "Obey."})
    assert (refused.status, refused.body["code"]) == (404, "not_found")
    assert model in refused.body["message"]
    first = (await api.ask(secret, "POST", f"{path}/messages", {"text": "one"})).body["task"]
    await api.world.end(await api.world.task_service.known(first))
    changed = await api.ask(secret, "PATCH", path, {"model": model, "title": "Home"})
    assert (changed.body["model"], changed.body["title"]) == (model, "Home")
    assert changed.body["system_prompt"] == "Answer in French."
    second = (await api.ask(secret, "POST", "/tasks", {"text": "two", "conversation": made.body["id"]})).body["id"]
    outside = (await api.ask(secret, "POST", "/tasks", {"text": "three"})).body["id"]
    told = [(await api.world.task_service.known(task)).request.guidance for task in (first, second, outside)]
    assert [(one.model, one.instructions) for one in told] == [
        ("", "Answer in French."),
        (model, "Answer in French."),
        ("", ""),
    ]
    orders = {order.task: order.guidance for order in api.world.agent.orders}
    assert [orders[task] for task in (first, second, outside)] == told
    empty = await api.ask(secret, "PATCH", path, {"model": "", "system_prompt": ""})
    assert (empty.body["model"], empty.body["system_prompt"]) == ("", "")


async def test_a_revoked_token_ends_its_stream(api: ApiWorld) -> None:
    """Seen failing without the look at `revoked`: it went on until the next heartbeat."""
    secret = await api.token("ci")
    conversation = (await api.ask(secret, "POST", "/conversations", {})).body["id"]
    async with await api.stream(secret, conversation) as stream, asyncio.timeout(5):
        ending = asyncio.ensure_future(stream.next())
        await asyncio.sleep(0)
        await api.world.rights.revoke_token("ci", ANNA)
        assert await ending is None
    assert (await api.ask(secret, "GET", "/me")).status == 401


async def test_an_approval_takes_the_right_to_approve(api: ApiWorld) -> None:
    use, approve = await api.token("use", owner=ANNA), await api.token("approve", Right.APPROVE, owner=ANNA)
    task = await api.world.task_service.known((await api.ask(use, "POST", "/tasks", {"text": "pay"})).body["id"])
    api.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
    await api.world.until(task, TaskState.WORKING)
    await api.world.ask(task, QuestionKind.APPROVE, ("allow", "deny"))
    refused = await api.ask(use, "POST", f"/tasks/{task.id}/answer", {"text": "allow"})
    assert (refused.status, refused.body["code"]) == (403, "not_allowed")
    assert (await api.ask(use, "GET", f"/tasks/{task.id}")).body["questions"][0]["kind"] == "approve"
    allowed = await api.ask(approve, "POST", f"/tasks/{task.id}/answer", {"text": "allow"})
    assert (allowed.status, allowed.body["questions"]) == (200, [])


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/tasks", {}, 422, "bad_request"),
        ("POST", "/tasks", {"text": "x", "more": 1}, 422, "bad_request"),
        ("POST", "/tasks", {"text": 7}, 422, "bad_request"),
        ("POST", "/tasks", {"text": "x" * 20_001}, 422, "bad_request"),
        ("POST", "/tasks", {"text": "x", "phone": "nowhere"}, 404, "not_found"),
        ("POST", "/tasks", {"text": "x", "conversation": "nowhere"}, 404, "not_found"),
        ("POST", "/tasks", {"text": "x", "files": [{"name": "a", "content": "gone"}]}, 404, "not_found"),
        ("POST", "/tasks", {"text": "\u0000"}, 422, "bad_text"),
        ("GET", f"/tasks/{10**30}", None, 404, "not_found"),
        ("GET", "/tasks?limit=101", None, 400, "bad_page"),
        ("GET", f"/tasks?cursor={'9' * 19}", None, 400, "bad_page"),
        ("GET", f"/statistics?days={10**20}", None, 422, "bad_request"),
        ("GET", "/phones/nowhere", None, 404, "not_found"),
        ("GET", "/nowhere", None, 404, "not_found"),
        ("PUT", "/tasks", None, 405, "method_not_allowed"),
        ("POST", "/schedules", {"rule": "now and then", "text": "look"}, 409, "refused"),
        ("GET", "/people", None, 403, "not_allowed"),
        ("GET", "/audit", None, 403, "not_allowed"),
        ("GET", "/me?key=ogt_0123456789abcdef", None, 400, "token_in_address"),
    ],
)
async def test_what_is_wrong_is_told_and_nothing_is_done(
    api: ApiWorld, method: str, path: str, body: object, status: int, code: str
) -> None:
    secret = await api.token("ci")
    found = await api.ask(secret, method, path, body)
    assert (found.status, found.body["code"]) == (status, code)
    assert found.body["message"]
    assert await api.world.task_service.recent(1) == ()


async def test_the_rest_reads_as_it_is(api: ApiWorld) -> None:
    secret = await api.token("boss", Right.ADMIN)
    phones = (await api.ask(secret, "GET", "/phones")).body["data"]["items"]
    assert [one["id"] for one in phones] == ["pixel", "moto"]
    assert (await api.ask(secret, "GET", "/phones/pixel/screen")).body.startswith(b"\xff\xd8")
    made = await api.ask(secret, "POST", "/schedules", {"rule": "every 2h", "text": "look at the mail"})
    assert made.status == 201, made.body
    path = f"/schedules/{made.body['id']}"
    assert (await api.ask(secret, "POST", f"{path}/pause")).body["paused"]
    assert not (await api.ask(secret, "POST", f"{path}/resume")).body["paused"]
    assert (await api.ask(secret, "DELETE", path)).status == 204
    assert (await api.ask(secret, "GET", "/schedules")).body["data"]["items"] == []
    for path in ("/models", "/statistics?by=model", "/quota", "/me", "/people", "/audit", "/tasks", "/tools"):
        assert (await api.ask(secret, "GET", path)).status == 200, path
    file = await api.session.post(
        api.url.with_path("/api/v1/files"),
        data=b"hello",
        headers={"Authorization": f"Bearer {secret}", "Content-Type": "application/octet-stream"},
    )
    content = (await file.json())["content"]
    task = await api.ask(
        secret, "POST", "/tasks", {"text": "send it", "files": [{"name": "a.txt", "content": content}]}
    )
    assert task.status == 201


async def test_a_task_is_given_again_stepped_into_and_hurried(api: ApiWorld) -> None:
    """Everything that a chat does to a task; `latest` is one's own that is meant where none is named."""
    anna = await api.token("anna", Right.APPROVE, owner=ANNA)
    ben = await api.token("ben", owner=BEN)
    assert (await api.ask(ben, "POST", "/tasks/latest/pause")).status == 404
    made = (await api.ask(anna, "POST", "/tasks", {"text": "look", "quick": True, "phone": "pixel"})).body
    api.world.agent.tell(made["id"], Started(run=RunId(made["id"]), phone="pixel", phone_name="Pixel"))
    task = await api.world.until(await api.world.task_service.known(made["id"]), TaskState.WORKING)
    held = (await api.ask(anna, "POST", "/tasks/latest/take-over")).body
    assert (held["id"], held["state"]) == (task.id, "paused")
    assert held["told"]
    assert (await api.ask(anna, "POST", f"/tasks/{task.id}/resume", {"text": "go"})).status == 200
    wish = {"changes": "and once more", "quick": False}
    again = await api.ask(anna, "POST", f"/tasks/{task.id}/again", wish, Idempotency_Key="k1")
    assert (again.status, again.headers["Location"]) == (201, f"/api/v1/tasks/{again.body['id']}")
    repeated = await api.world.task_service.known(again.body["id"])
    assert (repeated.request.phones, repeated.request.options.quick) == (task.request.phones, False)
    assert "and once more" in repeated.text
    same = await api.ask(anna, "POST", f"/tasks/{task.id}/again", wish, Idempotency_Key="k1")
    assert same.body["id"] == again.body["id"]
    refused = await api.ask(anna, "POST", f"/tasks/{again.body['id']}/hurry")
    assert (refused.status, refused.body["code"]) == (409, "refused"), "it waits for no phone here"
    use = await api.token("use", Right.USE, owner=ANNA)
    assert (await api.ask(use, "POST", f"/tasks/{again.body['id']}/hurry")).status == 403
    for deed in ("again", "hurry", "take-over"):
        assert (await api.ask(ben, "POST", f"/tasks/{task.id}/{deed}")).status == 404, deed
