"""Hosts, for the operator's command line: which there are, inviting one, ending one."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.fleet.engine import steady_now
from bot.fleet.messages import HOST_NAME, SPEAKS, understands
from bot.texts import say
from bot.web.api import body_of
from bot.web.auth import caller_of
from bot.web.http import get, post, refuse
from bot.web.sessions import Way

if TYPE_CHECKING:
    from bot.fleet.hosts import Host
    from bot.fleet.hub import Hub


class HostNamed(BaseModel):
    """The host that is meant."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(max_length=100)


class FleetRoutes:
    """For the operator alone: whoever invites a host gives it the tasks of everybody. `hub` is None without hosts."""

    def __init__(self, hub: Hub | None) -> None:
        self._hub = hub

    def routes(self) -> list[Route]:
        """What is served."""
        return [
            get("/api/fleet", self.all),
            post("/api/fleet/invite", self.invite),
            post("/api/fleet/revoke", self.revoke),
        ]

    async def all(self, request: Request) -> Response:
        """Every host that is let in."""
        hub = self._let_in(request)
        if isinstance(hub, Response):
            return hub
        return JSONResponse({"fleet": [_host(host) for host in hub.hosts.values()]})

    async def invite(self, request: Request) -> Response:
        """What a host joins with, once; it is shown this once."""
        hub = self._let_in(request)
        if isinstance(hub, Response):
            return hub
        name = (await body_of(request, HostNamed)).name
        if not re.fullmatch(HOST_NAME, name) or name in {"hub", "join"}:
            return refuse(409, say("fleet.bad_name"))
        return JSONResponse({"join": await hub.invite(name)}, headers={"Cache-Control": "no-store"})

    async def revoke(self, request: Request) -> Response:
        """End one."""
        hub = self._let_in(request)
        if isinstance(hub, Response):
            return hub
        name = (await body_of(request, HostNamed)).name
        if not await hub.revoke(name):
            return refuse(409, say("fleet.unknown", name=name))
        return JSONResponse({})

    def _let_in(self, request: Request) -> Hub | Response:
        if caller_of(request).way is Way.PERSON:
            return refuse(403, say("refusal.operator"))
        return self._hub if self._hub is not None else refuse(409, say("fleet.not_hub"))


def _host(host: Host) -> dict[str, object]:
    other_version = host.speaks is not None and not understands(host.speaks)
    if other_version and not host.blocked:
        state = say("fleet.other_version", theirs=host.speaks, ours=SPEAKS)
    elif host.blocked:
        state = say("fleet.blocked")
    else:
        state = say("fleet.gone") if host.away else say("fleet.here")
    return {
        "name": host.name,
        "state": state,
        "usable": host.usable,
        "blocked": host.blocked,
        "other_version": other_version,
        "heard": None if host.heard is None else round(steady_now() - host.heard, 1),
        "joined": host.known.joined,
        "version": "" if host.presence is None else host.presence.version,
        "phones": [there.info.id for there in host.phones()],
    }
