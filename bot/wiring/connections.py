"""The chats that the settings name, and keeping them connected."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from bot.config.settings import Settings
from bot.domain.address import Address, Person, Place
from bot.domain.chat import ChatError, Connected, Intake
from bot.domain.right import Right
from bot.people.access import authorize
from bot.people.rights import Rights
from bot.people.subjects import Audience, audiences
from bot.platform import ChatContext, Platform

logger = logging.getLogger(__name__)

CLOSE_WITHIN = 5.0
"""Seconds that a chat gets to say goodbye to its platform when the service stops."""

FIRST_PAUSE = 1.0
"""Seconds until a connection that has ended is made anew; doubled each time, until one has lasted LAST_PAUSE."""
LAST_PAUSE = 300.0


def connections(
    settings: Settings,
    platforms: Iterable[Platform[Any]],
    intake: Intake,
    rights: Rights,
    *,
    moved: Callable[[Address, str], Awaitable[None]],
    lost: Callable[[Address], Awaitable[None]],
) -> list[Connected]:
    """The chats that are configured. What is missing is one line in the log.

    `moved` hears of chats with a new id, `lost` of places where nobody can be reached any more.
    """
    chats: list[Connected] = []

    def welcome(person: Person, place: Place) -> bool:
        return authorize(person, place, Right.USE, rights.policy).allowed

    for platform in platforms:
        if refusal := platform.refusal(settings):
            logger.warning("%s", refusal)
        elif platform.is_set(settings):

            def shown(name: str = platform.name) -> tuple[Audience, ...]:
                return audiences(rights.policy, name)

            chats.append(platform.connect(settings, ChatContext(intake, welcome, shown, moved, lost)))
        else:
            logger.info("%s is skipped: %s is not set.", platform.title, platform.token.upper())
    return chats


async def keep(
    chat: Connected,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """One chat's connection until it is closed, made anew after whatever ended it. Nothing else notices its faults.

    `clock` counts seconds, `sleep` lets them pass.
    """
    pause = FIRST_PAUSE
    while True:
        began = clock()
        try:
            return await chat.run()
        except ChatError as error:
            why, fault = str(error), None
        except Exception as error:  # noqa: BLE001 - of a library's faults nobody has a list; each is logged below
            why, fault = "There was a fault in the program.", error
        if clock() - began >= LAST_PAUSE:
            pause = FIRST_PAUSE
        logger.error("%s is not connected: %s Next attempt in %.0f s.", chat.platform, why, pause, exc_info=fault)
        await sleep(pause)
        pause = min(pause * 2, LAST_PAUSE)


async def end(task: asyncio.Task[None], chat: Connected) -> None:
    """Close a connection, and its task with it, within CLOSE_WITHIN."""
    try:
        async with asyncio.timeout(CLOSE_WITHIN):
            await chat.close()
    except TimeoutError:
        logger.warning("%s did not close in time and is cut off", chat.platform)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
