"""Several people at one page: each signs in with a token of their own, sees what is theirs, and may do what it says."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, cast

import pytest

from agent.events import Asked, FileFound, Started
from agent.questions import Question, QuestionKind
from agent.run import RunId
from bot.domain.address import Address, Person
from bot.domain.outgoing import Message, Picture
from bot.domain.right import PAGE_PLATFORM, Right
from bot.domain.task import Task, TaskState
from bot.people.access import Policy
from bot.people.rights import Rights
from bot.people.subjects import Subject
from tests.bot.web.standins import picture
from tests.bot.web.test_hand import PicturedPhone
from tests.bot.web.v1.world import Answer, ApiWorld, open_api
from tests.bot.world import ANNA, BEN, World, a_step_event


@dataclass
class Browser:
    """Somebody's browser, signed in."""

    api: ApiWorld
    cookie: str

    @classmethod
    async def enter(cls, api: ApiWorld, typed: str) -> Self:
        path, headers = api.url.with_path("/api/sign-in"), {"Origin": str(api.url.origin())}
        async with api.session.post(path, json={"password": typed}, headers=headers) as told:
            assert told.status == 200, await told.text()
            return cls(api, "; ".join(f"{name}={one.value}" for name, one in told.cookies.items()))

    @property
    def headers(self) -> Mapping[str, str]:
        return {"Cookie": self.cookie, "Origin": str(self.api.url.origin())}

    async def ask(self, method: str, path: str, body: object = None) -> Answer:
        url = self.api.url.with_path(path.partition("?")[0]).with_query(path.partition("?")[2])
        async with self.api.session.request(method, url, json=body, headers=self.headers) as told:
            data = await told.read()
            return Answer(
                told.status, json.loads(data) if data and told.content_type == "application/json" else data, {}
            )

    async def beginning(self) -> str:
        """The cursor from which all of the stream is told."""
        cursor: str = (await self.ask("GET", "/api/state")).body["cursor"]
        return f"0-0-{cursor.rpartition('-')[2]}"

    async def say(self, text: str, event: str) -> Answer:
        return await self.ask("POST", "/api/console/messages", {"text": text, "event": event})

    async def messages(self, thread: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = (await self.ask("GET", f"/api/console/messages?thread={thread}")).body["messages"]
        return found


async def at_work(api: ApiWorld, task: Task) -> Task:
    api.world.agent.tell(task.id, Started(run=RunId(task.id), phone="pixel", phone_name="Pixel"))
    return await api.world.until(task, TaskState.WORKING)


async def test_an_admins_token_makes_an_operator(api: ApiWorld) -> None:
    boss = await Browser.enter(api, await api.token("boss", Right.ADMIN, owner=ANNA))
    assert (await boss.say("/do open settings", "event-0001")).status == 200
    task = (await api.world.task_service.recent(1))[0]
    assert (task.person.platform, task.person.id) == ("web", "boss")
    assert api.world.rights.policy.same(task.person, ANNA)
    state = (await boss.ask("GET", "/api/state")).body
    assert state["may"] == ["approve", "operate", "admin"]
    await api.world.rights.revoke_token("boss", ANNA)
    assert (await boss.ask("GET", "/api/state")).status == 401


async def test_each_sees_and_does_what_is_theirs(api: ApiWorld) -> None:
    """Seen failing with `sees` always true, and with the messages of all in one log."""
    anna = await Browser.enter(api, await api.token("anna", Right.USE, owner=ANNA, phones=("pixel",)))
    ben = await Browser.enter(api, await api.token("ben", Right.APPROVE, owner=BEN))
    boss = await Browser.enter(api, await api.token("boss", Right.ADMIN))
    assert (await anna.say("/do open settings", "event-0001")).status == 200
    task = await at_work(api, (await api.world.task_service.recent(1))[0])
    assert (task.person.platform, task.person.id) == (PAGE_PLATFORM, "anna")
    assert api.world.rights.policy.same(task.person, ANNA)
    # The same name of a line from another page is another line.
    assert (await ben.say("/whoami", "event-0001")).status == 200
    for person, tasks, phones in ((anna, [task.id], ["pixel"]), (ben, [], ["moto", "pixel"]), (boss, [task.id], None)):
        state = (await person.ask("GET", "/api/state")).body
        assert [one["task"] for one in state["tasks"]] == [one["task"] for one in state["work"]] == tasks
        assert phones is None or sorted(one["id"] for one in state["devices"]) == phones
        listed = (await person.ask("GET", "/api/v1/tasks")).body["data"]["items"]
        assert [one["id"] for one in listed] == tasks
        assert (await person.ask("GET", f"/api/v1/tasks/{task.id}")).status == (200 if tasks else 404)
        used = (await person.ask("GET", "/api/v1/statistics")).body
        assert used["total"]["tasks"] == len(tasks)
    assert next(one["content"]["body"] for one in await anna.messages()) == "/do open settings"
    assert next(one["content"]["body"] for one in await ben.messages()) == "/whoami"
    assert await boss.messages() == []
    assert (await ben.ask("GET", "/api/choices")).body == {"phones": [], "people": []}
    # What is not theirs cannot be ended, pressed or spoken to either.
    for line in (f"/cancel {task.id}", f"/pause {task.id}", f"/status {task.id}"):
        await ben.say(line, f"event-{line}")
    assert (await api.world.task_service.known(task.id)).state is TaskState.WORKING
    assert (await anna.say("/do --device moto open the camera", "event-0002")).status == 200
    assert len(await api.world.task_service.recent(5)) == 1
    assert (await anna.ask("GET", "/api/devices/moto/glance")).status == 404


async def test_a_button_changes_no_message_of_anothers_page(api: ApiWorld) -> None:
    """Seen failing with the messages of all in one log: the operator's lost its buttons."""
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    boss = await Browser.enter(api, await api.token("boss", Right.ADMIN))
    await boss.say("/whoami", "event-0001")
    before = await boss.messages()
    for message in before:
        pressed = {"data": "v1:nothing", "message": str(message["id"]), "event": "event-0002"}
        await anna.ask("POST", "/api/console/presses", pressed)
    assert await boss.messages() == before


async def test_an_approval_takes_the_right_and_is_offered_to_who_has_it(api: ApiWorld) -> None:
    use = await Browser.enter(api, await api.token("use", owner=ANNA))
    approve = await Browser.enter(api, await api.token("approve", Right.APPROVE, owner=ANNA))
    await use.say("/do pay", "event-0001")
    task = await at_work(api, (await api.world.task_service.recent(1))[0])
    await api.world.ask(task, QuestionKind.APPROVE, ("allow", "deny"))
    offered = [(await one.ask("GET", "/api/state")).body["questions"][0]["allowed"] for one in (use, approve)]
    assert offered == [False, True]
    await use.say("/answer allow", "event-0002")
    assert ("answer", "allow") not in api.world.agent.asked
    await approve.say("/answer allow", "event-0003")
    assert ("answer", "allow") in api.world.agent.asked


async def test_a_stream_tells_each_what_is_theirs_and_ends_with_the_token(api: ApiWorld) -> None:
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    ben = await Browser.enter(api, await api.token("ben", owner=BEN))

    async def told(browser: Browser, until: str) -> str:
        url = api.url.with_path("/api/events").with_query(since=await browser.beginning())
        heard = ""
        async with api.session.get(url, headers=browser.headers) as stream:
            async for line in stream.content:
                heard += line.decode()
                if until in heard:
                    return heard
        return heard

    await anna.say("/do open settings", "event-0001")
    await ben.say("/whoami", "event-0002")
    heard = await told(anna, '"whole": true')
    assert '"text": "open settings"' in heard
    assert "whoami" not in heard
    heard = await told(ben, '"whole": true')
    assert "open settings" not in heard
    assert "whoami" in heard
    await api.world.rights.revoke_token("ben", ANNA)
    assert (await ben.ask("GET", "/api/events")).status == 401


class TakenRights:
    """Rights in which those of every token can be taken away, while the tokens hold."""

    def __init__(self, world: World) -> None:
        self._rights = world.rights
        self.taken = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._rights, name)

    @property
    def policy(self) -> Policy:
        return replace(self._rights.policy, tokens=()) if self.taken else self._rights.policy


