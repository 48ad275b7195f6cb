"""The service: the core with its chats, the outbox and the console, from start to drain."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Protocol

from bot.access import Policy
from bot.chats.base import Chat, ChatError, Intake
from bot.chats.web.api import Behind
from bot.chats.web.chat import WebChat
from bot.chats.web.errors import ConsoleError
from bot.chats.web.server import Console
from bot.commands.intake import Commands
from bot.commands.request import Services
from bot.commands.spec import BY_NAME
from bot.core import Core, open_core
from bot.outbox.outbox import Outbox
from bot.settings import Settings
from bot.tasks.following import Following

logger = logging.getLogger(__name__)


class Connected(Chat, Protocol):
    """A chat that has a connection to keep up."""

    async def run(self) -> None:
        """Stay connected until cancelled. Raises ChatError when that is hopeless."""
        ...

    async def close(self) -> None:
        """End the connection."""
        ...


async def serve(settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Run the service until a signal asks it to stop. `announce` gets the console's address.

    Raises SettingsError or StoreError when the service cannot start. A chat that cannot be started is logged; the rest runs.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    async with open_core(settings) as core, _chats(core, announce):
        logger.info("Ready.")
        await stopping.wait()
        logger.info("Stopping: work stops at the next safe point and is continued after the next start.")


@asynccontextmanager
async def _chats(core: Core, announce: Callable[[str], None]) -> AsyncIterator[None]:
    """Everything people talk to, around a working core."""
    settings = core.settings
    chats: dict[str, Chat] = {}
    commands = Commands(Services(core.desk, core.store, core.phones, Policy.from_settings(settings), chats))
    async with AsyncExitStack() as stack:
        following = Following(core.desk)
        stack.callback(following.close)
        web = WebChat(core.store.console, core.store.frames)
        chats[web.platform] = web
        connected = _connected(settings, commands)
        chats.update({chat.platform: chat for chat in connected})
        outbox = Outbox(core.desk, core.store, chats, settings.stream_steps)
        await outbox.start()
        stack.push_async_callback(outbox.stop)
        for chat in connected:
            stack.push_async_callback(_ended, asyncio.create_task(_keep(chat), name=chat.platform), chat)
        await _console(core, web, commands, following, stack, announce)
        yield


async def _console(
    core: Core,
    web: WebChat,
    commands: Commands,
    following: Following,
    stack: AsyncExitStack,
    announce: Callable[[str], None],
) -> None:
    behind = Behind(
        chat=web,
        log=core.store.console,
        intake=commands,
        frames=core.store.frames,
        tasks=core.store.tasks,
        questions=core.store.questions,
        steps=core.store.steps,
        phones=core.phones,
        commands=BY_NAME,
    )
    settings = core.settings
    try:
        console = Console(settings.console_host, settings.console_port, behind, following, data_dir=settings.data_dir)
        address = await console.start()
    except ConsoleError as error:
        logger.error("%s The service runs without its console.", error)  # noqa: TRY400 - a sentence, not a trace
        return
    stack.push_async_callback(console.stop)
    announce(address)


def _connected(settings: Settings, intake: Intake) -> list[Connected]:
    """The chats that are configured. What is missing is one line in the log."""
    chats: list[Connected] = []
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
                api_base=os.environ.get("DISCORD_API_BASE"),
            )
        )
    else:
        logger.info("Discord is skipped: DISCORD_BOT_TOKEN is not set.")
    if refusal := settings.telegram_refusal():
        logger.warning("Telegram is not started: %s", refusal)
    elif token := settings.telegram_bot_token.get_secret_value():
        from bot.chats.telegram import TelegramChat  # noqa: PLC0415 - see above

        chats.append(TelegramChat(token, intake, base_url=settings.telegram_base_url))
    else:
        logger.info("Telegram is skipped: TELEGRAM_BOT_TOKEN is not set.")
    return chats


async def _keep(chat: Connected) -> None:
    """One chat's connection. Its end ends nothing else."""
    try:
        await chat.run()
    except ChatError as error:
        logger.error("%s is not connected: %s", chat.platform, error)  # noqa: TRY400 - a sentence, not a trace
    except Exception:
        logger.exception("%s has stopped because of a fault in the program", chat.platform)


async def _ended(task: asyncio.Task[None], chat: Connected) -> None:
    await chat.close()
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task
