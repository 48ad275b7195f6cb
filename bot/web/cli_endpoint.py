"""Commands as the operator types them, for the command line and the console's own forms, beside the API."""

from __future__ import annotations

import secrets
from base64 import b64encode
from collections.abc import Collection, Mapping

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.domain.chat import Intake
from bot.domain.incoming import CommandCall, Invocation
from bot.texts import say
from bot.web.api import SAID_LIMIT, body_of
from bot.web.chat import place
from bot.web.http import post, refuse
from bot.web.viewers import person_of


class Typed(BaseModel):
    """What is typed behind the name of a command."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    options: Mapping[str, str] = Field(default_factory=dict, max_length=20, repr=False)
    text: str = Field(default="", max_length=SAID_LIMIT, repr=False)


class CliCommands:
    """Gives commands as the operator, through the same way in as everybody; nothing of it stands in the console."""

    def __init__(self, intake: Intake, commands: Collection[str]) -> None:
        self._intake = intake
        self._commands = commands

    def routes(self) -> list[Route]:
        """What is served."""
        return [post("/api/console/commands/{name}", self.command)]

    async def command(self, request: Request) -> Response:
        """Do one command; the answer is what it says, and its picture as base64. One that is refused has status 409."""
        name = request.path_params["name"]
        if name not in self._commands:
            return refuse(404, say("refusal.command"))
        typed = await body_of(request, Typed)
        call = CommandCall(name, typed.options, typed.text)
        event = f"cli:{secrets.token_hex(8)}"
        reply = await self._intake.invoke(Invocation(person_of(request), place(""), event, call))
        message = reply.message
        words = [message.heading, message.body, message.footer] if message else [reply.toast]
        text = "\n".join(filter(None, words))
        if reply.refused:
            return refuse(409, text)
        picture = b64encode(message.picture.data).decode() if message and message.picture else ""
        buttons = [one.data for row in message.buttons for one in row] if message else []
        return JSONResponse({"text": text, "picture": picture, "buttons": buttons})
