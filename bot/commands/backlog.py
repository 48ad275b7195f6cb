"""Handles messages that people wrote while the service was away: they are listed once per place, and carried out only
when somebody presses their button.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, tzinfo

from agent.ports.stores import GivenFile
from bot.application.access import NotAllowed, Refused, verdict
from bot.application.services import Services
from bot.application.task_access import latest_task
from bot.cards.buttons import ButtonAction, ButtonData, button
from bot.cards.formatting import shortened
from bot.commands.request import Request, refuse_stale
from bot.domain.address import Address
from bot.domain.chat import ChatError, ChatGone, FloodWait
from bot.domain.incoming import Attachment, Late, Missed
from bot.domain.outgoing import Message
from bot.domain.right import Right
from bot.domain.task_request import Origin
from bot.store.errors import StoreAway
from bot.tasks.files import keep
from bot.texts import say, speaking

logger = logging.getLogger(__name__)


LISTED = 20
"""Maximum lines of one list: four rows of five buttons, and a length that fits into one message everywhere."""
_IN_ROW = 5
_TEXT_LIMIT = 100
"""Maximum characters shown of a typed text."""


def render_missed(missed: Sequence[Missed], zone: tzinfo) -> Message:
    """Return the list of a place's missed messages as one message: the latest ones, each with a button unless it was
    already carried out, and how many more there are.
    """
    shown = list(enumerate(missed, 1))[-LISTED:]
    lines = [_line(number, one, zone) for number, one in shown]
    if (more := len(missed) - len(shown)) > 0:
        lines.insert(0, say("missed.more", number=more))
    buttons = [
        button(ButtonAction.MISSED, one.id, say("button.run_missed", number=number))
        for number, one in shown
        if not one.done
    ]
    how = say("missed.how") if buttons else ""
    rows = tuple(tuple(buttons[start : start + _IN_ROW]) for start in range(0, len(buttons), _IN_ROW))
    return Message(heading=say("missed.heading"), body="\n".join(lines), footer=how, buttons=rows)


def _line(number: int, one: Missed, zone: tzinfo) -> str:
    late = one.late
    time, person = f"{datetime.fromtimestamp(late.written, zone):%m-%d %H:%M}", late.person.name or late.person.id
    line = say("missed.line", number=number, time=time, person=person, text=shortened(late.text, _TEXT_LIMIT))
    return f"{line} ✓ {say('missed.done')}" if one.done else line


GATHER_SECONDS = 3.0
"""Seconds without a new message before a list is made, as platforms deliver a backlog in batches."""
GATHER_MOST = 30.0
"""Seconds after which a list is made in any case."""
AGAIN_SECONDS = 30.0
"""Seconds before a list that could not be sent is retried."""


class MissedLists:
    """Sends the lists of missed messages. A list that was not sent because the process ended is sent by the next
    process.
    """

    def __init__(self, services: Services, *, gather: float = GATHER_SECONDS) -> None:
        self._services = services
        self._gather = gather
        self._arrived = asyncio.Event()
        self._arrived.set()  # what a former process left

    def notify(self) -> None:
        """Report that another missed message was stored."""
        self._arrived.set()

    async def list_all(self) -> bool:
        """Send every list that is due. Returns False if one could not be sent and has to be retried."""
        sent = [await self._list(place) for place in await self._services.store.missed.unlisted()]
        return all(sent)

    async def show_again(self, missed: Missed) -> None:
        """Update the list that contains this message. A failure is not serious."""
        chat = self._services.chats.get(missed.late.place.address.platform)
        if chat is None or missed.listed is None:
            return
        listed = await self._services.store.missed.listed_in(missed.listed)
        try:
            with speaking(listed[-1].late.person.language):
                turn = self._services.turns(missed.late.place)
                await chat.edit(missed.listed, render_missed(listed, self._services.zone), turn=turn)
        except (ChatError, FloodWait) as refused:
            logger.info("A list of missed messages stays as it was: %s", refused)

    async def run(self) -> None:
        """Send lists whenever there are missed messages, until cancelled."""
        while True:
            await self._arrived.wait()
            await self._wait_until_quiet()
            try:
                done = await self.list_all()
            except StoreAway as away:
                logger.debug("what was missed is listed later: %s", away)
                done = False
            except Exception:
                logger.exception("Missed messages could not be listed; this will be tried again")
                done = False
            if not done:
                self._arrived.set()
                await asyncio.sleep(AGAIN_SECONDS)

    async def _wait_until_quiet(self) -> None:
        """Wait until no more missed messages arrive."""
        loop = asyncio.get_running_loop()
        until = loop.time() + GATHER_MOST
        while self._arrived.is_set() and loop.time() < until:
            self._arrived.clear()
            try:
                async with asyncio.timeout(min(self._gather, until - loop.time())):
                    await self._arrived.wait()
            except TimeoutError:
                continue
        self._arrived.clear()

    async def _list(self, place: Address) -> bool:
        table = self._services.store.missed
        chat = self._services.chats.get(place.platform)
        missed = await table.to_list(place)
        if chat is None or not missed:
            return True
        try:
            with speaking(missed[-1].late.person.language):
                message = render_missed(missed, self._services.zone)
                turn = self._services.turns(missed[-1].late.place)
                sent = await chat.send(place, message, nonce=f"missed-{missed[0].id}", turn=turn)
        except ChatGone as gone:
            logger.warning("Messages missed in %s could not be listed there: %s", place, gone)
            await table.forget(missed)
            return True
        except (ChatError, FloodWait) as refused:
            logger.info("What was missed in %s is listed later: %s", place, refused)
            return False
        await table.list_in(missed, sent)
        return True


STEER = "steer"
"""The command that stands for a note to a running task; it cannot be typed."""
_STOPPING = frozenset({"cancel", "pause"})


async def refuse_stale_command(request: Request, services: Services) -> None:
    """Raise StaleRequest for a command that was written while the service was away and must not be carried out without
    confirmation.

    Commands that stop a task are carried out even late, because they make the phone safe; but not on a task that was
    given after the command was written. Raises Refused for commands that make no sense later, such as those with a
    code.
    """
    if not request.stale or request.call.name == "answer":  # an answer checks for itself: it may carry a secret
        return
    if request.call.name in _STOPPING:
        named = request.option("task").removeprefix("#").strip()
        task = await (services.task_service.get(named) if named else latest_task(request, services))
        if task is None or task.created <= request.written:
            return
    if request.call.name == "hand":
        raise Refused(say("hand.late"))  # the screen has changed by now, and the text to type must not be stored
    if request.call.name == "pair":
        raise Refused(say("missed.code"))  # a code is valid only briefly, and must not be stored
    refuse_stale(request)


async def store_missed(request: Request, services: Services, lists: MissedLists) -> None:
    """Store a late message for the list of missed messages. Does nothing if a task was already accepted from it, or if
    it is stored, because platforms may deliver a message twice. Raises BadFiles.
    """
    if await services.task_service.of_event(Origin(request.address, request.event)) is not None:
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
        lists.notify()


async def claimed(data: ButtonData, request: Request, services: Services) -> tuple[Missed, Request]:
    """Return the missed message whose button was pressed, and a request that carries it out for the person who pressed,
    with their current rights. The message is marked as handled, so that a second press does nothing. Raises Refused.
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
        call=late.call,
        message=late.message,
        prefix=late.prefix,
        files=files,
    )
    return missed, meant


async def attached(kept: Sequence[GivenFile], services: Services) -> tuple[Attachment, ...]:
    """Load the stored files of a missed message. Raises Refused if one is no longer stored."""
    files = []
    for file in kept:
        try:
            files.append(Attachment(file.name, await services.frames.load(file.content)))
        except KeyError:
            raise Refused(say("missed.file_gone", name=file.name)) from None
    return tuple(files)
