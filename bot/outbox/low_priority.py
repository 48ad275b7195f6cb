"""Sends messages that can wait: cards, and silent messages about steps. Cards come first; several steps share one
message, and none is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Literal

from bot.cards.card import render_step, render_steps
from bot.domain.address import Address
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait
from bot.domain.clock import WaitingClock
from bot.domain.task import StepRow, Task, TaskState
from bot.outbox.rate_limit import RateLimitedChat, Urgency
from bot.outbox.shown import CardSlot, ShownQuestions, place_of
from bot.store.errors import StoreAway
from bot.store.tasks import Tasks
from bot.tasks.service import TaskService
from bot.texts import speaking

logger = logging.getLogger(__name__)


Streaming = Literal["threads", "all", "none"]

FOLD = 5
"""Steps that share one message, so that they do not slow down the card; the remaining ones are sent at the end."""


class StepStream:
    """The steps of one conversation that are still to be shown as messages. Those shown by an earlier process are left
    out.
    """

    def __init__(self, task_service: TaskService, tasks: Tasks, streaming: Streaming) -> None:
        self._task_service = task_service
        self._tasks = tasks
        self._streaming = streaming
        self._collected: dict[str, int] = {}
        self._pending: dict[str, list[StepRow]] = {}
        self._threads: set[Address] = set()
        """Threads that are known to have been opened for a task."""

    async def collect(self, task: Task) -> None:
        """Add the task's new steps, if the setting `streaming` wants them shown at its place."""
        if self._streaming == "none" or (self._streaming == "threads" and not await self._has_thread(task)):
            return
        if task.id not in self._collected:
            self._collected[task.id] = await self._tasks.steps_shown(task.id)
        known = self._collected[task.id]
        new = await self._task_service.steps(task.id, after=known)
        self._collected[task.id] = known + len(new)
        if told := [step for step in new if not step.is_shown_elsewhere]:
            self._pending.setdefault(task.id, []).extend(told)

    async def _has_thread(self, task: Task) -> bool:
        """Return whether the task's place is a thread that was opened for a task; False while it has no place."""
        if task.place is None or task.place in self._threads:
            return task.place is not None
        if made_for_tasks := await self._tasks.made_for_tasks(task.place):
            self._threads.add(task.place)
        return made_for_tasks

    def forget(self, task: str) -> None:
        """Delete what is stored in memory about the task: its final message was sent, or never will be."""
        self._collected.pop(task, None)
        self._pending.pop(task, None)

    def next(self) -> tuple[StepRow, ...]:
        """Return the steps to show next in one message: those of the task that has waited longest. They remain until
        `mark_shown`.

        Empty while no task has `FOLD` steps waiting; its card shows them as they come.
        """
        many = [waiting for waiting in self._pending.values() if len(waiting) >= FOLD]
        if not many:
            return ()
        longest = min(many, key=lambda waiting: waiting[0].at)
        return tuple(longest)

    def pending(self, task: str) -> tuple[StepRow, ...]:
        """Return all steps of a task that wait to be shown."""
        return tuple(self._pending.get(task, ()))

    async def mark_shown(self, steps: tuple[StepRow, ...]) -> None:
        """Remove steps that were shown or cannot be shown, and store how many of the task's steps were shown."""
        for step in steps:
            waiting = self._pending.get(step.task, [])
            if step in waiting:
                waiting.remove(step)
            if not waiting:
                self._pending.pop(step.task, None)
        task = steps[-1].task
        if task in self._collected:
            await self._tasks.set_steps_shown(task, self._collected[task] - len(self._pending.get(task, ())))


RETRY_FIRST = 2.0
"""Seconds before something that could not be shown is retried; doubled each time for steps."""
RETRY_MOST = 60.0
"""Maximum seconds between two retries."""
SETTLE_AGAIN = 30.0
"""Seconds before a closed question that could not be edited is retried."""
LAST_TRIES = 3
"""Attempts to send the remaining steps before the final message goes out without them."""


