"""What the command line uses: hand a task in, follow it line by line, answer its questions, and ask for anything
else.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from base64 import b64encode
from collections.abc import Collection, Mapping
from contextlib import aclosing
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.files import GivenFile
from agent.ports.frames import Frames
from bot.domain.chat import Intake
from bot.domain.incoming import Attachment, CommandCall, Invocation
from bot.tasks.files import MAX_FILES
from bot.tasks.follow import Runs, encoded, interrupted, line_of
from bot.texts import say
from bot.web.api import ID_LIMIT, SAID_LIMIT, body_of
from bot.web.chat import place
from bot.web.http import Streamed, Write, post, refuse
from bot.web.viewers import person_of
from bot.web.wakeup import ends_before

logger = logging.getLogger(__name__)


class Order(BaseModel):
    """A task from the command line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str = Field(min_length=1, max_length=SAID_LIMIT)
    command: Literal["do", "skill"] = "do"
    device: str = Field(default="", max_length=ID_LIMIT)
    quick: bool = False
    member: str = Field(default="", max_length=ID_LIMIT)
    deep: bool = False
    search: bool = False
    files: tuple[GivenFile, ...] = Field(default=(), max_length=MAX_FILES)
    """What was handed in before, by the references that were given for it."""


class Answered(BaseModel):
    """An answer from the command line; no text says that nobody will answer."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1, max_length=ID_LIMIT)
    text: str | None = Field(default=None, min_length=1, max_length=SAID_LIMIT, repr=False)


class CliTasks:
    """Gives tasks through the same command as everybody, then follows their events."""

    def __init__(self, intake: Intake, runs: Runs, frames: Frames, stopping: asyncio.Event) -> None:
        self._intake = intake
        self._frames = frames
        self._runs = runs
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """What is served."""
        return [
            post("/api/do", self.do),
            post("/api/answer", self.answer),
        ]

    async def do(self, request: Request) -> Response:
        """Start a task; the answer is one JSON object per line, the last one `final`.

        When the caller goes away the task goes on: it was accepted.
        """
        order = await body_of(request, Order)
        options = {"device": order.device} if order.device else {}
        wished = (("quick", order.quick), ("deep", order.deep), ("search", order.search))
        options |= {name: "true" for name, wanted in wished if wanted}
        if order.member:
            options["member"] = order.member
        try:
            files = [Attachment(file.name, await self._frames.load(file.content)) for file in order.files]
        except KeyError:
            return refuse(409, say("refusal.file_missing"))
        call = CommandCall(order.command, options, order.text)
        event = f"cli:{secrets.token_hex(8)}"
        reply = await self._intake.invoke(Invocation(person_of(request), place(""), event, call, tuple(files)))
        if not reply.task:
            message = reply.message
            words = [message.heading, message.body] if message else [reply.toast]
            return refuse(409, "\n".join(filter(None, words)) or say("refusal.task_not_taken"))

        async def follow(write: Write) -> None:
            try:
                await write(encoded({"type": "task", "task": reply.task}))
                await self._follow(write, reply.task)
            except asyncio.CancelledError:
                logger.info("The command line left task %s, which goes on", reply.task)
                raise

        return Streamed(follow, {"Content-Type": "application/x-ndjson", "Cache-Control": "no-store"})

    async def _follow(self, write: Write, task: str) -> None:
        ended = False

        async def tell() -> None:
            nonlocal ended
            async with aclosing(self._runs.events(task)) as events:
                async for heard in events:
                    await write(encoded(line_of(heard)))
                    if heard.last:
                        ended = True
                        return

        await ends_before(self._stopping.wait(), tell())
        if not ended:
            await write(encoded(interrupted()))

    async def answer(self, request: Request) -> Response:
        """Answer a question of a task."""
        answered = await body_of(request, Answered)
        refusal = await self._runs.answer(person_of(request), answered.question, answered.text)
        return refuse(409, refusal) if refusal else JSONResponse({"taken": True})


class Ordered(BaseModel):
    """A command with its options and its text."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str = Field(min_length=1, max_length=ID_LIMIT)
    options: Mapping[str, str] = Field(default_factory=dict, max_length=20, repr=False)
    text: str = Field(default="", max_length=SAID_LIMIT, repr=False)


class CliCommands:
    """Gives commands as the operator, through the same way in as everybody; nothing of it stands in the console."""

    def __init__(self, intake: Intake, commands: Collection[str]) -> None:
        self._intake = intake
        self._commands = commands

    def routes(self) -> list[Route]:
        """What is served."""
        return [post("/api/command", self.command)]

    async def command(self, request: Request) -> Response:
        """Do one command; the answer is what it says, and its picture as base64. One that is refused has status 409."""
        ordered = await body_of(request, Ordered)
        if ordered.name not in self._commands:
            return refuse(400, say("refusal.command"))
        call = CommandCall(ordered.name, ordered.options, ordered.text)
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
