"""The commands `status`, `tasks` and `tools`, which show the state of a task, the latest tasks, and the available
tools.
"""

from __future__ import annotations

import time
from dataclasses import replace

from bot.application.access import Refused, may_see, verdict
from bot.application.services import Services
from bot.cards.buttons import ButtonAction, button
from bot.cards.card import live_card, state_line
from bot.cards.final import render_final
from bot.cards.formatting import duration, elapsed, receipt, title_of
from bot.commands.request import Request, plain
from bot.commands.resolve import task_meant
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.monitoring.dependencies import standstill_words
from bot.texts import listed, say
from bot.views.tools import tool_lines

PAGE = 10
"""Tasks on one page of the list."""
SCANNED = 200
"""Maximum tasks examined to fill one page, as those of others may not be shown."""


async def status(request: Request, services: Services) -> Reply:
    """Show the task's card with its current state, or the final message if it has ended."""
    task = await task_meant(request, services)
    now = time.time()
    if task.state is TaskState.ENDED:
        parts = await services.task_service.parts(task.id)
        final = await render_final(task, frames=services.frames, now=now, parts=parts)
        return Reply(replace(final, notify=False, mention=None, final=False, task=""))
    held_up = standstill_words(services.waits())
    card = await live_card(task, services.task_service, frames=services.frames, now=now, note=lambda _task: held_up)
    waiting = await _also_waiting(task, request, services)
    return Reply(replace(card, footer="\n".join(part for part in (card.footer, waiting) if part), card=False, task=""))


async def _also_waiting(task: Task, request: Request, services: Services) -> str:
    """The queue places of the person's other waiting tasks, where they may be shown."""
    places = []
    for other in await services.task_service.active():
        if (
            task.id not in {other.id, other.parent}
            and other.state is TaskState.QUEUED
            and services.policy.same(other.person, request.person)
        ):
            place = await services.task_service.place_in_queue(other.id)
            if place is not None and may_see(request, services.policy, other):
                places.append(say("status.place", task=other.called, place=place))
    return say("status.waiting", places=listed(places)) if places else ""


async def tasks(request: Request, services: Services) -> Reply:
    """Show a page of recent tasks, latest first."""
    return await tasks_before(request, services, request.option("before").removeprefix("#"))


async def tasks_before(request: Request, services: Services, before: str) -> Reply:
    """Show a page of tasks older than the one with the number `before`; "" shows the latest ones."""
    if before and not (before.isascii() and before.isdigit() and len(before) < 19):
        raise Refused(say("task.unknown", name=before[:40]))
    found, more = await _page(request, services, before or None)
    if not found:
        return Reply(Message(body=say("tasks.no_more" if before else "tasks.empty")))
    now = time.time()
    lines = [f"{title_of(task)}\n  {await _standing(task, services, now)}" for task in found]
    older = ((button(ButtonAction.OLDER, found[-1].id, say("button.older")),),) if more else ()
    body = "\n".join([*lines, *filter(None, [standstill_words(services.waits())])])
    return Reply(Message(heading=say("tasks.heading"), body=body, buttons=older))


async def _page(request: Request, services: Services, before: str | None) -> tuple[list[Task], bool]:
    """One page of the tasks that may be shown here, and whether there are more."""
    admin = verdict(request, services.policy, Right.ADMIN).allowed
    accounts = services.policy.accounts(request.person) if request.place.private and not admin else None
    recent = await services.task_service.recent(SCANNED, before, accounts)
    shown = [task for task in recent if may_see(request, services.policy, task)]
    return shown[:PAGE], len(shown) > PAGE


async def _standing(task: Task, services: Services, now: float) -> str:
    by = task.person.name or task.person.id
    if task.state is TaskState.QUEUED:
        place = await services.task_service.place_in_queue(task.id)
        return " · ".join((state_line(task, None, place), by, duration(elapsed(task, now))))
    return " · ".join((state_line(task, None), by, receipt(task, now)))


async def tools(request: Request, services: Services) -> Reply:  # noqa: ARG001 - as every command
    """List the tools that need no phone, one per line, and why some are unavailable."""
    return plain("\n".join(tool_lines(services.tools())), heading=say("tools.heading"))
