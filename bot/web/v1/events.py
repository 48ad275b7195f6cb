"""Streams the logs of tasks and conversations as server-sent events."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Request, Response

from agent.events import Asked, TaskEnded, TaskEvent, Thinking
from agent.ports.journal import CallState
from agent.tools.call_values import done_of, told_of
from agent.tools.calling import MOST_RESULT
from agent.wording import shortened
from bot.domain.task import Task
from bot.domain.task_events import LogEvent, LoggedEvent, StepDone, ToolReturned, names_in_conversation
from bot.tasks.follow import TransientEvent, encoded, interrupted, line_of
from bot.views.tasks import effect_words, tokens_json
from bot.web.auth import caller_of
from bot.web.http import STREAM_HEADERS, Streamed, Write, server_sent
from bot.web.v1.asking import BadPage, Caller, Id
from bot.web.v1.calls import Calls
from devices.names import readable

HEARTBEAT_EVERY: Final = 15.0
"""Seconds of silence after which a comment is sent."""
PATIENCE_S: Final = 5.0
"""Seconds in which a reader must accept what is sent; a slower one is disconnected and returns with `Last-Event-ID`."""
RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}
}
LINES: Final = "application/x-ndjson"
NUMBER: Final = re.compile(r"[0-9]{1,18}")

LastEventId = Annotated[str, Header(max_length=18, pattern="^[0-9]*$")]
logger = logging.getLogger(__name__)
router = APIRouter()


@router.get(
    "/tasks/{task}/events",
    tags=["tasks"],
    response_class=Response,
    responses={200: {"content": {"text/event-stream": {}, LINES: {}}, "description": "The events."}},
)
async def stream_task(
    request: Request,
    task: Id,
    calls: Caller,
    last_event_id: LastEventId = "",
    accept: Annotated[str, Header(max_length=1000)] = "",
) -> Response:
    """Stream the events of a task, from the beginning or after `Last-Event-ID`, until its end: the events of
    conversations, and `state`, `planned`, `skill_chosen`, `waiting`, `started`, `resumed`, `question_closed`, `note`,
    `file` and `part_end`. With `Accept: application/x-ndjson` the stream starts at the beginning, in the lines of JSON
    that `opengui do --json` prints.
    """
    found = await calls.task(task)
    if LINES in accept:
        headers = {"Content-Type": LINES, "Cache-Control": "no-store"}
        return Streamed(partial(_tell_lines, request, calls, found), headers)
    return _streamed(request, calls, found, "", last_event_id)


@router.get(
    "/conversations/{conversation}/events", tags=["conversations"], response_class=Response, responses=RESPONSES
)
async def stream_events(request: Request, conversation: Id, calls: Caller, last_event_id: LastEventId = "") -> Response:
    """Stream the events of a conversation, from the beginning or after `Last-Event-ID`: `thinking_start`, `thinking` in
    pieces, `message`, `tool_calls`, `tool_result`, `process_step`, `error`, `done`.
    """
    found = await calls.conversation(conversation)
    return _streamed(request, calls, None, found.id, last_event_id)


def _streamed(request: Request, calls: Calls, task: Task | None, conversation: str, last: str) -> Response:
    if last and not NUMBER.fullmatch(last):
        raise BadPage
    return Streamed(LogStream(request, calls, task, conversation, int(last or 0)).tell, STREAM_HEADERS)


async def _tell_lines(request: Request, calls: Calls, task: Task, write: Write) -> None:
    """Send events as lines until the end of the task, of the right to read it, or of the service, which the last line
    then says. A slow reader is waited for, without buffering anything in memory.
    """
    ended = False

    async def tell() -> None:
        nonlocal ended
        async with aclosing(calls.services.followers.events(task.id)) as events:
            async for heard in events:
                await write(encoded(line_of(heard)))
                ended = ended or heard.last

    await calls.while_held(tell(), partial(_may_read, request, calls, task), request.app.state.stopping)
    if not ended and _may_read(request, calls, task):
        await write(encoded(interrupted()))


def _may_read(request: Request, calls: Calls, task: Task | None) -> bool:
    holds: bool = request.state.still()
    return holds and (task is None or calls.may_see(task))


class LogStream:
    """Streams the log of a task or, if `task` is None, of a conversation. `after` is the number of the last event that
    the reader knows.
    """

    def __init__(self, request: Request, calls: Calls, task: Task | None, conversation: str, after: int) -> None:
        self._request = request
        self._calls = calls
        self._task = task
        self._conversation = conversation
        self._after = after
        self._apps: dict[str, str] = {}
        """Names of apps that occurred in events."""

    async def tell(self, write: Write) -> None:
        """Send past and future events with `write`, until the task ends, the service stops, or the reader loses the
        right to see them. A reader that accepts no data for `PATIENCE_S` seconds is disconnected.
        """
        try:
            holds = partial(_may_read, self._request, self._calls, self._task)
            await self._calls.while_held(self._tell(write), holds, self._request.app.state.stopping)
        except TimeoutError:
            name = caller_of(self._request).name
            logger.info("A reader of %s took nothing for %.0f s and is let go", name, PATIENCE_S)
            self._request.state.drop()

    async def _tell(self, write: Write) -> None:
        async def send(data: bytes) -> None:
            async with asyncio.timeout(PATIENCE_S):
                await write(data)

        task = "" if self._task is None else self._task.id
        over, silent = self._task is not None and self._task.outcome is not None, False
        following = self._calls.services.followers
        await send(b"retry: 1000\n\n")
        async with aclosing(
            following.follow(task=task, conversation=self._conversation, after=self._after, beat=HEARTBEAT_EVERY)
        ) as events:
            async for one in events:
                match one:
                    case None if over:
                        return
                    case None if silent:
                        await send(b": still here\n\n")
                    case LoggedEvent():
                        # In small pieces, so that a reader that takes nothing does not make them pile up in memory.
                        for data in self._sent(one):
                            await send(data)
                        over = over or (bool(task) and one.is_last)
                    case TransientEvent(event=event) if task or isinstance(event, Thinking):
                        piece = event.model_dump(mode="json", exclude={"type"})
                        await send(_sent(_name(event), {"task": one.task, **piece}))
                silent = one is None

    def _sent(self, one: LoggedEvent) -> Iterator[bytes]:
        """Encode an event; a disconnected reader continues after its number."""
        names = names_in_conversation(one.event, of_part=bool(one.part))
        if self._task is None:
            for number, name in enumerate(names, one.told - len(names) + 1):
                if number > self._after:
                    yield _sent(name, {"index": number, **self._data(name, one)}, number=number)
            return
        own = "part_end" if one.part and isinstance(one.event, TaskEnded) else _name(one.event)
        *first, last = names or (own,)
        for name in first:
            yield _sent(name, self._data(name, one))
        yield _sent(last, self._data(last, one), number=one.number)

    def _data(self, name: str, one: LoggedEvent) -> dict[str, Any]:
        data = {"task": one.task, **({"deleted": True} if one.is_deleted else self._said(name, one))}
        if one.message is not None and name in {"message", "done"}:
            data["message"] = one.message
        if one.part and self._task is not None:
            data["part"] = one.part
        return data

    def _said(self, name: str, one: LoggedEvent) -> dict[str, Any]:
        match one.event:
            case StepDone() as step:
                app = step.app_name or readable(step.app)
                self._apps[step.app] = app
                return {
                    "index": one.done - 1,
                    "kind": "touch",
                    "step": step.index,
                    "phone": step.phone_name,
                    "summary": step.summary,
                    "thought": step.thought,
                    "action": step.action,
                    "effect": effect_words(step.effect, self._apps),
                    "app": app,
                    "picture": step.frame,
                    "seconds": step.seconds,
                }
            case ToolReturned() as came:
                said = came.model_dump(mode="json", exclude={"type", "result"})
                if name == "process_step":
                    return {"index": one.done - 1, "kind": "tool", **said}
                return {**said, "text": text_of_call(came.state, came.result)}
            case Asked(question=asked):
                return {"question": asked.id, **asked.model_dump(mode="json", include={"text", "kind", "choices"})}
            case TaskEnded() as end if name == "error":
                return {"outcome": end.outcome.value, "why": end.summary}
            case TaskEnded() as end if name == "message":
                return {"text": end.summary, "data": end.data, "sources": [page.model_dump() for page in end.sources]}
            case TaskEnded() as end if name == "done":
                return {"outcome": end.outcome.value, "tokens": tokens_json(end.usage)}
            case _ if name == "thinking_start":
                return {}
            case other:
                return other.model_dump(mode="json", exclude={"type", "quiet"})


def text_of_call(state: CallState, result: Mapping[str, Any]) -> str:
    """Return the result of a tool call as the text that the model read."""
    text = told_of(done_of(result)) if state == "done" else str(result.get("why", ""))
    return shortened(text, MOST_RESULT)


def _name(event: LogEvent | TaskEvent) -> str:
    return event.type.replace(" ", "_")


def _sent(name: str, data: dict[str, Any], *, number: int | None = None) -> bytes:
    return server_sent(name, json.dumps(data, ensure_ascii=False), number=number)