@pytest.mark.slow
async def test_a_stream_ends_when_the_right_to_use_the_page_is_taken(tmp_path: Path) -> None:
    """With the next change, though who reads it is still signed in. Seen failing (what was said comes) without the
    verdict asked again.
    """
    made: list[TakenRights] = []

    def rights(world: World) -> Rights:
        made.append(TakenRights(world))
        return cast("Rights", made[0])

    async with open_api(tmp_path, rights=rights) as api:
        anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
        heard = b""
        url = api.url.with_path("/api/events").with_query(since=await anna.beginning())
        async with asyncio.timeout(20.0), api.session.get(url, headers=anna.headers) as stream:
            await anna.say("/whoami 1", "event-0001")
            while b"/whoami 1" not in heard:
                heard += await stream.content.readline()
            made[0].taken = True
            place = Address(PAGE_PLATFORM, "console", f"{ANNA.platform}:{ANNA.id}")
            await api.world.chats[PAGE_PLATFORM].send(place, Message(body="for Anna"), nonce="n1")
            while line := await stream.content.readline():
                heard += line
                assert b"for Anna" not in heard


async def test_a_stream_asks_for_each_event_whether_it_may_be_shown(api: ApiWorld) -> None:
    """Seen failing (the step is told after the accounts were parted) with the first answer remembered."""
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    other = Person("telegram", "5", "Anna")
    assert await api.world.rights.link(ANNA, other)
    second = await Browser.enter(api, await api.token("second", owner=other))
    await anna.say("/do open settings", "event-0001")
    task = await at_work(api, (await api.world.task_service.recent(1))[0])
    url, heard = api.url.with_path("/api/events").with_query(since=await second.beginning()), ""
    async with asyncio.timeout(20.0), api.session.get(url, headers=second.headers) as stream:

        async def until(words: str) -> None:
            nonlocal heard
            while words not in heard:
                line = await stream.content.readline()
                assert line, "the stream has ended"
                heard += line.decode()

        api.world.agent.tell(task.id, a_step_event(task, 1, summary="Tapped One"))
        await until("Tapped One")
        await api.world.rights.unlink(Subject.of_person(other), other)
        api.world.agent.tell(task.id, a_step_event(task, 2, summary="Tapped Two"))
        await api.world.until(task, lambda now: now.steps == 2)
        for number in (2, 3):  # what is told behind the first is told after the step
            await second.say(f"/whoami {number}", f"event-000{number}")
            await until(f"/whoami {number}")
    assert "Tapped Two" not in heard


