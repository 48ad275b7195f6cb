"""Finds the task and the phones that a typed command refers to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.application.access import Refused
from bot.application.phones import state_of
from bot.application.services import Services
from bot.application.task_access import latest_task, task_named, task_or_none
from bot.commands.request import Request
from bot.domain.incoming import CommandCall
from bot.domain.task import Task
from bot.texts import say
from devices.phone import PhoneInfo

_LEADING = re.compile(r"(#?)(\d{1,18}(?:\.[^\s.]+)?)(?:\s+|$)")
"""A task's number, or that of a part, in front of a text."""


async def task_meant(request: Request, services: Services) -> Task:
    """Return the task that the option `task` names; without it, the task that this person most likely refers to at this
    place.

    Raises Refused if there is none that may be shown here.
    """
    named = request.option("task").removeprefix("#").strip()
    if not named:
        task = await latest_task(request, services)
        if task is None:
            raise Refused(say("task.none"))
        return task
    return await task_named(named, request, services)


async def with_leading_task(request: Request, services: Services, *, means: Callable[[Task], bool]) -> Request:
    """Move a task's number at the beginning of the text to the option `task`: in `again 12 …` or `again #12 …`, or 12.2
    for one phone's part. In `again 2 times`, the number counts only if task 2 exists and `means` accepts it.
    """
    found = _LEADING.match(request.call.rest)
    if found is None or request.option("task"):
        return request
    rest = request.call.rest[found.end() :]
    if not found[1] and rest:
        task = await task_or_none(found[2], services)
        if task is None or not means(task):
            return request
    return replace(request, call=CommandCall(request.call.name, {**request.call.options, "task": found[2]}, rest))


def left_out_words(phones: Sequence[PhoneInfo]) -> list[str]:
    """Return one line for each phone that was left out because it is not usable, with the reason."""
    return [say("do.left_out", name=phone.name, state=state_of(phone)) for phone in phones]
