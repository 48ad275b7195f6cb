"""Sends everything that goes to one conversation (a chat, or one task's thread), one message at a time within the rate
limits; messages that notify people come first.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import tzinfo
from typing import Final, assert_never

from agent.ports.stores import Frames
from bot.cards.final import render_files, render_final, render_interrupted, render_notice, render_watch
from bot.cards.formatting import in_own_thread, title_of
from bot.cards.picture import make_recap
from bot.cards.question import render_question
from bot.domain.address import Address, MessageRef
from bot.domain.chat import Capabilities, Chat, ChatError, ChatGone, ChatRefused, FloodWait
from bot.domain.clock import WaitingClock
from bot.domain.outgoing import Message, Picture
from bot.domain.task import Task, TaskState
from bot.outbox.low_priority import LowPriorityQueue, StepStream, Streaming
from bot.outbox.rate_limit import ChatRateLimit, RateLimitedChat, Urgency
from bot.outbox.shown import CardSlot, ShownQuestions, another_place, is_group, place_of
from bot.store.errors import StoreAway
from bot.store.outbox import FilePayload, FinalPayload, Notice, NoticePayload, OutboxRow, QuestionPayload
from bot.store.store import Store
from bot.tasks.service import TaskService
from bot.texts import say, speaking
from devices.recent import Recent

RETRY_FIRST = 2.0
"""Seconds before the first retry of a message; doubled each time."""
RETRY_MOST = 300.0
"""Maximum seconds between retries."""
FINISHED_KEPT = 1000
"""Ids of finished messages that are remembered: more than one chat is sent while the table is read once."""
GIVE_UP = 24 * 3600.0
"""Seconds after which an undeliverable message is given up: the longest time that a question waits."""

_PRIORITY = {"question": 0, "final": 1, "notice": 2, "file": 2}

logger = logging.getLogger(__name__)

MOST_DEGRADED: Final = 2
"""Without pictures and files, then without its text; the task's title and the buttons stay."""


def _in_place(final: Message, task: Task, place: Address) -> Message:
    """The final message for its place: in a group it replies to the request; elsewhere it says why it is there."""
    if place.chat != task.origin.chat:
        return replace(final, footer="\n".join(line for line in (final.footer, say("final.moved")) if line))
    if is_group(task) and task.request.origin.anchor:
        return replace(final, reply_to=MessageRef(task.origin, task.request.origin.anchor))
    return final


