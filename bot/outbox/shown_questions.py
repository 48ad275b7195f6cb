"""Questions that are shown and open: they lose their buttons once they are closed, wherever that happened."""

from __future__ import annotations

import logging

from bot.cards.question import render_answered
from bot.domain.chat import ChatError, ChatGone
from bot.domain.task import Task
from bot.outbox.rate_limit import RateLimitedChat
from bot.tasks.service import TaskService

TRIES = 100
"""So often the change of a closed question is tried, a while apart: longer than a chat is likely to be away."""

logger = logging.getLogger(__name__)


class ShownQuestions:
    """The questions of one conversation, with their task."""

    def __init__(self, chat: RateLimitedChat, task_service: TaskService) -> None:
        self._chat = chat
        self._task_service = task_service
        self._open: dict[str, str] = {}
        self._failures: dict[str, int] = {}

    def shown(self, question: str, task: str) -> None:
        """The question stands there with its buttons."""
        self._open[question] = task

    async def adopt(self, task: Task) -> None:
        """Take over what a former process showed."""
        for question in await self._task_service.open_questions(task=task.id):
            if question.message is not None:
                self.shown(question.question.id, task.id)

    async def settle(self, task: Task) -> bool:
        """Take the buttons off the task's questions that were closed, and tell who answered. Raises FloodWait.

        False while one of them could not be changed and is worth another try.
        """
        settled = True
        for question_id in [known for known, owner in self._open.items() if owner == task.id]:
            question = await self._task_service.question(question_id)
            if question is not None and question.answer is None and not question.expired:
                continue
            if question is not None and question.message is not None:
                try:
                    await self._chat.edit(question.message, render_answered(question, task))
                except ChatError as error:
                    self._failures[question_id] = self._failures.get(question_id, 0) + 1
                    if not isinstance(error, ChatGone) and self._failures[question_id] < TRIES:
                        settled = False
                        continue
                    logger.info("the question %s keeps its buttons: %s", question_id, error)
            self._open.pop(question_id, None)
            self._failures.pop(question_id, None)
        return settled