async def test_a_picture_is_shown_to_who_may_see_its_task(api: ApiWorld) -> None:
    """Seen failing without the look at whose it is: who knew the reference got the picture, and could have it read by
    a task. That somebody has written the reference down changes nothing.
    """
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    ben = await Browser.enter(api, program := await api.token("ben", owner=BEN))
    boss = await Browser.enter(api, await api.token("boss", Right.ADMIN))
    await anna.say("/do open settings", "event-0001")
    task = await at_work(api, (await api.world.task_service.recent(1))[0])
    frames = api.world.store.frames
    step, asked, sent = [await frames.save(picture(colour), suffix="png") for colour in ("teal", "navy", "red")]
    found = await frames.save(b"a;b", suffix="csv")
    api.world.agent.tell(task.id, a_step_event(task, 1, frame=step), FileFound(name="a.csv", content=found))
    question = Question(id="1.q1", run=RunId(task.id), kind=QuestionKind.ASK, text="Which?", frame=asked)
    api.world.agent.tell(task.id, Asked(question=question))
    await api.world.until(task, TaskState.WAITING)
    place = Address(PAGE_PLATFORM, "console", f"{ANNA.platform}:{ANNA.id}")
    message = Message(body="look", picture=Picture("a.png", await frames.load(sent)))
    await api.world.chats[PAGE_PLATFORM].send(place, message, nonce="n1")
    handed = (await anna.ask("POST", "/api/v1/files", {"a": "file"})).body["content"]
    for reference in (step, asked, sent, handed, found):
        await ben.say(f"see {reference}", f"event-{reference[:8]}")
        statuses = [(await one.ask("GET", f"/api/frames/{reference}")).status for one in (anna, ben, boss)]
        assert statuses == [200, 404, 200], reference
        files = [{"name": "a.png", "content": reference}]
        taken = await ben.ask(
            "POST", "/api/console/messages", {"text": "/do read it", "event": "event-0009", "files": files}
        )
        assert taken.status == 409
        refused = await api.ask(program, "POST", "/tasks", {"text": "read it", "files": files})
        assert (refused.status, refused.body["code"]) == (404, "not_found")
    body = {"text": "/do read it", "event": "event-0010", "files": [{"name": "a", "content": handed}]}
    assert (await anna.ask("POST", "/api/console/messages", body)).status == 200


