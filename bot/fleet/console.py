"""The HTTP routes with which the operator's command line lists, invites and removes hosts, and moves phones."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, cast

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.fleet.engine import steady_now
from bot.fleet.hosts import called
from bot.fleet.messages import HOST_NAME, SPEAKS, understands
from bot.texts import say
from bot.web.api import body_of
from bot.web.auth import caller_of
from bot.web.http import get, post, refuse
from bot.web.sessions import Way
from devices.wording import said, sentence_of

if TYPE_CHECKING:
    from bot.fleet.assembly import HubParts
    from bot.fleet.hosts import Host
    from bot.fleet.hub import Hub
    from bot.machines import RemoteMachines


class HostNamed(BaseModel):
    """The request body that names a host."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=100)


class PhoneMoved(BaseModel):
    """The request body for moving a phone: its id (`name`), and the host that it is to belong to; "" for this
    computer.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=200)
    host: str = Field(default="", max_length=100)


class FleetRoutes:
    """The HTTP routes for hosts. They are for the operator only, because a host receives everybody's tasks.

    `hub` is None if this service takes no hosts.
    """

    def __init__(self, hub: Hub | None) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        """Return the list of routes."""
        return [
            get("/api/fleet", self._with_hub(self.all)),
            post("/api/fleet/invite", self._with_hub(self.invite)),
            post("/api/fleet/revoke", self._with_hub(self.revoke)),
            post("/api/fleet/move", self._with_hub(self.move)),
        ]

    async def all(self, hub: Hub, _: Request) -> Response:
        """Return all admitted hosts, and phones that two computers report, as JSON."""
        conflicts = [{"text": said(each.sentence), "fix": said(each.fix)} for each in hub.owners.conflicts]
        return JSONResponse({"fleet": [_host(host) for host in hub.hosts.values()], "conflicts": conflicts})

    async def invite(self, hub: Hub, request: Request) -> Response:
        """Invite a host and return the line with which it joins. It works once and is not shown again."""
        name = (await body_of(request, HostNamed)).name
        if not may_be_called(name):
            return refuse(409, say("fleet.bad_name"))
        return JSONResponse({"join": await hub.invite(name)}, headers={"Cache-Control": "no-store"})

    async def revoke(self, hub: Hub, request: Request) -> Response:
        """Remove the host named in the request."""
        name = (await body_of(request, HostNamed)).name
        if not await hub.revoke(name):
            return refuse(409, say("fleet.unknown", name=name))
        return JSONResponse({})

    async def move(self, hub: Hub, request: Request) -> Response:
        """Assign the phone in the request to another computer."""
        from bot.fleet.hub import NotMoved  # noqa: PLC0415 - only a hub loads the engine's client

        wish = await body_of(request, PhoneMoved)
        try:
            await hub.move_phone(wish.name, wish.host)
        except NotMoved as why:
            return refuse(409, said(sentence_of(why)))
        return JSONResponse({"text": say("fleet.moved", phone=wish.name, machine=said(called(wish.host)))})

    def _with_hub(
        self, work: Callable[[Hub, Request], Awaitable[Response]]
    ) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            if caller_of(request).way is Way.PERSON:
                return refuse(403, say("refusal.operator"))
            return refuse(409, say("fleet.not_hub")) if self._hub is None else await work(self._hub, request)

        return answer


def hub_of(machines: RemoteMachines | None) -> Hub | None:
    """Return the service's hub (made by `bot.fleet.assembly`); None if this service takes no hosts."""
    return None if machines is None else cast("HubParts", machines).hub


def may_be_called(name: str) -> bool:
    """Return whether a host may have this name: it must match `HOST_NAME` and not be reserved."""
    return re.fullmatch(HOST_NAME, name) is not None and name not in {"hub", "join"}


def state_of(host: Host) -> str:
    """Return the state of a host in words, such as that it is away or blocked."""
    if host.blocked:
        return say("fleet.blocked")
    if _has_other_version(host):
        return say("fleet.other_version", theirs=host.speaks, ours=SPEAKS)
    return say("fleet.gone") if host.away else say("fleet.here")


def _has_other_version(host: Host) -> bool:
    return host.speaks is not None and not understands(host.speaks)


def _host(host: Host) -> dict[str, object]:
    return {
        "name": host.name,
        "state": state_of(host),
        "usable": host.usable,
        "blocked": host.blocked,
        "other_version": _has_other_version(host),
        "heard": None if host.heard is None else round(steady_now() - host.heard, 1),
        "joined": host.known.joined,
        "version": "" if host.presence is None else host.presence.version,
        "phones": [there.info.id for there in host.phones()],
    }
