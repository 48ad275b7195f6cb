"""The JSON routes that the console's page calls."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.ports.stores import GivenFile
from agent.questions import QuestionKind
from bot.application.tasks import TAKES_A_MODEL
from bot.commands.spec import BY_NAME, COMMANDS
from bot.domain.address import MessageRef
from bot.domain.chat import ChatGone, Intake
from bot.domain.incoming import Attachment, Incoming, Press
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.domain.task import OpenQuestion
from bot.tasks.files import MAX_FILES
from bot.texts import say
from bot.views.tasks import Json
from bot.web.auth import caller_of
from bot.web.http import BODY_LIMIT, RequestRefused, get, post, read_body, refuse
from bot.web.stream import Cursor
from bot.web.viewers import Viewer, Viewers
from bot.web.views import read_snapshot

SAID_LIMIT = 20_000
"""Characters of one line from the page."""
ID_LIMIT = 100
PAGE = 60
"""Messages per page."""

NOT_KEPT = "•••••• (not kept)"
"""Shown in place of a code or password."""

Model = TypeVar("Model", bound=BaseModel)

logger = logging.getLogger(__name__)


class Body(BaseModel):
    """The base class of request bodies from the page. Unknown fields are errors."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Said(Body):
    """The body of a request with typed text. `event` is an id chosen by the page; text with the same id is handled only
    once.
    """

    text: str = Field(min_length=1, max_length=SAID_LIMIT)
    thread: str = Field(default="", max_length=ID_LIMIT)
    event: str = Field(min_length=8, max_length=ID_LIMIT)
    device: str = Field(default="", max_length=ID_LIMIT)
    """The phone that was selected, by id; "" for any, or the one that the text names."""
    files: tuple[GivenFile, ...] = Field(default=(), max_length=MAX_FILES)
    """Files that were uploaded before, by the references returned for them."""


class Pressed(Body):
    """The body of a request for a pressed button on the page."""

    data: str = Field(min_length=1, max_length=ID_LIMIT)
    message: str = Field(default="", max_length=ID_LIMIT)
    """The id of the message with the button, "" if the button belongs to a task."""
    thread: str = Field(default="", max_length=ID_LIMIT)
    event: str = Field(min_length=8, max_length=ID_LIMIT)


class Api:
    """Handles the requests of the console's page. `connectable` maps the names of the settings that are made on the
    *Connect* pages to the names of their forms.
    """

    def __init__(self, viewers: Viewers, intake: Intake, connectable: Mapping[str, str]) -> None:
        self._services = viewers.services
        self._viewers = viewers
        self._intake = intake
        self._connectable = connectable

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [
            get("/api/state", self.state, Right.USE),
            get("/api/choices", self.choices, Right.USE),
            get("/api/console/messages", self.messages, Right.USE),
            post("/api/console/messages", self.say, Right.USE),
            post("/api/console/presses", self.press, Right.USE),
        ]

    async def state(self, request: Request) -> Response:
        """Return tasks, phones and questions as JSON, with the cursor from which the page's event stream continues."""
        viewer = self._viewers.of(request)
        cursor = await Cursor.now(viewer.log, self._services.store.task_events)
        state = viewer.state(await viewer.visible_snapshot(await read_snapshot(self._services)))
        signed_in = bool(caller_of(request).session)
        commands = _commands_json(viewer.commands(BY_NAME))
        more = {"cursor": str(cursor), "commands": commands, "signed_in": signed_in}
        admin = Right.ADMIN.value in viewer.rights
        more |= {"may": viewer.rights, "settings": self._connectable if admin else {}}
        return JSONResponse(state | more)

    async def choices(self, request: Request) -> Response:
        """Return the phones and people by which tasks can be searched."""
        choices = await self._services.store.search.choices(self._viewers.of(request).accounts)
        return JSONResponse(
            {
                "phones": [{"id": phone, "name": name} for phone, name in choices.phones],
                "people": [
                    {"id": f"{platform}:{person}", "platform": platform, "name": name or person}
                    for platform, person, name in choices.people
                ],
            }
        )

    async def messages(self, request: Request) -> Response:
        """Return one page of a thread's messages as JSON, oldest first. The query's `before` is the message id from
        which to go back.
        """
        before = request.query_params.get("before", "")
        if before and not (before.isdecimal() and len(before) < 19):
            return refuse(400, say("refusal.before_message"))
        thread = request.query_params.get("thread", "")
        entries = await self._viewers.of(request).log.page(
            thread, before=int(before) if before else None, limit=PAGE + 1
        )
        shown = entries[-PAGE:]
        return JSONResponse(
            {"messages": [entry.model_dump(mode="json") for entry in shown], "more": len(entries) > len(shown)}
        )

    async def say(self, request: Request) -> Response:
        """Handle typed text: a command, an answer, a note for a task, or a new task."""
        viewer = self._viewers.of(request)
        said = await body_of(request, Said)
        command = command_of(said.text, said.thread)
        try:
            files = [await self._attached(file, viewer) for file in said.files]
        except KeyError:
            return refuse(409, say("refusal.file_missing"))
        place = viewer.address(said.thread)
        shown = NOT_KEPT if may_be_secret(command, await self._services.store.questions.open()) else said.text
        hear = partial(
            viewer.chat.show_user_message, place, shown, nonce=said.event, files=[file.name for file in files]
        )
        # The log of a task contains what is written to it, unless that has no effect.
        ref = None if said.thread and command is None else await hear()
        incoming = Incoming(
            person=viewer.person,
            place=viewer.place(said.thread),
            event=said.event,
            text=said.text,
            command=command,
            message=ref,
            attachments=tuple(files),
            carries=bool(files),
            lead="/",
            device=said.device,
        )
        reply = await self._intake.message(incoming)
        if ref is None and reply.told:
            words = "" if reply.message is None else reply.message.body
            return JSONResponse({"task": "", "toast": words})
        if ref is None and not reply.task:
            await hear()
        return await self._replied(reply, viewer, said.thread, said.event)

    async def _attached(self, file: GivenFile, viewer: Viewer) -> Attachment:
        """Load an uploaded file. Raises KeyError if it does not exist or belongs to somebody else."""
        if not await viewer.has(file.content):
            raise KeyError(file.content)
        return Attachment(file.name, await self._services.frames.load(file.content))

    async def press(self, request: Request) -> Response:
        """Handle a pressed button."""
        viewer = self._viewers.of(request)
        pressed = await body_of(request, Pressed)
        message = MessageRef(viewer.address(pressed.thread), pressed.message)
        reply = await self._intake.press(
            Press(
                person=viewer.person,
                place=viewer.place(pressed.thread),
                event=pressed.event,
                data=pressed.data,
                message=message,
            )
        )
        told = bool(pressed.message) and await _changed(viewer, reply, message) and not reply.dead
        return await self._replied(replace(reply, mark_suffices=told), viewer, pressed.thread, pressed.event)

    async def _replied(self, reply: Reply, viewer: Viewer, thread: str, event: str) -> Response:
        if reply.message is not None and not reply.mark_suffices and not reply.task:
            await viewer.chat.send(viewer.address(thread), reply.message, nonce=f"reply:{event}")
        return JSONResponse({"task": reply.task, "toast": reply.toast})


