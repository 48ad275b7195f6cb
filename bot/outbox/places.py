"""Decides where a task's messages go. Its place (a thread or the chat) is opened once, before its first message."""

from __future__ import annotations

import logging
from dataclasses import replace

from bot.cards.formatting import title_of
from bot.domain.address import Address
from bot.domain.chat import Chat, ChatError, FloodWait
from bot.domain.task import Task
from bot.tasks.service import TaskService

logger = logging.getLogger(__name__)


def conversation_of(task: Task) -> Address:
    """Return the address of the chat in which the task was given, without thread: unless the platform limits each
    thread by itself, all threads of a chat share one rate limit.
    """
    origin = task.origin
    return Address(origin.platform, origin.account, origin.chat, origin.guild)


def is_group(task: Task) -> bool:
    """Return whether other people can read the chat in which the task was given. A private chat is recognised by
    having the person's own id.
    """
    return task.origin.chat != task.person.id


async def place_of(task: Task, chat: Chat, task_service: TaskService) -> Address:
    """Return the task's place, and open it if it has none yet. Raises what `Chat.open_place` raises."""
    if task.place is not None:
        return task.place
    followed = await task_service.get(task.request.follows) if task.request.follows else None
    if task.request.watch is not None or (followed is not None and followed.place == task.origin):
        place = task.origin  # a reading needs no place, and what follows up a task stays where that one was
    else:
        place = await chat.open_place(task.origin, task.request.origin.anchor or None, title_of(task))
    await task_service.set_place(task.id, place)
    return place


async def another_place(task: Task, chat: Chat, task_service: TaskService) -> bool:
    """Give a task whose place no longer exists another one: after its thread, the chat; after the chat, the private
    chat with its person.

    A task given inside a thread that was not opened for tasks goes directly to the private chat, because the thread
    may have been hidden from some people in the chat. Returns False if there is no place left, so that its messages
    are given up.
    """
    place = task.place or task.origin
    if place.thread and (place != task.origin or await task_service.made_for_tasks(place)):
        logger.warning("The thread of task %s is gone, so its messages go to the chat itself", task.id)
        await task_service.set_place(task.id, replace(place, thread=""))
        return True
    try:
        private = await chat.private_place(task.origin, task.person)
    except (ChatError, FloodWait) as error:
        logger.warning("The messages of task %s cannot go to a private chat: %s", task.id, error)
        return False
    if private in {place, task.origin}:
        return False
    logger.warning("The chat of task %s is gone, so its messages go to its person's private chat", task.id)
    await task_service.set_place(task.id, private)
    return True
