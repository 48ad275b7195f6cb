"""Where a task's messages go: its place is opened once, before its first message."""

from __future__ import annotations

import logging

from bot.cards.words import title_of
from bot.chats.address import Address
from bot.chats.base import Chat, ChatError, FloodWait
from bot.tasks.desk import TaskDesk
from bot.tasks.model import Task

logger = logging.getLogger(__name__)


def conversation_of(task: Task) -> Address:
    """The chat in which a task lives; its threads share the chat's budget."""
    origin = task.origin
    return Address(origin.platform, origin.account, origin.chat, origin.guild)


def is_group(task: Task) -> bool:
    """Whether others read along. A private chat has the person's own id where that matters for the budget."""
    return task.origin.chat != task.person.id


async def place_of(task: Task, chat: Chat, desk: TaskDesk) -> Address:
    """The task's place, opened now when it has none yet. Raises what `Chat.open_place` raises."""
    if task.place is not None:
        return task.place
    place = await chat.open_place(task.origin, task.anchor or None, title_of(task))
    await desk.set_place(task.id, place)
    return place


async def another_place(task: Task, chat: Chat, desk: TaskDesk) -> bool:
    """Give a task whose place is gone the next one: where it was asked, then the private chat with its person.

    False when there is none left, so that what is to be told has to be given up.
    """
    place = task.place or task.origin
    if place != task.origin and place.chat == task.origin.chat:
        logger.warning("the place of task %s is gone; its messages go to where it was asked", task.id)
        await desk.set_place(task.id, task.origin)
        return True
    try:
        private = await chat.private_place(task.origin, task.person)
    except (ChatError, FloodWait) as error:
        logger.warning("there is no private chat for task %s: %s", task.id, error)
        return False
    if private in {place, task.origin}:
        return False
    logger.warning("the chat of task %s is gone; its messages go to its person privately", task.id)
    await desk.set_place(task.id, private)
    return True
