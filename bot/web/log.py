"""Serves logs: those of tasks as the page shows them, and the service's latest log lines for `opengui logs`."""

from __future__ import annotations

import asyncio
import re
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from agent.events import Asked, FileFound
from bot.cards.buttons import again_button, instead_buttons
from bot.cards.question import closed_words
from bot.domain.right import Right
from bot.domain.task import OpenQuestion, TaskState
from bot.domain.task_events import Accepted, Ended, LoggedEvent, Noted, QuestionClosed, StateChanged, StepDone
from bot.logs.setup import KEPT_LINES, RECENT
from bot.store.task_events import AT_ONCE
from bot.texts import say
from bot.views.tasks import Json
from bot.web.auth import caller_of
from bot.web.http import Streamed, Write, get, refuse
from bot.web.viewers import Viewers
from bot.web.views import button_json
from bot.web.wakeup import ends_before

NUMBER = re.compile(r"[0-9]{1,18}")
"""A number that fits in SQLite's 64 bits."""


class TaskLogs:
    """Handles requests for a task's log from its beginning; the page's event stream sends later events."""

    def __init__(self, viewers: Viewers) -> None:
        self._viewers = viewers

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [get("/api/console/log", self.log, Right.USE)]

    async def log(self, request: Request) -> Response:
        """Return the events of a task, or of one phone's part, after event number `after`. In the answer, `next` is the
        number to continue with, null at the end.
        """
        services = self._viewers.services
        number, after = request.query_params.get("task", ""), request.query_params.get("after", "0")
        task = await services.task_service.get(number)
        if task is None or not self._viewers.of(request).sees(task):
            return refuse(404, say("desk.no_task", task=number[:40]))
        if not NUMBER.fullmatch(after):
            return refuse(400, say("refusal.before_message"))
        found = await services.store.task_events.of_task(task.parent or task.id, int(after))
        closed: dict[str, OpenQuestion] = {}
        if any(isinstance(one.event, QuestionClosed) for one in found):
            closed = {one.question.id: one for one in await services.store.questions.of(task.id)}
        events = [event_json(one, closed) for one in found if not task.parent or one.part == task.id]
        following = found[-1].number if len(found) == AT_ONCE else None
        return JSONResponse({"events": [event for event in events if event is not None], "next": following})


def event_json(one: LoggedEvent, closed: dict[str, OpenQuestion]) -> Json | None:
    """Convert an event to JSON for the page; None if the page does not show it. `closed` are the closed questions by
    id.
    """
    if (said := _said(one, closed)) is None:
        return None
    return {"task": one.task, "part": one.part, "number": one.number, "at": one.at, "kind": one.event.type} | said


def _said(one: LoggedEvent, closed: dict[str, OpenQuestion]) -> Json | None:
    match one.event:
        case Accepted(text=text):
            return {"text": text}
        case StepDone() as step:
            said = step.model_dump(mode="json", include={"step", "summary", "action", "target", "frame", "mark"})
            return said | {"phone": step.phone_name, "denied": step.denied}
        case Asked(question=asked):
            told = asked.model_dump(mode="json", include={"text", "detail", "frame"})
            return told | {"question": asked.id, "anew": asked.before is not None}
        case QuestionClosed(question=question):
            return {"question": question, "text": closed_words(closed[question]) if question in closed else ""}
        case Noted(text=text, by=by):
            return {"text": text, "by": by}
        case FileFound(name=name, content=content):
            return {"name": name, "content": content}
        case StateChanged(state=TaskState.INTERRUPTED) if not one.part:
            return {"text": say("state.interrupted")}
        case Ended() as end if not one.part:
            choices = () if end.needs_model is None else end.needs_model.choices
            buttons = (*instead_buttons(one.task, choices), again_button(one.task))
            return {"text": end.summary, "quiet": end.quiet, "buttons": [button_json(each) for each in buttons]}
        case _:
            return None


class LogLines:
    """Handles requests for log lines. Setting `stopping` ends its streams."""

    def __init__(self, stopping: asyncio.Event) -> None:
        self._stopping = stopping

    def routes(self) -> list[Route]:
        """Return the HTTP routes that this class handles, for the server to add."""
        return [get("/api/logs", self.logs)]

    async def logs(self, request: Request) -> Response:
        """Send the last `lines` log lines. With `follow=1`, also send new ones until the client disconnects or the
        service stops. Browsers with a session are refused; only programs may read the log.
        """
        if caller_of(request).session:
            return refuse(403, say("refusal.logs"))
        wanted = request.query_params.get("lines", str(KEPT_LINES))
        if not (wanted.isascii() and wanted.isdigit() and len(wanted) < 6):
            return refuse(400, say("cli.number"))
        following = request.query_params.get("follow") == "1"

        async def tell(write: Write) -> None:
            async with aclosing(RECENT.follow(int(wanted), on=following)) as lines:
                async for line in lines:
                    await write(line.encode(errors="replace") + b"\n")

        headers = {"Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store"}
        return Streamed(lambda write: ends_before(self._stopping.wait(), tell(write)), headers)
