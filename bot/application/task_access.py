"""Finds the task or question that a caller means, and checks what they may do with it."""

from __future__ import annotations

from bot.application.access import Caller, Refused, Unknown, may_see, require, verdict
from bot.application.services import Services
from bot.cards.formatting import title_of
from bot.domain.right import Right
from bot.domain.task import OpenQuestion, Task
from bot.texts import say


async def task_named(named: str, caller: Caller, services: Services) -> Task:
    """The task with this number; `12.2` and `12.pixel` name one phone's part of task 12. Raises Unknown if there is
    none that the caller may see here.
    """
    task = await task_or_none(named, services)
    if task is None or not may_see(caller, services.policy, task):
        raise Unknown(say("task.unknown", name=named[:40]))
    return task


async def task_or_none(named: str, services: Services) -> Task | None:
    """The task, or the part of one, with this number; None if there is none. Does not check whether the caller may
    see it.
    """
    number, dot, phone = named.partition(".")
    task = await services.task_service.get(number) if number.isascii() and number.isdigit() else None
    if task is None or not dot:
        return task
    wanted = phone.strip().casefold()
    return next((part for part in await services.task_service.parts(task.id) if wanted in _called(part)), None)


def _called(part: Task) -> set[str]:
    return {part.called.partition(".")[2], part.phone.casefold(), part.phone_name.casefold()}


async def require_to_hold(caller: Caller, services: Services, task: Task) -> None:
    """Check that the caller may stop, pause or take over a task: they gave it, or are an admin for all phones or for
    those that it uses. Raises NotAllowed.

    People can always stop their own tasks, even on a phone that they may no longer use.
    """
    phones = await phones_of(task, services)
    if not phones or not all(
        verdict(caller, services.policy, Right.USE, owner=task.person, phone=phone).allowed for phone in phones
    ):
        require(caller, services.policy, Right.USE, owner=task.person)


async def require_to_go_on(caller: Caller, services: Services, task: Task, right: Right = Right.USE) -> None:
    """Check that the caller has `right` on every phone that the task would go on using, as resuming, steering and
    hurrying need. Raises NotAllowed.
    """
    for phone in await phones_of(task, services) or ("",):
        require(caller, services.policy, right, owner=task.person, phone=phone)


async def phones_of(task: Task, services: Services) -> tuple[str, ...]:
    """The ids of the phones that the task uses or is waiting for; empty if it takes any phone."""
    phones = [part.phone for part in await services.task_service.parts(task.id)] if task.parts else [task.phone]
    return tuple(phone for phone in phones if phone)


async def sole(found: tuple[OpenQuestion, ...], services: Services) -> OpenQuestion:
    """The only question in `found`. Raises Refused if there is none, or if there are several, asking which one is
    meant.
    """
    if not found:
        raise Refused(say("answer.none"))
    if len(found) == 1:
        return found[0]
    tasks = [await services.task_service.get(one.task) for one in found]
    lines = [
        say("answer.line", task=title_of(task), question=one.question.text)
        for task, one in zip(tasks, found, strict=True)
        if task is not None
    ]
    raise Refused("\n".join([say("answer.which"), *lines]))


async def own_question(one: OpenQuestion, caller: Caller, services: Services) -> bool:
    """Whether the question is about a task of the caller that may be shown here."""
    task = await services.task_service.get(one.task)
    return (
        task is not None and services.policy.same(task.person, caller.person) and may_see(caller, services.policy, task)
    )
