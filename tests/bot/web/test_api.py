from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from agent.effect_facts import ScreenChanged
from agent.events import Asked, FileFound, Resumed
from agent.models.base import Usage
from agent.questions import QuestionKind
from agent.run import Outcome, RunId
from bot.domain.address import Address, MessageRef, Person
from bot.domain.outgoing import Button, Message, Reply
from bot.domain.task import StepRow, locator
from bot.domain.task_events import Noted, QuestionClosed
from bot.store.task_events import AT_ONCE
from bot.web.api import NOT_KEPT
from bot.web.chat import HOME, OPERATOR
from tests.bot.web.standins import address, ended, picture, question, task
from tests.bot.web.world import World


async def post(client: aiohttp.ClientSession, path: str, **body: object) -> dict[str, Any]:
    async with client.post(path, json=body) as response:
        assert response.status == 200, await response.text()
        answer: dict[str, Any] = await response.json()
        return answer


async def get(client: aiohttp.ClientSession, path: str) -> dict[str, Any]:
    async with client.get(path) as response:
        assert response.status == 200, await response.text()
        answer: dict[str, Any] = await response.json()
        return answer


async def test_a_typed_command_reaches_the_intake_and_its_reply_the_page(
    world: World, client: aiohttp.ClientSession
) -> None:
    world.intake.reply = lambda _: Reply(message=Message(body="1 phone"), toast="Looking.")
    assert await post(client, "/api/console/messages", text="devices", event="event-0001") == {
        "task": "",
        "toast": "Looking.",
    }
    (incoming,) = world.intake.messages
    assert (incoming.person, incoming.command, incoming.event) == (OPERATOR, "devices", "event-0001")
    assert incoming.place.private
    shown = (await get(client, "/api/console/messages"))["messages"]
    assert [(entry["author"], entry["content"]["body"]) for entry in shown] == [
        ("operator", "devices"),
        ("bot", "1 phone"),
    ]
    assert incoming.message == MessageRef(HOME, str(shown[0]["id"]))


@pytest.mark.parametrize(
    ("text", "thread", "command"),
    [
        ("do open settings", "", "do open settings"),
        ("  DO open settings", "", "DO open settings"),
        ("/do open settings", "", "do open settings"),
        ("open settings", "", None),
        ("devices", "", "devices"),
        ("cancel 12", "", "cancel 12"),
        ("screen --full", "", "screen --full"),
        ("set an alarm for 7", "", None),
        ("answer the last mail", "", None),
        ("pause", "t1", None),
        ("cancel that order", "t1", None),
        ("/cancel 1", "t1", "cancel 1"),
        ("the blue one", "t1", None),
    ],
)
async def test_what_counts_as_a_command(
    world: World, client: aiohttp.ClientSession, text: str, thread: str, command: str | None
) -> None:
    await post(client, "/api/console/messages", text=text, thread=thread, event="event-0001")
    (incoming,) = world.intake.messages
    assert incoming.command == (command and command.strip())
    assert incoming.text == text
    assert incoming.place.address == address(thread)


async def test_blank_text_is_passed_on_without_harm(world: World, client: aiohttp.ClientSession) -> None:
    await post(client, "/api/console/messages", text="   ", event="event-0001")
    assert world.intake.messages[0].command is None


async def test_a_command_sent_twice_is_heard_as_one_event(world: World, client: aiohttp.ClientSession) -> None:
    world.intake.reply = lambda _: Reply(message=Message(body="done"))
    for _ in range(2):
        await post(client, "/api/console/messages", text="devices", event="event-0001")
    assert len((await get(client, "/api/console/messages"))["messages"]) == 2


async def test_a_task_that_was_accepted_is_named(world: World, client: aiohttp.ClientSession) -> None:
    world.intake.reply = lambda _: Reply(task="4")
    assert (await post(client, "/api/console/messages", text="do x", event="event-0001"))["task"] == "4"


@pytest.mark.parametrize("text", ["481516", "answer 481516", "/answer 481516"])
async def test_a_code_that_was_asked_for_is_never_kept(world: World, client: aiohttp.ClientSession, text: str) -> None:
    """Failed, with the code in the database file, when `say` showed the text at once."""
    world.tables.tasks = [task()]
    world.tables.questions = [question(QuestionKind.SECRET)]
    await post(client, "/api/console/messages", text=text, thread="t1", event="event-0001")
    assert world.intake.messages[0].text == text
    assert (await get(client, "/api/console/messages?thread=t1"))["messages"][0]["content"]["body"] == NOT_KEPT
    assert not _on_disk(world, "481516")


