"""What was written while the service was away: what still holds is done, the rest is kept and listed with buttons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.files import GivenFile
from bot.access import Right
from bot.cards.buttons import ButtonData
from bot.chats.incoming import Attachment, CommandCall
from bot.commands.request import NotAllowed, Refused, Request, Services, refuse_late, verdict
from bot.missed.listing import MissedLists
from bot.missed.model import Late, Missed
from bot.tasks.files import keep
from bot.tasks.model import TaskWish
from bot.texts import say

STEER = "steer"
"""What a text to a running task means; it is no command that can be typed."""
_STOPPING = frozenset({"cancel", "pause"})
_WITH_CODES = frozenset({"pair"})


async def hold_back(request: Request, services: Services) -> None:
    """Raise TooLate for a command that must not be done late.

    A stop is done late, too: it is what makes the phone safe. But not to a task that was given after it was written.
    """
    if not request.stale or request.call.name == "answer":  # an answer checks for itself: it may carry a secret
        return
    if request.call.name in _STOPPING:
        named = request.option("task").removeprefix("#").strip()
        accounts = services.policy.accounts(request.person)
        task = await (services.desk.get(named) if named else services.desk.latest_for(accounts, request.address))
        if task is None or task.created <= request.written:
            return
    if request.call.name in _WITH_CODES:
        raise Refused(say("missed.code"))  # a code is for the moment, and for no table
    refuse_late(request)


async def keep_late(request: Request, services: Services, lists: MissedLists) -> None:
    """Keep it for the list, unless it is known to be done: a message may be delivered twice. Raises BadFiles."""
    wish = TaskWish(request.call.rest, request.person, request.address, request.event)
    if await services.desk.of_event(wish) is not None:
        return
    late = Late(
        person=request.person,
        place=request.place,
        event=request.event,
        message=request.message,
        text=request.text,
        prefix=request.prefix,
        call=request.call,
        files=await keep(services.frames, request.files),
        written=request.written or services.clock(),
    )
    if await services.store.missed.add(late, now=services.clock()):
        lists.came()


async def claimed(data: ButtonData, request: Request, services: Services) -> tuple[Missed, Request]:
    """What the button stands for, as a request of whoever presses, with the rights that hold now; it is taken, so that
    a second press does nothing. Raises Refused.
    """
    missed = await services.store.missed.get(data.subject)
    if missed is None or missed.late.place.address.chat != request.address.chat:
        raise Refused(say("missed.gone"))
    late = missed.late
    if (
        not services.policy.same(late.person, request.person)
        and not verdict(request, services.policy, Right.ADMIN).allowed
    ):
        raise NotAllowed(say("missed.not_yours"), "owner")
    files = await attached(late.files, services)
    if not await services.store.missed.claim(missed.id):
        raise Refused(say("missed.done_already"))
    meant = replace(
        request,
        place=replace(request.place, address=late.place.address),
        event=late.event,
        call=CommandCall(late.call.name, late.call.options, late.call.rest),
        message=late.message,
        prefix=late.prefix,
        files=files,
    )
    return missed, meant


async def attached(kept: Sequence[GivenFile], services: Services) -> tuple[Attachment, ...]:
    """Files that were kept until somebody presses, as they came. Raises Refused when one is there no more."""
    files = []
    for file in kept:
        try:
            files.append(Attachment(file.name, await services.frames.load(file.content)))
        except KeyError:
            raise Refused(say("missed.file_gone", name=file.name)) from None
    return tuple(files)
