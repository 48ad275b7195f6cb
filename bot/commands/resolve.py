"""Finds the task and the phones that a typed command means."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.application.access import Refused
from bot.application.phones import state_of
from bot.application.services import Services
from bot.application.task_access import task_named, task_or_none
from bot.commands.request import Request
from bot.domain.incoming import CommandCall
from bot.domain.task import Task
from bot.texts import say
from devices.phone import PhoneInfo

_LEADING = re.compile(r"(#?)(\d{1,18}(?:\.[^\s.]+)?)(?:\s+|$)")
"""A task's number, or that of a part, in front of a text."""


async def task_meant(request: Request, services: Services) -> Task:
    """The task that the option `task` names, otherwise the one that this person means here.

    Raises Refused if there is none, or it may not be shown here.
    """
    named = request.option("task").removeprefix("#").strip()
    if not named:
        task = await services.store.tasks.latest_for(services.policy.accounts(request.person), request.address)
        if task is None:
            raise Refused(say("task.none"))
        return task
    return await task_named(named, request, services)


async def with_leading_task(request: Request, services: Services, *, means: Callable[[Task], bool]) -> Request:
    """Read a task's number in front of a text: `again 12 …`, `again #12 …`, or 12.2 for one phone's part. `again 2
    times` names task 2 only if that can be meant.
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
    """The phones that `all` leaves out, each with the reason."""
    return [say("do.left_out", name=phone.name, state=state_of(phone)) for phone in phones]