async def test_a_field_for_secrets_is_never_kept(world: World, client: aiohttp.ClientSession) -> None:
    """What the covered field of a question sends; its answer may come when the question is closed already."""
    world.tables.tasks = [task()]
    world.tables.questions = [question(QuestionKind.SECRET)]
    await post(client, "/api/v1/tasks/1/answer", text="481516", question="q1")
    assert world.tables.answers == [("q1", "481516")]
    world.tables.questions = []
    async with client.post("/api/v1/tasks/1/answer", json={"text": "481516", "question": "q1"}) as response:
        assert response.status == 404
    assert not _on_disk(world, "481516")


async def test_a_command_beside_a_secret_question_is_shown(world: World, client: aiohttp.ClientSession) -> None:
    world.tables.questions = [question(QuestionKind.SECRET)]
    await post(client, "/api/console/messages", text="devices", event="event-0001")
    assert (await get(client, "/api/console/messages"))["messages"][0]["content"]["body"] == "devices"


async def test_a_press_reaches_the_intake(world: World, client: aiohttp.ClientSession) -> None:
    ref = await world.chat.send(address("t1"), Message(buttons=((Button("Stop", "1:stop:1"),),)), nonce="c")
    world.intake.reply = lambda _: Reply(toast="Stopping.")
    answer = await post(
        client, "/api/console/presses", data="1:stop:1", message=ref.message, thread="t1", event="event-0001"
    )
    assert answer["toast"] == "Stopping."
    (press,) = world.intake.presses
    assert (press.data, press.message, press.person) == ("1:stop:1", ref, OPERATOR)


async def test_a_pressed_message_reads_as_the_reply_says_and_that_is_told_once(
    world: World, client: aiohttp.ClientSession
) -> None:
    """The offer keeps no buttons, and its answer is not told below it again."""
    offer = Message(body="Run it?", buttons=((Button("Run", "1:run:1"),),))
    ref = await world.chat.send(address("t1"), offer, nonce="c")
    world.intake.reply = lambda _: Reply(message=Message(body="It runs."), shown=Message(body="It runs."))
    await post(client, "/api/console/presses", data="1:run:1", message=ref.message, thread="t1", event="event-0001")
    (entry,) = (await get(client, "/api/console/messages?thread=t1"))["messages"]
    assert (entry["content"]["body"], entry["content"]["buttons"]) == ("It runs.", [])


async def test_a_message_for_what_is_over_loses_its_buttons_alone(world: World, client: aiohttp.ClientSession) -> None:
    offer = Message(body="Run it?", buttons=((Button("Run", "1:run:1"),),))
    ref = await world.chat.send(address("t1"), offer, nonce="c")
    other = await world.chat.send(address("t1"), offer, nonce="d")
    world.intake.reply = lambda _: Reply(message=Message(body="It is over."), dead=True)
    await post(client, "/api/console/presses", data="1:run:1", message=ref.message, thread="t1", event="event-0001")
    dead, alive, told = (await get(client, "/api/console/messages?thread=t1"))["messages"]
    assert (dead["content"]["body"], dead["content"]["buttons"]) == ("Run it?", [])
    assert alive["content"]["buttons"], "nobody pressed that one"
    assert told["content"]["body"] == "It is over."
    await world.chat.delete(other)
    await post(client, "/api/console/presses", data="1:run:1", message=other.message, thread="t1", event="event-0002")
    assert len((await get(client, "/api/console/messages?thread=t1"))["messages"]) == 3, (
        "a message that is gone is answered"
    )


async def test_an_answer_that_the_question_shows_is_told_once(world: World, client: aiohttp.ClientSession) -> None:
    """ "Answered by operator: blue" stands in the question alone; what nothing became of, there with the reason."""
    world.intake.reply = lambda _: Reply(message=Message(body="Answered by operator: blue"), told=True)
    answer = await post(client, "/api/console/messages", text="blue", thread="t1", event="event-0001")
    assert answer["toast"] == "Answered by operator: blue"
    assert world.intake.messages[0].message is None
    assert (await get(client, "/api/console/messages?thread=t1"))["messages"] == []
    world.intake.reply = lambda _: Reply(message=Message(body="Nobody asks."))
    await post(client, "/api/console/messages", text="red", thread="t1", event="event-0002")
    shown = (await get(client, "/api/console/messages?thread=t1"))["messages"]
    assert [entry["content"]["body"] for entry in shown] == ["red", "Nobody asks."]


async def test_what_is_told_of_a_task_is_no_message(world: World, client: aiohttp.ClientSession) -> None:
    """Its log says the same; a card and a question were there twice."""
    ref = await world.chat.send(address("t1"), Message(body="Step 1", card=True, task="1"), nonce="c")
    await world.chat.edit(ref, Message(body="Step 2", card=True, task="1"))
    await world.chat.send(address("t1"), Message(body="Done.", final=True, task="1"), nonce="f")
    assert (await get(client, "/api/console/messages?thread=t1"))["messages"] == []
    assert await world.log.revision() == 0