async def _changed(viewer: Viewer, reply: Reply, pressed: MessageRef) -> bool:
    """Update the pressed message as the reply says. False if the reply changes nothing or the message was deleted."""
    try:
        if reply.shown is not None:
            await viewer.chat.edit(pressed, reply.shown)
        elif reply.dead:
            await viewer.chat.without_buttons(pressed)
    except ChatGone as gone:
        logger.info("A pressed message stays as it is: %s", gone)
        return False
    return reply.shown is not None or reply.dead


async def body_of(request: Request, model: type[Model], most: int = BODY_LIMIT) -> Model:
    """Read the request's JSON body, of at most `most` bytes, and parse it as `model`. Raises RequestRefused."""
    data = await read_body(request, most)
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        raise RequestRefused(400, _sentence(error)) from error


def _sentence(error: ValidationError) -> str:
    """Say what is wrong without the value, which may be a secret."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return say("refusal.form", where=where or "JSON", why=first["msg"])


def _commands_json(names: Collection[str]) -> list[Json]:
    """Return the commands for the page's menu, from the table that also makes the help."""
    return [
        {
            "name": command.name,
            "help": command.help,
            "argument": command.argument,
            "text": "" if command.text is None else command.text.name,
            "options": [
                {
                    "name": one.name,
                    "kind": one.kind.value,
                    "help": one.help,
                    "takes_model": one.name in TAKES_A_MODEL,
                }
                for one in command.options
            ],
        }
        for command in COMMANDS
        if command.name in names
    ]


_ALONE = re.compile(r"\S+(?:\s+(?:#?\d+(?:\.\S+)?|--\S.*))?", re.DOTALL)
"""A command's name alone, with the number of a task, or with options."""


def command_of(text: str, thread: str) -> str | None:
    """Return the command in a typed line, without its slash; None if the line is not a command. `thread` is the task's
    view in which it was typed, "" for the console itself.

    A line with a leading slash is always a command. Without one, a line in the console is a command only if it can mean
    nothing else: it begins with `do`, or is a command's name alone, with a task's number or with options. In a task's
    view such a line never is a command, because "cancel" is an answer there.
    """
    line = text.strip()
    if line.startswith("/"):
        return line[1:].strip()
    if thread or not line:
        return None
    name = line.split(maxsplit=1)[0].lower()
    alone = name == "do" or _ALONE.fullmatch(line)
    return line if name in BY_NAME and alone else None


def may_be_secret(command: str | None, questions: Sequence[OpenQuestion]) -> bool:
    """Return whether the text may be or contain a secret, so that it must not be stored: a code or password that one of
    the open questions asks for, or the command `hand`, whose text is typed on a phone.

    `command` is the command in the text, None for none.
    """
    if command is not None and command.split(maxsplit=1)[0:1] == ["hand"]:
        return True
    asked = any(open_question.question.kind is QuestionKind.SECRET for open_question in questions)
    return asked and (command is None or command.split(maxsplit=1)[0:1] == ["answer"])
