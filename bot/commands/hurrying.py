"""The command `now`: a task that waits for a phone goes to the head of its queue."""

from __future__ import annotations

from bot.access import Right
from bot.chats.outgoing import Reply
from bot.commands.choose import task_meant
from bot.commands.reins import require_to_go_on
from bot.commands.request import Request, Services, plain
from bot.texts import say


async def now(request: Request, services: Services) -> Reply:
    """For whoever may approve, on own tasks; for an admin on any. A task at work is never interrupted by it."""
    task = await task_meant(request, services)
    await require_to_go_on(request, services, task, Right.APPROVE)
    await services.desk.hurry(task.id, request.person)
    return plain(say("now.done", task=task.id))