async def test_the_log_of_a_task_and_what_is_drawn_of_it_are_for_who_may_see_it(api: ApiWorld) -> None:
    """Seen failing without the look at whose it is, in each of the four."""
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    ben = await Browser.enter(api, await api.token("ben", owner=BEN))
    await anna.say("/do open settings", "event-0001")
    task = await at_work(api, (await api.world.task_service.recent(1))[0])
    for number, colour in enumerate(("teal", "navy"), 1):
        frame = await api.world.store.frames.save(picture(colour), suffix="png")
        api.world.agent.tell(task.id, a_step_event(task, number, frame=frame))
    question = Question(id="1.q1", run=RunId(task.id), kind=QuestionKind.ASK, text="Which?", frame=frame)
    api.world.agent.tell(task.id, Asked(question=question))
    await api.world.until(task, TaskState.WAITING)
    recap = f"/api/console/tasks/{task.id}/recap.gif"
    assert (await anna.ask("GET", recap)).status == 404, "it goes on"
    assert (await anna.ask("POST", f"/api/v1/tasks/{task.id}/cancel", {})).status == 200
    await api.world.until(task, TaskState.ENDED)
    pictures = (recap, f"/api/console/tasks/{task.id}/screens.jpg", "/api/console/questions/1.q1/screens.jpg")
    for path in (f"/api/console/log?task={task.id}", *pictures):
        statuses = [(await one.ask("GET", path)).status for one in (anna, ben)]
        assert statuses == [200, 404], path
    events = (await anna.ask("GET", f"/api/console/log?task={task.id}")).body["events"]
    assert [one["kind"] for one in events if one["kind"] != "state"] == [
        "accepted",
        "step",
        "step",
        "asked",
        "question closed",
        "final",
    ]


async def test_an_admin_gives_and_takes_rights_and_tokens_in_the_page(api: ApiWorld) -> None:
    boss = await Browser.enter(api, await api.token("boss", Right.ADMIN))
    wish = {"who": "telegram:77", "right": "approve", "phone": "Pixel"}
    given = await boss.ask("POST", "/api/console/people", wish)
    assert (given.status, "telegram:77" in given.body["text"]) == (200, True)
    (grant,) = [one for one in api.world.rights.policy.grants if one.id == "77"]
    assert (grant.right, grant.phone) == (Right.APPROVE, "pixel")
    for wrong in ({"right": "everything"}, {"who": "nobody"}, {"phone": "nokia"}):
        assert (await boss.ask("POST", "/api/console/people", wish | wrong)).status == 409, wrong
    assert (await boss.ask("POST", "/api/console/people/deny", {"who": "telegram:77"})).status == 200
    assert not [one for one in api.world.rights.policy.grants if one.id == "77"]
    assert (await boss.ask("POST", "/api/console/pairing", {"code": "KM4QX7RT"})).status == 409
    await api.token("ci")
    assert "ci" in (await boss.ask("GET", "/api/console/tokens")).body["text"]
    assert (await boss.ask("POST", "/api/console/tokens/ci/revoke", {})).status == 200
    assert (await boss.ask("POST", "/api/console/tokens/ci/revoke", {})).status == 409
    assert api.world.rights.tokens.named("ci") is None


async def test_a_phone_is_touched_by_who_may_operate_it(api: ApiWorld) -> None:
    """Seen failing with the routes open to who may use the page."""
    api.world.phones.touchable["pixel"] = PicturedPhone()
    use = await Browser.enter(api, await api.token("use", Right.APPROVE, owner=ANNA))
    hand = await Browser.enter(api, await api.token("hand", Right.OPERATE, owner=BEN, phones=("pixel",)))
    assert (await use.ask("POST", "/api/hand", {"phone": "pixel"})).status == 403
    assert (await hand.ask("POST", "/api/hand", {"phone": "moto"})).status == 404
    held = await hand.ask("POST", "/api/hand", {"phone": "pixel"})
    assert held.status == 200, held.body
    for path in ("touch", "done"):
        assert (await use.ask("POST", f"/api/hand/{held.body['hand']}/{path}", {})).status == 403
    assert (await hand.ask("POST", f"/api/hand/{held.body['hand']}/done", {})).status == 200


