"""Who may hold the reins of a task: its giver, and whoever is an admin for all phones or for those that it works on."""

from __future__ import annotations

from bot.commands.request import Request, Services, require, verdict
from bot.domain.right import Right
from bot.domain.task import Task


async def require_to_hold(request: Request, services: Services, task: Task) -> None:
    """Raise NotAllowed unless the person may stop, pause or take over.

    One's own task can be stopped also when its phone may not be used any more: nothing begins by that.
    """
    policy, phones = services.policy, await phones_of(task, services)
    if not _on_every(request, services, task, phones):
        require(request, policy, Right.USE, owner=task.person)


async def require_to_go_on(request: Request, services: Services, task: Task, right: Right = Right.USE) -> None:
    """Raise NotAllowed unless the person may resume, steer or hurry it: that uses its phones."""
    for phone in await phones_of(task, services) or ("",):
        require(request, services.policy, right, owner=task.person, phone=phone)


async def phones_of(task: Task, services: Services) -> tuple[str, ...]:
    """The ids of the phones that the task works on or wishes for; none while it takes any."""
    phones = [part.phone for part in await services.task_service.parts(task.id)] or [task.phone]
    return tuple(phone for phone in phones if phone)


def _on_every(request: Request, services: Services, task: Task, phones: tuple[str, ...]) -> bool:
    """Whether the person may do with the task what its giver may, by their rights for each of its phones."""
    return bool(phones) and all(
        verdict(request, services.policy, Right.USE, owner=task.person, phone=phone).allowed for phone in phones
    )