async def test_the_log_of_a_task_is_read_from_its_beginning(world: World, client: aiohttp.ClientSession) -> None:
    closed = replace(question(QuestionKind.ASK, "1"), answer="blue", answered_by="Ann", closed=time.time())
    world.tables.tasks, world.tables.closed = [task("1")], [closed]
    world.tables.happens("2", Noted(text="of another", by="Ann"))
    world.tables.happens("1", Noted(text="faster", by="Ann"), Resumed(question="q1"), Asked(question=closed.question))
    world.tables.happens("1", QuestionClosed(question="q1", by="Ann"), FileFound(name="a.csv", content="abc.csv"))
    found = await get(client, "/api/console/log?task=1")
    assert [(one["number"], one["kind"]) for one in found["events"]] == [
        (1, "accepted"),
        (2, "note"),
        (4, "asked"),
        (5, "question closed"),
        (6, "file"),
    ]
    assert "blue" in found["events"][3]["text"]
    assert found["next"] is None
    for _ in range(AT_ONCE):
        world.tables.happens("1", Noted(text="more", by="Ann"))
    first = await get(client, "/api/console/log?task=1")
    rest = await get(client, f"/api/console/log?task=1&after={first['next']}")
    assert [one["number"] for one in rest["events"]] == list(range(AT_ONCE + 1, AT_ONCE + 7))
    for refused, status in (("task=9", 404), ("task=1&after=x", 400)):
        async with client.get(f"/api/console/log?{refused}") as response:
            assert response.status == status


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": "x"},
        {"text": "", "event": "event-0001"},
        {"text": "x", "event": "event-0001", "person": "root"},
        {"text": ["x"], "event": "event-0001"},
        {"text": "x" * 20_001, "event": "event-0001"},
        [],
        "do harm",
    ],
)
async def test_a_body_in_another_form_is_refused(world: World, client: aiohttp.ClientSession, body: object) -> None:
    async with client.post("/api/console/messages", json=body) as response:
        assert response.status == 400
        assert "is not valid" in (await response.json())["message"]
    assert not world.intake.messages


async def test_a_refusal_never_repeats_the_value(client: aiohttp.ClientSession) -> None:
    async with client.post("/api/console/messages", json={"event": "event-0001", "text": ["481516"]}) as response:
        assert "481516" not in await response.text()


async def test_no_json_at_all(client: aiohttp.ClientSession) -> None:
    async with client.post(
        "/api/console/messages", data=b"{", headers={"Content-Type": "application/json"}
    ) as response:
        assert response.status == 400


async def test_old_messages_come_page_by_page(world: World, client: aiohttp.ClientSession) -> None:
    for number in range(130):
        await world.chat.send(address("t1"), Message(body=str(number)), nonce=str(number))
    seen: list[str] = []
    before, more = "", True
    while more:
        answer = await get(client, f"/api/console/messages?thread=t1{before}")
        seen = [entry["content"]["body"] for entry in answer["messages"]] + seen
        before, more = f"&before={answer['messages'][0]['id']}", answer["more"]
    assert seen == [str(number) for number in range(130)]
    async with client.get("/api/console/messages?before=x") as response:
        assert response.status == 400


async def test_tasks_phones_and_questions_as_json(world: World, client: aiohttp.ClientSession) -> None:
    discord = Address("discord", "bot", "c", "g", "t")
    world.tables.tasks = [
        task("3"),
        ended(
            "2",
            Outcome.SUCCEEDED,
            summary="91 %",
            data="91",
            origin=discord,
            place=discord,
            person=Person("discord", "5", "Ann"),
        ),
    ]
    world.tables.questions = [
        question(QuestionKind.ASK, "3"),
        question(QuestionKind.APPROVE, "4", MessageRef(discord, "77")),
    ]
    world.tables.parts = [task("4", parent="3", place=None, phone="moto")]
    tasks = (await get(client, "/api/v1/tasks"))["data"]["items"]
    assert [(one["id"], one["state"], one["outcome"], one["thread"]) for one in tasks] == [
        ("3", "working", None, "t3"),
        ("2", "ended", "succeeded", None),
    ]
    assert (tasks[1]["person"], tasks[1]["person_name"]) == ("discord:5", "Ann")
    assert tasks[0]["tokens"]["input"] == 1200
    (device,) = (await get(client, "/api/v1/phones"))["data"]["items"]
    assert (device["id"], device["state"], device["usable"], device["task"]) == ("pixel", "ready", True, "3")
    state = await get(client, "/api/state")
    assert state["devices"][0]["tasks"] == ["3"]
    asked = [(one["task"], [each["data"] for each in one["told"]["buttons"]]) for one in state["questions"]]
    of_ask, of_approval = locator("q3"), locator("q4")
    assert asked == [
        ("3", ["1:stop:3"]),
        ("3", [f"1:ans:{of_approval}:allow", f"1:ans:{of_approval}:deny", "1:stop:4"]),
    ]
    assert of_ask != of_approval
    commands = {one["name"]: one for one in state["commands"]}
    assert commands["screen"]["argument"] == "device"
    assert [one["name"] for one in commands["do"]["options"]][:2] == ["device", "quick"]
    assert state["cursor"] == "0-0"