TAKEN: Mapping[Right, tuple[tuple[str, str], ...]] = {
    Right.USE: (
        ("GET", "/api/state"),
        ("GET", "/api/choices"),
        ("GET", "/api/console/messages"),
        ("POST", "/api/console/messages"),
        ("POST", "/api/console/presses"),
        ("GET", "/api/console/log"),
        ("GET", "/api/console/tasks/1/recap.gif"),
        ("GET", "/api/console/tasks/1/screens.jpg"),
        ("GET", "/api/console/questions/x/screens.jpg"),
        ("GET", "/api/frames/x.png"),
        ("GET", "/api/devices/pixel/glance"),
        ("GET", "/api/devices/pixel/glance/1"),
        ("GET", "/api/v1/tasks"),
        ("GET", "/api/v1/skills"),
        ("POST", "/api/v1/files"),
    ),
    Right.OPERATE: (
        ("POST", "/api/hand"),
        ("GET", "/api/hand/x/stills"),
        ("POST", "/api/hand/x/touch"),
        ("POST", "/api/hand/x/done"),
    ),
    Right.ADMIN: (
        ("GET", "/api/check"),
        ("POST", "/api/check"),
        ("GET", "/api/sessions"),
        ("GET", "/api/logs"),
        ("GET", "/api/fleet"),
        ("POST", "/api/fleet/invite"),
        ("POST", "/api/fleet/revoke"),
        ("POST", "/api/tokens"),
        ("POST", "/api/console/people"),
        ("POST", "/api/console/people/deny"),
        ("GET", "/api/console/pairing"),
        ("POST", "/api/console/pairing"),
        ("GET", "/api/console/tokens"),
        ("POST", "/api/console/tokens/x/revoke"),
        ("GET", "/api/v1/people"),
        ("GET", "/api/v1/audit"),
    ),
}
"""Every route of the console that answers at once, and some below it, by the right that it takes."""
NO_PAGES = frozenset({"/api/logs", "/api/tokens", "/api/fleet", "/api/fleet/invite", "/api/fleet/revoke"})
"""For the start token alone, or the password: who signed in with a token of theirs gets nothing there."""


@pytest.mark.parametrize("right", [Right.USE, Right.APPROVE, Right.OPERATE, Right.ADMIN])
async def test_each_route_takes_its_right(api: ApiWorld, right: Right) -> None:
    """Seen failing without the right that a route takes: what only the operator may read was shown. Also asked by
    nobody, with a program's token, and from another page.
    """
    api.world.phones.touchable["pixel"] = PicturedPhone()
    secret = await api.token("anna", right, owner=ANNA)
    anna = await Browser.enter(api, secret)
    for needed, routes in TAKEN.items():
        for method, path in routes:
            answer = await anna.ask(method, path, {})
            assert (answer.status == 403) == (path in NO_PAGES or not right.includes(needed)), (
                method,
                path,
                answer.body,
            )
            foreign = {"Cookie": anna.cookie, "Origin": "https://evil.example"}
            programs = {"Authorization": f"Bearer {secret}"}
            for headers, status in ((foreign, 403), ({}, 401), (programs, 0 if "/v1/" in path else 401)):
                async with api.session.request(method, api.url.with_path(path), json={}, headers=headers) as told:
                    assert told.status == (status or answer.status), (method, path, headers)
    assert await api.world.task_service.recent(1) == ()


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/api/anything-new", 404),
        ("POST", "/api/v1/conversations", 409),
        ("GET", "/v1/models", 401),
        ("POST", "/mcp", 401),
        ("GET", "/api/devices/moto/glance", 404),
        ("GET", "/api/v1/phones/moto", 404),
        ("GET", "/api/v1/phones/moto/screen", 404),
    ],
)
async def test_what_is_not_theirs_does_not_exist(api: ApiWorld, method: str, path: str, status: int) -> None:
    anna = await Browser.enter(api, await api.token("anna", Right.OPERATE, owner=ANNA, phones=("pixel",)))
    assert (await anna.ask(method, path, {} if method == "POST" else None)).status == status


async def test_signing_out_elsewhere_ends_ones_own_alone(api: ApiWorld) -> None:
    """Seen failing with all sessions ended."""
    secret = await api.token("anna", owner=ANNA)
    one, two = await Browser.enter(api, secret), await Browser.enter(api, secret)
    boss = await Browser.enter(api, await api.token("boss", Right.ADMIN))
    assert (await one.ask("POST", "/api/sign-out", {"others": True})).body == {"ended": 1}
    assert [(await each.ask("GET", "/api/state")).status for each in (one, two, boss)] == [200, 401, 200]


async def test_the_chat_of_the_pages_sends_to_one_person_alone(api: ApiWorld) -> None:
    anna = await Browser.enter(api, await api.token("anna", owner=ANNA))
    ben = await Browser.enter(api, await api.token("ben", owner=Person("discord", "ben")))
    chat = api.world.chats[PAGE_PLATFORM]
    place = Address(PAGE_PLATFORM, "console", f"{ANNA.platform}:{ANNA.id}")
    await chat.send(place, Message(body="for Anna"), nonce="n1")
    assert [one["content"]["body"] for one in await anna.messages()] == ["for Anna"]
    assert await ben.messages() == []
