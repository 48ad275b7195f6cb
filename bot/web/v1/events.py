"""What happens in conversations: written down from what the store knows of their tasks, and told to those who read.

Every event is made from a row that is kept (a task, a step, a question) under a key of its own, so that writing it down
again changes nothing: after a kill of the service it is done again for every task whose end was not told.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from agent.events import TaskEvent, Thinking
from agent.outcome import Outcome
from agent.ports.tool_calls import ENDED, CallKey, StoredCall
from agent.tools.calling import MOST_RESULT
from agent.tools.results import done_of, told_of
from agent.wording import shortened
from bot.domain.address import Person
from bot.domain.right import API_PLATFORM
from bot.domain.task import OpenQuestion, StepRow, Task
from bot.store.conversations import Happened, NewEvent
from bot.store.errors import StoreError
from bot.store.store import Store
from bot.tasks.service import TaskService
from bot.views.tasks import effect_words, tokens_json
from bot.web.wakeup import Wakeup

HEARTBEAT_EVERY: Final = 15.0
"""Seconds of silence after which a comment is sent; also how late an expired token's stream ends."""
AT_ONCE: Final = 100
"""Events read in one go."""
PIECES_KEPT: Final = 200
"""Pieces of text that wait for a reader; who is further behind gets the whole text at its end, as everybody does."""
PATIENCE_S: Final = 5.0
"""Seconds in which a reader has to take what is sent; a slower one is let go and comes back with `Last-Event-ID`."""
AFTER_FAULT: Final = 1.0
"""Seconds before writing down again what the store did not take."""

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Reader:
    """Somebody who reads a conversation: pieces of text that were said since they last looked."""

    pieces: deque[dict[str, Any]] = field(default_factory=lambda: deque(maxlen=PIECES_KEPT))


@dataclass
class _Conversation:
    news: Wakeup = field(default_factory=Wakeup)
    readers: set[Reader] = field(default_factory=set)


class ConversationEvents:
    """Writes down and tells what happens to tasks that were given in conversations."""

    def __init__(self, task_service: TaskService, store: Store) -> None:
        self._task_service = task_service
        self._store = store
        self._open: dict[str, _Conversation] = {}
        self._places: dict[str, str] = {}
        """The conversation of each task that is worked on."""
        self._changed: dict[str, None] = {}
        self._wake = asyncio.Event()
        self._turns: dict[str, asyncio.Lock] = {}
        self._work: asyncio.Task[None] | None = None
        self._stops: tuple[Callable[[], None], ...] = ()

    async def start(self) -> None:
        """Begin to listen, and write down what a former process did not come to. Raises StoreError."""
        self._stops = (
            self._task_service.subscribe(self._heard),
            self._task_service.on_event(self._happened),
            self._store.tool_calls.on_change(self._heard),
        )
        for task in await self._store.conversations.unfinished():
            self._heard(task)
        self._work = asyncio.create_task(self._write(), name="conversations")

    async def stop(self) -> None:
        """Listen no more."""
        for stop in self._stops:
            stop()
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work

    async def catch_up(self, task_id: str) -> None:
        """Write down what has happened to this task until now. Raises StoreError."""
        task = await self._task_service.get(task_id)
        if task is not None and task.parent:
            task = await self._task_service.get(task.parent)
        if task is None or task.origin.platform != API_PLATFORM or not task.origin.thread:
            return
        conversation = self._places[task.id] = task.origin.thread
        async with self._turns.setdefault(task.id, asyncio.Lock()):
            steps = await self._task_service.steps(task.id)
            questions = await self._task_service.questions_of(task.id)
            calls = await self._store.tool_calls.of_task(task.id)
            for part in await self._task_service.parts(task.id):
                questions += await self._task_service.questions_of(part.id)
                calls += await self._store.tool_calls.of_task(part.id)
            added = await self._store.conversations.happened(conversation, events_of(task, steps, questions, calls))
        if added and (known := self._open.get(conversation)) is not None:
            known.news.beat()
        if task.outcome is not None:
            self._places.pop(task.id, None)
            self._turns.pop(task.id, None)

    def enter(self, conversation: str) -> Reader:
        """Somebody reads from now on."""
        reader = Reader()
        self._open.setdefault(conversation, _Conversation()).readers.add(reader)
        return reader

    def leave(self, conversation: str, reader: Reader) -> None:
        """They read no more."""
        known = self._open[conversation]
        known.readers.discard(reader)
        if not known.readers:
            del self._open[conversation]

    def readers(self, conversation: str) -> int:
        """How many read it now."""
        known = self._open.get(conversation)
        return 0 if known is None else len(known.readers)

    def news(self, conversation: str) -> asyncio.Event:
        """What is set once there is something new; take it before looking."""
        return self._open[conversation].news.next()

    def _heard(self, task: str) -> None:
        self._changed[task] = None
        self._wake.set()

    def _happened(self, task: str, event: TaskEvent) -> None:
        if isinstance(event, Thinking) and (known := self._open.get(self._places.get(task, ""))) is not None:
            piece = {"task": task, "node": event.node, "text": event.text, "reasoning": event.reasoning}
            for reader in known.readers:
                reader.pieces.append(piece)
            known.news.beat()

    async def _write(self) -> None:
        while True:
            await self._wake.wait()
            self._wake.clear()
            changed, self._changed = self._changed, {}
            for task in changed:
                try:
                    await self.catch_up(task)
                except StoreError as error:
                    logger.warning("what happened to task %s is told later: %s", task, error)
                    self._heard(task)
                    await asyncio.sleep(AFTER_FAULT)
                except Exception:
                    logger.exception("what happened to task %s could not be written down", task)


