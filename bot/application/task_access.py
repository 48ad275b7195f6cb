"""Finds the task or question that a caller refers to, and checks what they may do with it."""

from __future__ import annotations

from bot.application.access import Caller, Refused, Unknown, may_see, may_show, require, verdict
from bot.application.services import Services
from bot.cards.formatting import title_of
from bot.domain.address import NOWHERE
from bot.domain.right import Right
from bot.domain.task import OpenQuestion, Task
from bot.texts import say


async def task_named(named: str, caller: Caller, services: Services) -> Task:
    """Return the task with this number. `12.2` and `12.pixel` name one phone's part of task 12, which runs on several
    phones. Raises Unknown if the caller may see no such task here.
    """
    task = await task_or_none(named, services)
    if task is None or not may_see(caller, services.policy, task):
        raise Unknown(say("task.unknown", name=named[:40]))
    return task


async def latest_task(caller: Caller, services: Services) -> Task | None:
    """Return the task that the caller most likely refers to without a number; None if they have none that may be shown
    here. In a group these are only tasks that were asked for in that group.
    """
    elsewhere = may_show(caller, services.policy, NOWHERE, caller.person)
    accounts = services.policy.accounts(caller.person)
    return await services.store.tasks.latest_for(accounts, caller.address, elsewhere=elsewhere)


async def task_or_none(named: str, services: Services) -> Task | None:
    """Return the task, or the part of a task (such as `12.2`), with this number; None if there is none. Does not check
    whether the caller may see it.
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
    """Check that the caller may stop, pause or take over a task; raises NotAllowed if not. They may if they gave the
    task, or if they are an admin for all phones or for every phone that it uses.

    People can always stop their own tasks, even on a phone that they may no longer use.
    """
    phones = await phones_of(task, services)
    if not phones or not all(
        verdict(caller, services.policy, Right.USE, owner=task.person, phone=phone).allowed for phone in phones
    ):
        require(caller, services.policy, Right.USE, owner=task.person)


async def require_to_go_on(caller: Caller, services: Services, task: Task, right: Right = Right.USE) -> None:
    """Check that the caller has `right` on every phone that the task would continue to use; raises NotAllowed if not.
    Resuming a task, steering it and moving it up in the queue need this.
    """
    for phone in await phones_of(task, services) or ("",):
        require(caller, services.policy, right, owner=task.person, phone=phone)


async def phones_of(task: Task, services: Services) -> tuple[str, ...]:
    """Return the ids of the phones that the task uses or is waiting for; empty if it may run on any phone."""
    phones = [part.phone for part in await services.task_service.parts(task.id)] if task.parts else [task.phone]
    return tuple(phone for phone in phones if phone)


async def sole(found: tuple[OpenQuestion, ...], services: Services) -> OpenQuestion:
    """Return the only question in `found`. Raises Refused if there is none, or if there are several: its text then
    lists them and asks which one is meant.
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
    """Return whether the question belongs to a task of the caller that may be shown here."""
    task = await services.task_service.get(one.task)
    return (
        task is not None and services.policy.same(task.person, caller.person) and may_see(caller, services.policy, task)
    )
