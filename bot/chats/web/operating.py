"""What the operator does from the command line beside tasks: any command, and the list of schedules."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from typing import Protocol

from aiohttp import web
from pydantic import BaseModel, ConfigDict, Field

from bot.chats.base import Intake
from bot.chats.incoming import CommandCall, Invocation
from bot.chats.web.api import ID_LIMIT, SAID_LIMIT, body_of, operator
from bot.chats.web.chat import place
from bot.chats.web.gate import refuse
from bot.schedules.model import Schedule
from bot.tasks.views import schedule_json
from bot.texts import say


class Ordered(BaseModel):
    """A command with its options and its text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=ID_LIMIT)
    options: Mapping[str, str] = Field(default_factory=dict, max_length=20, repr=False)
    text: str = Field(default="", max_length=SAID_LIMIT, repr=False)


class ConsoleSchedules(Protocol):
    """Where the schedules are."""

    async def all(self) -> tuple[Schedule, ...]:
        """All of them; those that are due first come first."""
        ...


class Operating:
    """Gives commands as the operator, through the same way in as everybody; nothing of it stands in the console."""

    def __init__(self, intake: Intake, schedules: ConsoleSchedules, commands: Collection[str]) -> None:
        self._intake = intake
        self._schedules = schedules
        self._commands = commands

    def routes(self) -> list[web.RouteDef]:
        """What is served."""
        return [web.post("/api/command", self.command), web.get("/api/schedules", self.schedules)]

    async def command(self, request: web.Request) -> web.Response:
        """Do one command; the answer is what it says."""
        ordered = await body_of(request, Ordered)
        if ordered.name not in self._commands:
            return refuse(400, say("refusal.command"))
        call = CommandCall(ordered.name, ordered.options, ordered.text)
        event = f"cli:{secrets.token_hex(8)}"
        reply = await self._intake.invoke(Invocation(operator(request), place(""), event, call))
        message = reply.message
        words = [message.heading, message.body, message.footer] if message else [reply.toast]
        return web.json_response({"text": "\n".join(filter(None, words))})

    async def schedules(self, _: web.Request) -> web.Response:
        """All schedules."""
        return web.json_response({"schedules": [schedule_json(one) for one in await self._schedules.all()]})
