"""A conversation: what was said before is known to what is said next, until it is deleted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest

from agent.events import Thinking
from agent.questions import QuestionKind
from agent.run import Outcome
from bot.config.settings import Settings
from bot.domain.address import Person
from bot.domain.task import Task, TaskState
from tests.bot.commands.test_codes import everything_kept
from tests.bot.web.v1.world import ApiWorld, open_api
from tests.bot.world import ANNA, BEN

HALF_A_YEAR = 180 * 86400.0


class Talk:
    """A conversation of a program."""

    def __init__(self, api: ApiWorld, secret: str, number: str) -> None:
        self.api = api
        self.secret = secret
        self.path = f"/conversations/{number}"

    @classmethod
    async def begin(cls, api: ApiWorld, name: str = "ci", owner: Person = ANNA) -> Talk:
        secret = await api.token(name, owner=owner)
        return cls(api, secret, (await api.ask(secret, "POST", "/conversations", {})).body["id"])

    async def say(self, text: str) -> Task:
        """The task that a message became."""
        taken = (await self.api.ask(self.secret, "POST", f"{self.path}/messages", {"text": text})).body
        assert taken["became"] == "task"
        return await self.api.world.task_service.known(taken["task"])

    async def done(self, text: str) -> Task:
        """The same, done."""
        return await self.api.world.end(await self.say(text))

    async def messages(self, more: str = "") -> dict[str, Any]:
        """A page of what was said."""
        answer = await self.api.ask(self.secret, "GET", f"{self.path}/messages{more}")
        assert answer.status == 200
        data: dict[str, Any] = answer.body["data"]
        return data

    async def delete(self, what: str = "") -> int:
        """The status of the answer."""
        return (await self.api.ask(self.secret, "DELETE", self.path + what)).status

    async def known(self, task: Task) -> list[str]:
        """The texts of the earlier tasks that the agent was told of with this one."""
        async with asyncio.timeout(5):
            while not (found := [order for order in self.api.world.agent.orders if order.task == task.id]):
                await asyncio.sleep(0.01)
        return [each.text for each in found[0].earlier]


@pytest.mark.parametrize("pause", [0.0, HALF_A_YEAR])
@pytest.mark.parametrize("outcome", [Outcome.SUCCEEDED, Outcome.FAILED])
async def test_what_was_said_before_is_known_however_long_ago(api: ApiWorld, pause: float, outcome: Outcome) -> None:
    talk = await Talk.begin(api)
    texts = ["my cat is called Mia", "feed her", "again"]
    for number, text in enumerate(texts):
        task = await talk.say(text)
        assert await talk.known(task) == texts[:number]
        await api.world.end(task, outcome)
        api.world.clock.advance(pause)
    posted = await api.ask(talk.secret, "POST", "/tasks", {"text": "and now?", "conversation": talk.path[15:]})
    assert await talk.known(await api.world.task_service.known(posted.body["id"])) == texts
    other = await Talk.begin(api, "other")
    assert await other.known(await other.say("who am I?")) == [], "another conversation of the same person"


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("text", ["246810", "246 810", "hunter2"])
async def test_a_code_that_is_asked_for_elsewhere_is_kept_by_no_program(api: ApiWorld, text: str, late: bool) -> None:
    """Seen failing without `_secret` in `interpret`: it was given to a model as a task, and kept."""
    talk = await Talk.begin(api)
    asked = await api.world.working("read the mail")
    await api.world.ask(asked, QuestionKind.SECRET)
    if late:
        await api.world.end(asked)
    refused = await api.ask(talk.secret, "POST", f"{talk.path}/messages", {"text": text})
    assert (refused.status, refused.body["code"]) == (409, "refused")
    async with openai.AsyncOpenAI(api_key=talk.secret, base_url=f"{api.url.with_path('/v1')}", max_retries=0) as client:
        for texts in ([text], ["hi", text]):
            messages: Any = [{"role": "user", "content": each} for each in texts]
            with pytest.raises(openai.BadRequestError):
                await client.chat.completions.create(model="opengui", messages=messages)
    assert text not in await everything_kept(api.world)
    assert (await talk.say("feed the cat")).text == "feed the cat", "another conversation is about something else"


async def test_a_task_that_still_waits_is_known_too(api: ApiWorld) -> None:
    talk = await Talk.begin(api)
    await talk.say("open settings")
    assert await talk.known(await talk.say("then close them")) == ["open settings"]


@pytest.mark.parametrize("role", [0, 1])
async def test_a_deleted_message_is_told_to_nobody_and_its_task_known_no_more(api: ApiWorld, role: int) -> None:
    """Seen failing without `with_deleted`: the agent was told of it with the next message."""
    talk = await Talk.begin(api)
    for text in ("my cat is called Mia", "my code is 4711", "feed her"):
        await talk.done(text)
    said = (await talk.messages())["items"]
    gone = said[2 + role]
    assert await talk.delete(f"/messages/{gone['id']}") == 204
    assert await talk.delete(f"/messages/{gone['id']}") == 404
    assert (await api.ask(talk.secret, "GET", f"{talk.path}/messages/{gone['id']}")).status == 404
    assert [one["id"] for one in (await talk.messages())["items"]] == [one["id"] for one in said if one is not gone]
    assert await talk.known(await talk.say("and now?")) == ["my cat is called Mia", "feed her"]
    async with await api.stream(talk.secret, talk.path.rpartition("/")[2]) as stream:
        told = [one for _ in range(3) for one in await stream.until("done")]
    of_it = [data for _, name, data in told if data.get("message") == gone["id"]]
    assert all("text" not in data for data in of_it)
    assert [number for number, _, _ in told] == list(range(1, len(told) + 1)), "no number is missing"


@pytest.mark.parametrize("role", [0, 1])
async def test_with_a_message_goes_what_was_thought_about_it(api: ApiWorld, role: int) -> None:
    """Seen failing without `_FORGET_THOUGHTS`: the answer was still told, in pieces."""
    talk = await Talk.begin(api)
    thoughts = {"feed my cat": "Mia eats", "what is 7 times 673": "It is 4711"}
    for words, thought in thoughts.items():
        task = await talk.say(words)
        api.world.agent.tell(task.id, Thinking(node="summarizer", text=thought, reasoning=thought))
        await api.world.end(task)
    assert await talk.delete(f"/messages/{(await talk.messages())['items'][2 + role]['id']}") == 204
    async with await api.stream(talk.secret, talk.path.rpartition("/")[2]) as stream:
        told = [one for _ in range(2) for one in await stream.until("done")]
    pieces = [(data["text"], data["reasoning"]) for _, name, data in told if name == "thinking"]
    assert pieces == [("Mia eats", "Mia eats"), ("", "")]
    assert [number for number, _, _ in told] == list(range(1, len(told) + 1)), "no number is missing"


async def test_the_same_key_does_not_bring_a_deleted_message_back(api: ApiWorld) -> None:
    talk = await Talk.begin(api)
    task = await talk.done("look")
    (mine, _) = (await talk.messages())["items"]
    await talk.delete(f"/messages/{mine['id']}")
    kept = await api.world.store.conversations.say(
        talk.path[15:], "look", task=task.id, key=f"user:{task.request.origin.event}"
    )
    assert kept.text == ""


async def test_a_message_of_a_task_at_work_is_not_deleted(api: ApiWorld) -> None:
    talk = await Talk.begin(api)
    task = await talk.say("look")
    (mine,) = (await talk.messages())["items"]
    assert await talk.delete(f"/messages/{mine['id']}") == 409
    await api.world.end(task)
    assert await talk.delete(f"/messages/{mine['id']}") == 204


async def test_a_message_is_only_its_persons(api: ApiWorld) -> None:
    talk, other = await Talk.begin(api), await api.token("ben", owner=BEN)
    await talk.done("look")
    (mine, _) = (await talk.messages())["items"]
    for method in ("GET", "DELETE"):
        found = await api.ask(other, method, f"{talk.path}/messages/{mine['id']}")
        assert (found.status, found.body["code"]) == (404, "not_found")


async def test_deleting_a_conversation_says_what_becomes_of_its_work(api: ApiWorld) -> None:
    """Seen failing without the look at its tasks: they went on, and nobody heard of them."""
    talk = await Talk.begin(api)
    await talk.done("look")
    tasks = [await talk.say("open settings"), await talk.say("close settings")]
    await api.world.until(tasks[0], TaskState.QUEUED)
    other = await api.world.do("open maps")
    refused = await api.ask(talk.secret, "DELETE", talk.path)
    assert (refused.status, refused.body["code"]) == (409, "refused")
    assert all(task.called in refused.body["message"] for task in tasks)
    deleted = await api.ask(talk.secret, "DELETE", f"{talk.path}?cancel=true")
    assert (deleted.status, sorted(deleted.body["cancelled"])) == (200, [task.id for task in tasks])
    assert (await api.ask(talk.secret, "GET", talk.path)).status == 404
    for task in tasks:
        assert (await api.world.task_service.known(task.id)).outcome is Outcome.CANCELLED
    assert (await api.world.task_service.known(other.id)).state is not TaskState.ENDED


async def test_a_conversation_tells_when_something_was_said_or_done_in_it_last(api: ApiWorld) -> None:
    talk = await Talk.begin(api)

    async def updated() -> float:
        at: float = (await api.ask(talk.secret, "GET", talk.path)).body["updated"]
        return at - 1_000_000.0

    api.world.clock.advance(10)
    assert await updated() == 0
    task = await talk.say("look")
    assert await updated() == 10
    for number, what in enumerate(("step", "end", "rename", "delete"), 2):
        api.world.clock.advance(10)
        match what:
            case "step":
                await api.world.step(task, 1)
            case "end":
                await api.world.end(task)
            case "rename":
                await api.ask(talk.secret, "PATCH", talk.path, {"title": "Home"})
            case _:
                await talk.delete(f"/messages/{(await talk.messages())['items'][0]['id']}")
        assert await updated() == number * 10, what


async def test_messages_come_in_pages_of_fifty(api: ApiWorld) -> None:
    talk = await Talk.begin(api)
    task = await talk.say("look")
    for number in range(60):
        await api.world.store.conversations.say(talk.path[15:], f"{number}", task=task.id, key=f"{number}")
    first = await talk.messages()
    assert (len(first["items"]), first["has_more"]) == (50, True)
    rest = await talk.messages(f"?cursor={first['next_cursor']}")
    assert (len(rest["items"]), rest["next_cursor"]) == (11, None)


@pytest.mark.parametrize(
    "asked",
    [
        "/conversations?limit=0",
        "/conversations?limit=101",
        "/conversations?limit=many",
        "/conversations?cursor=nowhere",
        "/tasks?cursor=x",
        "/tasks?limit=-1&cursor=x",
        "/schedules?limit=1.5",
        "/audit?limit=1000",
        "/tasks/1/steps?cursor=last",
    ],
)
async def test_a_limit_or_cursor_that_is_not_valid_is_a_bad_request(api: ApiWorld, asked: str) -> None:
    found = await api.ask(api.start, "GET", asked)
    assert (found.status, found.body["code"]) == (400, "bad_page")


async def test_a_cursor_of_somebody_else_is_not_valid(api: ApiWorld) -> None:
    talk, other = await Talk.begin(api), await api.token("ben", owner=BEN)
    assert (await api.ask(other, "GET", f"/conversations?cursor={talk.path[15:]}")).status == 400
    assert (await api.ask(talk.secret, "GET", f"/conversations?cursor={talk.path[15:]}")).status == 200


@pytest.mark.parametrize(
    "path",
    [
        "/nowhere",
        "/tasks/99",
        f"/tasks/{'9' * 101}",
        "/tasks/99/steps",
        "/tasks/99/events",
        "/conversations/99",
        "/conversations/99/messages/1",
        "/phones/nowhere",
        "/phones/nowhere/screen",
        "/skills/drafts/99",
    ],
)
async def test_what_does_not_exist_has_one_form(api: ApiWorld, path: str) -> None:
    found = await api.ask(await api.token("ci"), "GET", path)
    assert found.status in {404, 405}
    assert found.status == 405 or (found.body["code"], found.body["details"]) == ("not_found", None)


@pytest.mark.slow
async def test_a_quota_that_is_used_up_is_a_limit_for_every_client(tmp_path: Path) -> None:
    settings = Settings.model_validate({"tiers": {"small": {"tasks": 1}}, "default_tier": "small"})
    async with open_api(tmp_path, settings=settings) as api:
        talk = await Talk.begin(api, owner=BEN)
        await talk.say("look")
        for path in ("/tasks", f"{talk.path}/messages"):
            refused = await api.ask(talk.secret, "POST", path, {"text": "again"})
            assert (refused.status, refused.body["code"]) == (429, "over_quota")
        sent = 0

        async def count(_: object) -> None:
            nonlocal sent
            sent += 1

        base = f"{api.url.with_path('/v1')}"
        async with openai.AsyncOpenAI(api_key=talk.secret, base_url=base, max_retries=2) as client:
            client._client.event_hooks["request"].append(count)
            for stream in (False, True):
                with pytest.raises(openai.RateLimitError) as limit:
                    await client.chat.completions.create(
                        model="opengui", messages=[{"role": "user", "content": "hi"}], stream=stream
                    )
                assert (limit.value.type, limit.value.code) == ("insufficient_quota", "insufficient_quota")
            assert sent == 2, "a client does not try again what cannot succeed today"
            with pytest.raises(openai.NotFoundError):
                await client.chat.completions.create(model="gpt-4o", messages=[{"role": "user", "content": "hi"}])
