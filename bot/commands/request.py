"""A command from a person: who gave it, where, what they typed, and which task and phones it refers to."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from bot.application.access import Caller, Refused
from bot.application.services import Services
from bot.application.task_access import latest_task, task_named, task_or_none
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Message, Reply
from bot.domain.task import Task
from bot.texts import say


@dataclass(frozen=True, slots=True)
class Request(Caller):
    """One command from one person at one place. `prefix` is the typed prefix ("" if the command was not typed); `files`
    are the attachments.
    """

    call: CommandCall
    prefix: str = ""
    files: tuple[Attachment, ...] = ()
    stale: bool = False
    """Whether it was written (at `written`, in Unix seconds) while the service was away: it is then stored and
    listed, not carried out.
    """
    written: float = 0.0
    text: str = ""
    """The text as typed; "" if the command was not typed."""
    lead: str = ""
    """The prefix of commands there; "" if unknown."""
    carries: bool = False
    """Whether files came with it, downloaded or not."""
    device: str = ""
    """The phone that was picked outside the text; "" for none."""
    picked: bool = False
    """Whether the command was picked from a list with typed options instead of being typed."""

    def option(self, name: str) -> str:
        """Return the value of an option, "" if it was not given."""
        return self.call.option(name)

    def flag(self, name: str) -> bool:
        """Return whether a flag was given. Platforms with typed options send "false" for one that is off."""
        return self.call.flag(name)


class StaleRequest(Exception):
    """The `request` was written while the service was away. It must not be carried out unless a person confirms it."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.call.name)
        self.request = request


def refuse_stale(request: Request) -> None:
    """Raise StaleRequest for a request that was written while the service was away."""
    if request.stale:
        raise StaleRequest(request)


def public_reply(text: str, *, heading: str = "") -> Reply:
    """Return a reply with a short text, visible to everybody at the place."""
    return Reply(Message(heading=heading, body=text))


def private_reply(text: str, *, heading: str = "", footer: str = "") -> Reply:
    """Return a reply that only the person who asked sees, where the platform can do that."""
    return Reply(Message(heading=heading, body=text, footer=footer, private=True))


_LEADING = re.compile(r"(#?)(\d{1,18}(?:\.[^\s.]+)?)(?:\s+|$)")
"""A task's number, or that of a part, in front of a text."""


async def task_meant(request: Request, services: Services) -> Task:
    """Return the task that the option `task` names; without it, the task that this person most likely refers to at this
    place.

    Raises Refused if there is none that may be shown here.
    """
    named = request.option("task").removeprefix("#").strip()
    if named:
        return await task_named(named, request, services)
    task = await latest_task(request, services)
    if task is None:
        raise Refused(say("task.none"))
    return task


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