class Conversation:
    """Sends everything that goes to one chat and its threads, or to one task if threads have rate limits of their own.

    `run` is an asyncio task of its own; the other methods tell it what to send.
    """

    def __init__(
        self,
        chat: Chat,
        task_service: TaskService,
        store: Store,
        streaming: Streaming,
        zone: tzinfo,
        time: WaitingClock,
        *,
        place: Address,
        rate_limit_of: Callable[[Address], ChatRateLimit],
    ) -> None:
        self._task_service = task_service
        self._store = store
        self._time = time
        self._chat = RateLimitedChat(chat, rate_limit_of, place, time)
        self._questions = ShownQuestions(self._chat, task_service)
        # A chat that shows the steps itself needs no messages about them.
        self._steps = StepStream(task_service, store.tasks, "none" if chat.capabilities.counts_down else streaming)
        cards = CardSlot(self._chat, task_service, store.cards, store.frames, zone, time.now)
        self._low_priority = LowPriorityQueue(
            self._chat, task_service, cards, self._steps, self._questions, time, self.leave
        )
        self._rows: dict[int, OutboxRow] = {}
        self._finished: Recent[int, None] = Recent(FINISHED_KEPT)
        """The last rows that were sent or given up: one that was read just before is not offered again."""
        self._refused: dict[int, int] = {}
        """How often the chat refused each row."""
        self._lost_places: set[str] = set()
        """Tasks whose place no longer exists."""
        self._wake = asyncio.Event()
        self._stopping = False
        self._waiting = False

    @property
    def idle(self) -> bool:
        """Whether nothing is being sent, and nothing is waiting to be sent."""
        return self._waiting and not self._rows and not self._lost_places and self._low_priority.idle

    async def adopt(self, task: Task) -> None:
        """Take over a task that an earlier process of the service was working on."""
        await self._questions.adopt(task)
        self.changed(task)

    def offer(self, row: OutboxRow) -> None:
        """Add a stored message that is due. Does nothing if it is known already."""
        if row.id not in self._finished:
            self._rows.setdefault(row.id, row)
            self._wake.set()

    def changed(self, task: Task) -> None:
        """Tell the conversation that the task, or the task that it is a part of, has changed, so that its card is
        updated.
        """
        self._low_priority.task_changed(task)
        self._wake.set()

    def leave(self, task: str) -> None:
        """Let the task's messages go to another place if there is one, because its current place no longer exists."""
        self._lost_places.add(task)
        self._wake.set()

    def stop(self) -> None:
        """Let `run` finish the message that is being sent, and then end."""
        self._stopping = True
        self._chat.hurry()
        self._wake.set()

    async def run(self) -> None:
        """Send messages until `stop` is called."""
        while not self._stopping:
            self._wake.clear()
            while self._lost_places:
                await self._relocate(self._lost_places.pop())
            urgent = self._next_row()
            low = self._low_priority.urgency()
            if urgent is not None and not self._chat.delay(Urgency.URGENT):
                await self._deliver(urgent)
            elif urgent is None and low is not None and not self._chat.delay(low):
                await self._low_priority.send_next()
            else:
                self._waiting = True
                await self._time.rest(self._wake, self._until_next(low if urgent is None else Urgency.URGENT))
                self._waiting = False

    def _next_row(self) -> OutboxRow | None:
        """The most urgent message that can be sent now; only the first message of each task counts."""
        firsts: dict[str, OutboxRow] = {}
        for row in sorted(self._rows.values(), key=lambda row: row.id):
            firsts.setdefault(row.task, row)
        now = self._time.now()
        ready = [row for row in firsts.values() if row.not_before <= now]
        return min(ready, key=lambda row: (_PRIORITY[row.kind], row.id), default=None)

    def _until_next(self, urgency: Urgency | None) -> float | None:
        """Seconds until something can be sent; None if only news can change that."""
        now = self._time.now()
        waits = [row.not_before - now for row in self._rows.values() if row.not_before > now]
        waits += self._low_priority.delays()
        if urgency is not None:
            waits.append(self._chat.delay(urgency))
        return min(waits, default=None)

    async def _deliver(self, row: OutboxRow) -> None:
        task = await self._task_service.get(row.task)
        try:
            with speaking("" if task is None else task.person.language):
                await self._send_row(row, task)
        except MessageObsolete as reason:
            await self._give_up(row, str(reason))
        except FloodWait:
            await self._reschedule(row, self._chat.silent_until)
        except ChatGone as error:
            if task is None or not await another_place(task, self._chat.chat, self._task_service):
                await self._give_up(row, str(error))
            else:
                await self._reschedule(row, self._time.now())
                self._low_priority.mark_changed(row.task)
        except ChatRefused as refused:
            # The next message of the task must not wait for what will never be taken.
            logger.warning(
                "Message %s of task %s was refused and is sent in a reduced form: %s", row.id, row.task, refused
            )
            self._refused[row.id] = self._refused.get(row.id, 0) + 1
            await self._reschedule(row, self._time.now())
        except ChatError as error:
            await self._retry_later(row, str(error))
        except StoreAway as away:
            # Nothing was sent without being stored; the row is unchanged.
            logger.info("message %s of task %s waits: %s", row.id, row.task, away)
            self._rows[row.id] = replace(row, not_before=self._time.now() + RETRY_FIRST)
        except Exception:
            logger.exception("Message %s of task %s was not sent because of a fault in the program", row.id, row.task)
            await self._retry_later(row, "a fault in the program, see the log")

    async def _relocate(self, task_id: str) -> None:
        """Bring card and open questions to the task's next place."""
        task = await self._task_service.get(task_id)
        if task is None or task.state is TaskState.ENDED:
            return
        if await another_place(task, self._chat.chat, self._task_service):
            for row in await self._store.outbox.ask_again(task_id, now=self._time.now()):
                self.offer(row)
            self._low_priority.mark_changed(task_id)

    async def _send_row(self, row: OutboxRow, task: Task | None) -> None:
        if task is None:
            raise MessageObsolete("its task is not there")
        place = await place_of(task, self._chat.chat, self._task_service)
        message = await message_for(
            row,
            task,
            task_service=self._task_service,
            frames=self._store.frames,
            capabilities=self._chat.capabilities,
            now=self._time.now(),
        )
        message = degrade(message, self._refused.get(row.id, 0), title_of(task))
        if isinstance(row.payload, FinalPayload):
            message = _in_place(message, task, place)
            await self._low_priority.finish(replace(task, place=place), row.attempts)
        await self._chat.ready()
        if not await self._store.outbox.sending(row.id):
            self._rows.pop(row.id, None)  # not its turn: it is offered again when it is
            return
        if not self._store.is_ours:
            await self._reschedule(row, self._time.now())
            return
        ref = await self._chat.send(place, message, nonce=f"o{row.id}")
        await self._store.outbox.sent(row.id, ref)
        self._finish(row)
        match row.payload:
            case QuestionPayload(question):
                await self._task_service.question_shown(question, ref)
                self._questions.mark_shown(question, task.id)
                self._low_priority.mark_changed(task.id)
            case FinalPayload():
                self._low_priority.forget(task.id)
                if await self._task_service.made_for_tasks(place):
                    await self._close(place)
            case _:
                pass

    def _finish(self, row: OutboxRow) -> None:
        self._rows.pop(row.id, None)
        self._refused.pop(row.id, None)
        self._finished[row.id] = None

    async def _close(self, place: Address) -> None:
        """Close a thread of tasks, unless a task is still running in it; a failure does no harm."""
        latest = await self._task_service.in_place(place)
        if latest is not None and latest.state is not TaskState.ENDED:
            return
        try:
            await self._chat.close(place)
        except (ChatError, FloodWait) as error:
            logger.info("the thread %s stays open: %s", place, error)

    async def _reschedule(self, row: OutboxRow, not_before: float) -> None:
        await self._store.outbox.retry(row.id, not_before)
        self._rows[row.id] = replace(row, attempts=row.attempts + 1, not_before=not_before)

    async def _retry_later(self, row: OutboxRow, why: str) -> None:
        now = self._time.now()
        if now - row.created > GIVE_UP:
            await self._give_up(row, why)
            return
        logger.warning("Message %s of task %s could not be sent and will be tried again: %s", row.id, row.task, why)
        await self._reschedule(row, now + min(RETRY_MOST, RETRY_FIRST * 2.0**row.attempts))

    async def _give_up(self, row: OutboxRow, why: str) -> None:
        logger.warning(
            "Message %s (%s) of task %s could not be sent and is dropped: %s", row.id, row.kind, row.task, why
        )
        await self._store.outbox.dead(row.id, why)
        self._finish(row)
        if isinstance(row.payload, FinalPayload):
            self._low_priority.forget(row.task)