async def test_the_steps_of_a_task(world: World, client: aiohttp.ClientSession) -> None:
    row = StepRow(
        "3",
        RunId("3"),
        1,
        2,
        60,
        "Tapped Wi-Fi",
        "",
        {"kind": "tap"},
        (ScreenChanged(),),
        "Settings",
        None,
        (3, 4),
        Usage(),
        1.5,
        9.0,
    )
    world.tables.steps = [row]
    world.tables.tasks = [task("3")]
    (step,) = (await get(client, "/api/v1/tasks/3/steps"))["data"]["items"]
    assert (step["step"], step["summary"], step["mark"], step["action"]) == (2, "Tapped Wi-Fi", [3, 4], {"kind": "tap"})
    assert step["tokens"]["input"] == 0
    async with client.get("/api/v1/tasks/none/steps") as response:
        assert response.status == 404


async def test_older_tasks_come_a_page_at_a_time(world: World, client: aiohttp.ClientSession) -> None:
    world.tables.tasks = [ended(str(number), Outcome.SUCCEEDED) for number in range(130, 0, -1)]
    first = (await get(client, "/api/v1/tasks?limit=100"))["data"]
    rest = (await get(client, f"/api/v1/tasks?limit=100&cursor={first['next_cursor']}"))["data"]
    assert [one["id"] for one in first["items"] + rest["items"]] == [str(number) for number in range(130, 0, -1)]
    assert (first["has_more"], rest["has_more"]) == (True, False)
    for cursor in ("x", "-1"):
        async with client.get("/api/v1/tasks", params={"cursor": cursor}) as response:
            assert response.status == 400


async def test_one_task(world: World, client: aiohttp.ClientSession) -> None:
    world.tables.tasks = [task("3")]
    assert (await get(client, "/api/v1/tasks/3"))["text"] == "open settings"
    async with client.get("/api/v1/tasks/4") as response:
        assert response.status == 404


async def test_pictures_are_shown_and_everything_else_is_a_download(
    world: World, client: aiohttp.ClientSession
) -> None:
    """Failed for the page when the type was taken from the name: what a phone sends must never run here."""
    shown = await world.frames.save(picture(), suffix=".png")
    page = await world.frames.save(b"<script>alert(1)</script>", suffix=".html")
    fake = await world.frames.save(b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", suffix=".png")
    async with client.get(f"/api/frames/{shown}") as response:
        assert (response.status, response.content_type) == (200, "image/png")
        assert await response.read() == picture()
        assert "immutable" in response.headers["Cache-Control"]
    for reference in (page, fake):
        async with client.get(f"/api/frames/{reference}") as response:
            assert response.content_type == "application/octet-stream"
            assert response.headers["Content-Disposition"] == "attachment"
            assert response.headers["Content-Security-Policy"].startswith("sandbox")


@pytest.mark.parametrize(
    "reference", ["a" * 64 + ".png", "..%2f..%2fconsole.json", "%2e%2e", "console.json", "a/b", "x" * 300]
)
async def test_a_reference_that_is_none_shows_nothing(client: aiohttp.ClientSession, reference: str) -> None:
    async with client.get(f"/api/frames/{reference}") as response:
        assert response.status == 404


@pytest.mark.parametrize(
    ("first", "kind"), [(b"\xff\xd8\xff", "image/jpeg"), (b"GIF89a", "image/gif"), (b"RIFF\0\0\0\0WEBP", "image/webp")]
)
async def test_picture_types(world: World, client: aiohttp.ClientSession, first: bytes, kind: str) -> None:
    reference = await world.frames.save(first + b"rest", suffix=".bin")
    async with client.get(f"/api/frames/{reference}") as response:
        assert response.content_type == kind


def _on_disk(world: World, text: str) -> bool:
    files = [path for path in world.directory.rglob("*") if path.is_file()]
    assert files
    return any(text.encode() in path.read_bytes() for path in files)