class LowPriorityQueue:
    """The silent messages of one conversation: cards, steps, and edits of answered questions.

    `leave` is called with the number of a task whose place no longer exists.
    """

    def __init__(
        self,
        chat: RateLimitedChat,
        task_service: TaskService,
        cards: CardSlot,
        steps: StepStream,
        questions: ShownQuestions,
        time: WaitingClock,
        leave: Callable[[str], None],
    ) -> None:
        self._chat = chat
        self._task_service = task_service
        self._cards = cards
        self._steps = steps
        self._questions = questions
        self._time = time
        self._leave = leave
        self._update_from: dict[str, float] = {}
        """Tasks whose card must be updated, with the earliest time for it."""
        self._states: dict[str, dict[str, tuple[TaskState, bool, bool]]] = {}
        """State, `ending` and whether there is a screenshot, by task and part, as of the last update."""
        self._urgent_cards: set[str] = set()
        """Tasks whose card a person is waiting for: it is new, or shows the effect of a pressed button."""
        self._refresh_at: dict[str, float] = {}
        """When each card needs an update without news: for its clock, or to move it."""
        self._card_turn = True
        self._retry_steps_at = float("-inf")
        self._failures = 0

    def mark_changed(self, task: str) -> None:
        """Mark the task as changed, so that its card is updated."""
        self._update_from.setdefault(task, 0.0)

    def task_changed(self, task: Task) -> None:
        """Mark the task (or the task that it is a part of) as changed.

        If its state is new, it is being cancelled, or it has its first screenshot, the card is sent with the urgency of
        an answer to a person.
        """
        shown = task.parent or task.id
        now = (task.state, self._task_service.ending(task.id), task.frame is not None)
        known = self._states.setdefault(shown, {})
        if known.get(task.id) != now:
            known[task.id] = now
            self._urgent_cards.add(shown)
        self.mark_changed(shown)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to show, now or later."""
        return not self._update_from and not self._refresh_at and not self._steps.next()

    def urgency(self) -> Urgency | None:
        """Return the highest urgency among the messages that can be sent now; None if there are none."""
        cards = self._due_cards()
        if any(task in self._urgent_cards for task in cards):
            return Urgency.ANSWER
        return Urgency.LOW if cards or self._due_steps() else None

    def delays(self) -> list[float]:
        """Return after how many seconds each thing that was postponed can be sent."""
        now = self._time.now()
        times = [*self._update_from.values(), *self._refresh_at.values()]
        if self._steps.next():
            times.append(self._retry_steps_at)
        return [time - now for time in times if time > now]

    async def send_next(self) -> None:
        """Send one thing: a card (first those that answer a person), or a message with several steps, at most every
        other time.
        """
        cards, steps = self._due_cards(), self._due_steps()
        answers = [task for task in cards if task in self._urgent_cards]
        if steps and not answers and not (cards and self._card_turn):
            self._card_turn = True
            await self._send_steps(steps)
        elif cards:
            self._card_turn = False
            await self._show((answers or cards)[0])

    async def finish(self, task: Task, attempt: int) -> None:
        """Do what comes before a task's final message: send the remaining steps in one message, update answered
        questions, and finish the card.

        `attempt` counts from 0. Raises FloodWait, and ChatError while sending the steps should be tried again.
        """
        self._update_from.pop(task.id, None)
        self._refresh_at.pop(task.id, None)
        if task.request.watch is None:
            await self._steps.collect(task)
        left = self._steps.pending(task.id)
        if left:
            try:
                await self._send_steps_message(task, left)
            except ChatError as error:
                if attempt < LAST_TRIES and not isinstance(error, ChatGone | ChatRefused):
                    raise
                logger.warning(
                    "%d steps of task %s were not sent to the chat; its replay has them: %s", len(left), task.id, error
                )
            await self._steps.mark_shown(left)
        await self._questions.close_answered(task)
        await self._cards.freeze(task)

    def forget(self, task: str) -> None:
        """Delete what is stored in memory about the task: its final message was sent, or never will be."""
        self._steps.forget(task)
        self._cards.forget(task)
        self._refresh_at.pop(task, None)
        self._states.pop(task, None)
        self._urgent_cards.discard(task)

    def _due_cards(self) -> list[str]:
        now = self._time.now()
        changed = [task for task, not_before in self._update_from.items() if not_before <= now]
        return changed + [task for task, at in self._refresh_at.items() if at <= now and task not in self._update_from]

    def _due_steps(self) -> tuple[StepRow, ...]:
        return self._steps.next() if self._retry_steps_at <= self._time.now() else ()

    async def _show(self, task_id: str) -> None:
        self._update_from.pop(task_id, None)
        self._refresh_at.pop(task_id, None)
        self._urgent_cards.discard(task_id)
        try:
            task = await self._task_service.get(task_id)
            if task is not None:
                with speaking(task.person.language):
                    await self._update_card(task)
        except FloodWait:
            self._update_from[task_id] = self._chat.silent_until
        except ChatGone as error:
            logger.warning("The card of task %s cannot be shown in its chat: %s", task_id, error)
            self._leave(task_id)
        except ChatRefused as error:
            logger.warning("The card of task %s could not be updated: %s", task_id, error)
        except (ChatError, StoreAway) as error:
            logger.info("the card of task %s waits: %s", task_id, error)
            self._update_from[task_id] = self._time.now() + RETRY_FIRST
        except Exception:
            logger.exception("The card of task %s could not be updated because of a fault in the program", task_id)

    async def _update_card(self, task: Task) -> None:
        if not await self._questions.close_answered(task):
            self._update_from[task.id] = self._time.now() + SETTLE_AGAIN
        if task.state is TaskState.ENDED or task.request.watch is not None:
            return  # the final message contains the rest and finishes the card; a watch's reading has none
        await self._steps.collect(task)
        await self._cards.show(task)
        if (look := await self._cards.next_refresh(task)) is not None:
            self._refresh_at[task.id] = look
        if task.place is not None:
            return
        shown = await self._task_service.get(task.id)
        if shown is not None and shown.state is not TaskState.ENDED:
            await self._steps.collect(shown)  # its place is new

    async def _send_steps(self, steps: tuple[StepRow, ...]) -> None:
        task_id = steps[0].task
        try:
            task = await self._task_service.get(task_id)
            if task is not None:
                with speaking(task.person.language):
                    await self._send_steps_message(task, steps)
        except FloodWait:
            return  # silence, and then again
        except (ChatGone, ChatRefused) as error:
            logger.warning(
                "%d steps of task %s were not sent to the chat; its replay has them: %s", len(steps), task_id, error
            )
            if isinstance(error, ChatGone):
                self._leave(task_id)
        except ChatError as error:
            self._retry_steps_at = self._time.now() + min(RETRY_MOST, RETRY_FIRST * 2.0**self._failures)
            self._failures += 1
            logger.info("the steps of task %s wait: %s", task_id, error)
            return
        except Exception:
            logger.exception("Steps of task %s were not sent because of a fault in the program", task_id)
        self._failures = 0
        await self._steps.mark_shown(steps)

    async def _send_steps_message(self, task: Task, steps: tuple[StepRow, ...]) -> None:
        if len(steps) == 1:
            message = render_step(steps[0])
        else:
            message = render_steps(steps, limit=self._chat.capabilities.caption_limit)
        place = await place_of(task, self._chat.chat, self._task_service)
        last = steps[-1]
        name = f"s{last.part or last.task}-{last.subtask}-{last.step}"
        await self._chat.send(place, message, nonce=name if len(steps) == 1 else f"{name}-{len(steps)}")