class MessageObsolete(Exception):
    """Raised when a message need not be sent any more. The text says why and is stored."""


async def message_for(
    row: OutboxRow, task: Task, *, task_service: TaskService, frames: Frames, capabilities: Capabilities, now: float
) -> Message:
    """Return the contents that a stored message should have now. Raises MessageObsolete if it need not be sent any
    more.

    If an earlier process died while sending it, the contents say that it may be a repetition, unless the platform
    itself ignores repetitions.
    """
    repeated = row.uncertain and not capabilities.knows_delivery
    match row.payload:
        case FinalPayload() if task.request.watch is not None:
            return await render_watch(task, frames=frames, now=now, repeated=repeated)
        case FinalPayload(quiet):
            recap = None
            if not capabilities.counts_down:  # a chat that shows steps and screen itself does not need it
                # One phone after the other, not in turns.
                steps = sorted(await task_service.steps(task.id), key=lambda step: int(step.part or 0))
                recap = await make_recap(steps, frames, most_bytes=capabilities.file_limit)
            parts = await task_service.parts(task.id)
            final = await render_final(
                task,
                frames=frames,
                now=now,
                repeated=repeated,
                recap=recap,
                parts=parts,
                one_message=not capabilities.files_beside,
                titled=in_own_thread(task),
            )
            return replace(final, notify=False, mention=None) if quiet else final
        case QuestionPayload(asked):
            question = await task_service.question(asked)
            if question is None or question.answer is not None or question.expired:
                raise MessageObsolete("the question was closed before it was shown")
            asking = await task_service.get(question.task) or task
            return await render_question(
                question,
                asking,
                frames=frames,
                now=now,
                menu_choices=capabilities.menu_choices,
                repeated=repeated,
                counts_down=capabilities.counts_down,
                titled=in_own_thread(asking),
            )
        case FilePayload() as file:
            return await _file(file, task, frames, capabilities, repeated)
        case NoticePayload(notice):
            return _notice(notice, task, repeated)
        case _:
            assert_never(row.payload)


def degrade(message: Message, times: int, title: str) -> Message:
    """Return a smaller version of a message that the platform has refused `times` times.

    First it loses pictures and files, then its text, so that only the task's `title` and the buttons remain. Raises
    MessageObsolete if nothing remains to try.
    """
    if not times:
        return message
    if times > MOST_DEGRADED:
        raise MessageObsolete("the chat does not take any of it")
    body = message.body if times == 1 else ""
    told = "\n".join(part for part in (body, say("post.left_out")) if part)
    whole = replace(message, picture=None, files=(), body=told)
    return whole if times == 1 else replace(whole, heading=title, footer="", menu=None)


def _notice(notice: Notice, task: Task, repeated: bool) -> Message:
    match notice:
        case Notice.STARTED:
            if task.state is TaskState.ENDED:
                raise MessageObsolete("the task has ended before its begin was told")
            return render_notice(task, say("notice.started"), repeated=repeated)
        case Notice.INTERRUPTED:
            if task.state is not TaskState.INTERRUPTED:
                raise MessageObsolete("the task goes on, or has ended, before this was sent")
            return render_interrupted(task, repeated=repeated)


async def _file(file: FilePayload, task: Task, frames: Frames, capabilities: Capabilities, repeated: bool) -> Message:
    try:
        data = await frames.load(file.content)
    except KeyError:
        return render_notice(task, say("file.gone", name=file.name))
    if len(data) > capabilities.file_limit:
        return render_notice(task, say("file.too_large", name=file.name, limit=capabilities.file_limit // 1_000_000))
    return render_files(task, [Picture(file.name, data)], repeated=repeated)
