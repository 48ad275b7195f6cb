"""Removes the buttons of questions in chats once these are closed, wherever that happened."""

from __future__ import annotations

import logging

from bot.cards.question import render_answered
from bot.domain.chat import ChatError, ChatGone
from bot.domain.task import Task
from bot.outbox.rate_limit import RateLimitedChat
from bot.tasks.service import TaskService

TRIES = 100
"""Most attempts to edit a closed question, spread over a longer time than a chat is likely to be unreachable."""

logger = logging.getLogger(__name__)


class ShownQuestions:
    """The questions that are shown with buttons in one conversation."""

    def __init__(self, chat: RateLimitedChat, task_service: TaskService) -> None:
        self._chat = chat
        self._task_service = task_service
        self._open: dict[str, str] = {}
        self._failures: dict[str, int] = {}

    def shown(self, question: str, task: str) -> None:
        """Record that a message with buttons shows this question of this task."""
        self._open[question] = task

    async def adopt(self, task: Task) -> None:
        """Record the open questions of a task that an earlier process of the service showed."""
        for question in await self._task_service.open_questions(task=task.id):
            if question.message is not None:
                self.shown(question.question.id, task.id)

    async def settle(self, task: Task) -> bool:
        """Edit the messages of the task's closed questions: remove their buttons and show who answered.

        Returns False if one of them could not be edited and should be tried again. Raises FloodWait.
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
