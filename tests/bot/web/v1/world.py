"""A service with its API on a real port: real store, task service and rights; an agent that is led by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import aiohttp
from starlette.routing import BaseRoute
from yarl import URL

from agent.guards.policy import Policy
from bot.config.settings import Settings
from bot.domain.address import Person
from bot.domain.right import PAGE_PLATFORM, Right
from bot.machines import RemoteMachines
from bot.people.rights import Rights
from bot.store.store import Store
from bot.tasks.follow import TaskFollowers
from bot.tasks.leases import PhoneLeases
from bot.tasks.manual_input import ManualInput
from bot.web.chat import OPERATOR, ApiChat, WebChat
from bot.web.chat_completions import ChatCompletions
from bot.web.connections import Connections
from bot.web.exposure import Exposure
from bot.web.hand import LiveHand
from bot.web.log import LogLines
from bot.web.mcp.mount import McpMount
from bot.web.people import PeopleChanges
from bot.web.server import Console
from bot.web.v1.mount import ApiMount
from bot.web.viewers import Viewers
from bot.wiring.parts import part_routers, part_routes
from devices.phone import Phone, PhoneInfo, Phones
from tests.bot.tasks.test_manual_input import TouchedPhone
from tests.bot.web.standins import Checks
from tests.bot.world import World, a_phone, a_world

API = "/api/v1"


class TouchablePhones(TouchedPhone):
    """The phones of a world, which all show one page and keep together what is sent to them."""

    def __init__(self, phones: Phones) -> None:
        super().__init__()
        self._known = phones

    def list(self) -> tuple[PhoneInfo, ...]:
        return self._known.list()

    def get(self, phone_id: str) -> Phone:
        self._known.get(phone_id)
        return self


@dataclass
class Answer:
    """What came back."""

    status: int
    body: Any
    headers: Mapping[str, str]


@dataclass
class ApiWorld:
    """A running service and what its API is asked with. `start` is the operator's own token."""

    world: World
    console: Console
    following: TaskFollowers
    url: URL
    start: str
    session: aiohttp.ClientSession
    touched: TouchablePhones

    async def token(self, name: str, *rights: Right, owner: Person | None = None, **more: Any) -> str:
        """A new token's secret."""
        return (await self.world.rights.add_token(name, rights or (Right.USE,), OPERATOR, owner=owner, **more))[1]

    async def ask(self, secret: str, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask the API; `headers` with _ for -."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if secret:
            sent["Authorization"] = f"Bearer {secret}"
        async with self.session.request(
            method,
            self.url.with_path(API + path.partition("?")[0]).with_query(path.partition("?")[2]),
            json=body if body is not None else ({} if method in {"POST", "PATCH"} else None),
            headers=sent,
        ) as response:
            data = await response.read()
            told = json.loads(data) if response.content_type == "application/json" and data else data
            return Answer(response.status, told, response.headers)

    async def stream(self, secret: str, conversation: str, last: str = "") -> Stream:
        """Begin to read a conversation's events."""
        return await self.stream_of(secret, f"/conversations/{conversation}", last)

    async def stream_of(self, secret: str, what: str, last: str = "") -> Stream:
        """Begin to read the events of a task or conversation."""
        headers = {"Authorization": f"Bearer {secret}"} | ({"Last-Event-ID": last} if last else {})
        response = await self.session.get(self.url.with_path(f"{API}{what}/events"), headers=headers)
        assert response.status == 200, await response.text()
        return Stream(response)


class Stream:
    """Server-sent events as they come."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self._response = response

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._response.close()

    def close(self) -> None:
        """Read no more."""
        self._response.close()

    async def next(self) -> tuple[int, str, dict[str, Any]] | None:
        """The next event: its number (0 for a piece), name and data; None at the end."""
        found: dict[str, str] = {}
        while line := await self._response.content.readline():
            name, colon, value = line.decode().rstrip("\n").partition(": ")
            if colon and name:
                found[name] = value
            elif not name and "event" in found:
                return int(found.get("id", 0)), found["event"], json.loads(found["data"])
        return None

    async def until(self, name: str) -> list[tuple[int, str, dict[str, Any]]]:
        """All events up to the first with this name."""
        told = []
        while (one := await self.next()) is not None:
            told.append(one)
            if one[1] == name:
                return told
        raise AssertionError(f"the stream ended before {name}: {told}")


@asynccontextmanager
async def open_api(
    directory: Path,
    connections: Connections | None = None,
    machines: RemoteMachines | None = None,
    kept: Store | None = None,
    settings: Settings | None = None,
    more: Callable[[World], Sequence[BaseRoute]] = lambda _: (),
    rights: Callable[[World], Rights] = lambda world: world.rights,
) -> AsyncIterator[ApiWorld]:
    """A running service on any free port, on what is in the directory or in the store `kept`. It serves `more`, too,
    and lets people in by `rights`.
    """
    async with AsyncExitStack() as stack:
        phones = a_phone("Pixel"), a_phone("Moto")
        world = await stack.enter_async_context(a_world(directory, *phones, settings=settings, store=kept))
        store = world.store
        world.chats["api"] = ApiChat()
        people = WebChat(store.console, store.frames, PAGE_PLATFORM)
        world.chats[people.platform] = people
        leases = PhoneLeases(store.leases, world.phones)
        touched = TouchablePhones(world.phones)
        operating = ManualInput(leases, touched, Policy.default(), store.journal)
        services = replace(world.services, manual_input=operating, machines=machines)
        console = Console(
            Exposure("127.0.0.1"),
            0,
            Viewers(WebChat(store.console, store.frames), people, services),
            world.commands,
            Checks(),
            store.sessions,
            beside=lambda stopping: [
                *PeopleChanges(services).routes(),
                *LogLines(stopping).routes(),
                *part_routes(services),
                *LiveHand(services, stopping).routes(),
                *ApiMount(services, stopping, part_routers).routes(),
                *ChatCompletions(services, stopping).routes(),
                *McpMount(services, stopping, sessions=5).routes(),
                *more(world),
            ],
            connections=connections,
            rights=rights(world),
        )
        url = URL(await console.start())
        stack.push_async_callback(console.stop)
        session = aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30))
        stack.push_async_callback(session.close)
        yield ApiWorld(world, console, services.followers, url.origin(), url.query["token"], session, touched)
