"""The chats that the settings name, and keeping them connected."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import Awaitable, Callable
from typing import Protocol

from bot.config.settings import Settings
from bot.domain.address import Address, Person, Place
from bot.domain.chat import Chat, ChatError, Intake
from bot.domain.right import Right
from bot.people.access import authorize
from bot.people.rights import Rights
from bot.people.subjects import audiences

logger = logging.getLogger(__name__)

CLOSE_WITHIN = 5.0
"""Seconds that a chat gets to say goodbye to its platform when the service stops."""

FIRST_PAUSE = 1.0
"""Seconds until a connection that has ended is made anew; doubled each time, until one has lasted LAST_PAUSE."""
LAST_PAUSE = 300.0


class Connected(Chat, Protocol):
    """A chat that has a connection to keep up."""

    @property
    def online(self) -> bool:
        """Whether the platform answers at the moment."""
        ...

    async def run(self) -> None:
        """Stay connected until cancelled or closed. Raises ChatError, with the reason for a person, when the platform
        refuses the connection. It may be called again after any error.
        """
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


def connections(
    settings: Settings,
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

    if refusal := settings.discord_refusal():
        logger.warning("Discord is not started: %s", refusal)
    elif token := settings.discord_bot_token.get_secret_value():
        # Here and not above: a service without Discord does not load its library.
        from bot.chats.discord import DiscordChat  # noqa: PLC0415 - see above

        chats.append(
            DiscordChat(
                token,
                intake,
                prefix=settings.discord_command_prefix,
                client_id=settings.discord_client_id,
                guild_ids=settings.discord_allowed_guild_ids,
                register_commands=settings.discord_register_commands,
                state_directory=settings.data_dir,
                welcome=welcome,
                language=settings.language,
                lost=lost,
                api_base=os.environ.get("DISCORD_API_BASE"),
            )
        )
    else:
        logger.info("Discord is skipped: DISCORD_BOT_TOKEN is not set.")
    if refusal := settings.telegram_refusal():
        logger.warning("Telegram is not started: %s", refusal)
    elif token := settings.telegram_bot_token.get_secret_value():
        from bot.chats.telegram import Hook, TelegramChat  # noqa: PLC0415 - see above

        url = settings.telegram_webhook_url
        chats.append(
            TelegramChat(
                token,
                intake,
                base_url=settings.telegram_base_url,
                language=settings.language,
                hook=Hook(url, settings.telegram_webhook_host, settings.telegram_webhook_port) if url else None,
                audiences=lambda: audiences(rights.policy, "telegram"),
                directory=settings.data_dir,
                welcome=welcome,
                moved=moved,
            )
        )
    else:
        logger.info("Telegram is skipped: TELEGRAM_BOT_TOKEN is not set.")
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