def events_of(
    task: Task, steps: tuple[StepRow, ...], questions: tuple[OpenQuestion, ...], calls: tuple[StoredCall, ...] = ()
) -> list[NewEvent]:
    """All that has happened to a task of a conversation so far, in order."""
    found = [NewEvent(f"start:{task.id}", "thinking_start", {"task": task.id}, task.id)]
    names = {row.app: row.app_shown for row in steps}
    told = [(row.at, _step(task, index, row, names)) for index, row in enumerate(steps)]
    told += [(one.asked, _question(task, one)) for one in questions]
    for one in calls:
        told.append((one.begun, _call(task, one)))
        if one.state in ENDED:
            told.append((one.begun + one.seconds, _result(task, one)))
    found += [event for _, event in sorted(told, key=lambda one: one[0])]
    data: dict[str, Any]
    if task.outcome is not None:
        if task.outcome in {Outcome.FAILED, Outcome.BLOCKED}:
            data = {"task": task.id, "outcome": task.outcome.value, "why": task.summary}
            found.append(NewEvent(f"error:{task.id}", "error", data, task.id))
        data = {"task": task.id, "text": task.summary, "data": task.data}
        data["sources"] = [page.model_dump() for page in task.sources]
        found.append(NewEvent(f"final:{task.id}", "message", data, task.id, text=task.summary))
        data = {"task": task.id, "outcome": task.outcome.value, "tokens": tokens_json(task.usage)}
        found.append(NewEvent(f"done:{task.id}", "done", data, task.id, about=f"final:{task.id}"))
    return found


def _step(task: Task, index: int, row: StepRow, names: dict[str, str]) -> NewEvent:
    data = {
        "task": task.id,
        "index": index,
        "phone": row.phone_name or task.phone_name,
        "summary": row.summary,
        "action": row.action,
        "effect": effect_words(row.effect, names),
        "app": row.app_shown,
        "picture": row.frame,
        "seconds": row.seconds,
    }
    return NewEvent(f"step:{row.run}:{row.subtask}:{row.step}", "process_step", data, task.id)


def _call(task: Task, one: StoredCall) -> NewEvent:
    data = {
        "task": task.id,
        "call": _call_id(one.key),
        "member": one.key.member,
        "name": one.call.name,
        "arguments": dict(one.call.arguments),
    }
    return NewEvent(f"call:{_call_id(one.key)}", "tool_calls", data, task.id)


def _result(task: Task, one: StoredCall) -> NewEvent:
    text = told_of(done_of(one.result)) if one.ok else str(one.result.get("why", ""))
    data = {
        "task": task.id,
        "call": _call_id(one.key),
        "name": one.call.name,
        "state": one.state,
        "cached": one.cached,
        "seconds": one.seconds,
        "text": shortened(text, MOST_RESULT),
    }
    return NewEvent(f"result:{_call_id(one.key)}", "tool_result", data, task.id)


def _call_id(key: CallKey) -> str:
    return f"{key.task}-{key.member}-{key.number}-{key.turn}-{key.index}"


def _question(task: Task, one: OpenQuestion) -> NewEvent:
    asked = one.question
    data = {
        "task": task.id,
        "text": asked.text,
        "question": asked.id,
        "kind": asked.kind.value,
        "choices": list(asked.choices),
    }
    return NewEvent(f"ask:{asked.id}", "message", data, task.id, text=asked.text, question=asked.id)


def told(event: Happened) -> bytes:
    """A kept event as it is sent; who was cut off goes on behind its number."""
    return _sent(event.event, {"index": event.number, **event.data}, number=event.number)


def piece_told(piece: dict[str, Any]) -> bytes:
    """A piece of text that is being said: it has no number, for it is not kept."""
    return _sent("thinking", piece)


def _sent(name: str, data: dict[str, Any], *, number: int | None = None) -> bytes:
    place = "" if number is None else f"id: {number}\n"
    return f"{place}event: {name}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def owner_text(person: Person) -> str:
    """An account as conversations keep whose they are."""
    return f"{person.platform}:{person.id}"
