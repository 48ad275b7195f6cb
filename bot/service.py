"""The service: the core with its chats, the outbox and the console, from start to drain."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from bot.chats.base import Chat
from bot.chats.web.api import Behind
from bot.chats.web.chat import WebChat
from bot.chats.web.door import Door
from bot.chats.web.errors import ConsoleError
from bot.chats.web.server import Console
from bot.checks.within import ServiceCheck
from bot.clocks import SteadyClock
from bot.commands import work
from bot.commands.intake import Commands
from bot.commands.request import Services
from bot.commands.spec import BY_NAME
from bot.connections import connections, end, keep
from bot.core import Core, open_core
from bot.endpoints import transcriber_of
from bot.memory import settle
from bot.moves import ChatMoves
from bot.outbox.clockwork import Clockwork
from bot.outbox.outbox import Outbox
from bot.outbox.pace import Paces
from bot.outbox.replies import ReplyTurns
from bot.people.roles import asker
from bot.schedules.scheduler import Scheduler
from bot.settings import Settings
from bot.tasks.following import Following
from bot.watching.manager import ServiceManager
from bot.watching.metrics import Metrics
from bot.watching.pages import WatchPages
from bot.watching.pulse import Pulse
from bot.watching.sources import of_chats, of_core
from bot.watching.spans import spans_to
from bot.watching.standstill import Standstill
from bot.watching.status import status_line
from bot.watching.waits import Waits
from bot.zones import zone_named
from devices.measuring import listening

logger = logging.getLogger(__name__)


async def serve(settings: Settings, *, announce: Callable[[str], None]) -> None:
    """Run the service until a signal asks it to stop. `announce` gets the console's address.

    Raises SettingsError or StoreError when the service cannot start. A chat that cannot be started is logged; the
    rest runs.
    """
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    manager = ServiceManager.from_environment(os.environ)
    manager.status("Starting")
    async with open_core(settings) as core:
        waits = Waits(of_core(core))
        pulse = Pulse(core.desk, manager, partial(status_line, core.store.tasks, core.phones, waits))
        async with waits.watched(), _chats(core, pulse, waits, announce):
            with pulse.beating():
                settle()
                logger.info("Ready.")
                manager.ready()
                await stopping.wait()
            manager.stopping()
            manager.status("Stopping at the next safe point")
            logger.info("Stopping: work stops at the next safe point and is continued after the next start.")


@asynccontextmanager
async def _chats(core: Core, pulse: Pulse, waits: Waits, announce: Callable[[str], None]) -> AsyncIterator[None]:
    """Everything people talk to, around a working core."""
    settings = core.settings
    chats: dict[str, Chat] = {}
    steady = SteadyClock()
    paces = Paces(steady)
    turns = ReplyTurns(paces, chats, Clockwork(steady, asyncio.sleep))
    zone = zone_named(settings.time_zone)
    transcriber = transcriber_of(settings)
    services = Services(
        core.desk,
        core.store,
        core.phones,
        core.rights,
        core.quotas,
        core.live,
        chats,
        zone,
        turns=turns,
        transcriber=transcriber,
        standstill=Standstill(core.desk, waits).now,
    )
    commands = Commands(services, language=settings.language)
    async with AsyncExitStack() as stack:
        if transcriber is not None:
            stack.push_async_callback(transcriber.close)
        following = Following(core.desk)
        stack.callback(following.close)
        web = WebChat(core.store.console, core.store.frames)
        chats[web.platform] = web
        outbox = Outbox(core.desk, core.store, chats, settings.stream_steps, clock=steady, paces=paces)
        moves = ChatMoves(services, outbox, language=settings.language)
        connected = connections(settings, commands, core.rights, moves)
        chats.update({chat.platform: chat for chat in connected})
        core.admission.ask_with(asker(lambda: services.policy, chats), core.desk.note, core.quotas.heard)
        waits.add(of_chats(connected))
        await outbox.start()
        commands.missed.start()
        stack.push_async_callback(commands.missed.stop)
        scheduler = Scheduler(services, work.do)
        scheduler.start()
        stack.push_async_callback(scheduler.stop)
        for chat in connected:
            stack.push_async_callback(end, asyncio.create_task(keep(chat), name=chat.platform), chat)
        stack.push_async_callback(outbox.stop)  # before the chats end: what is being sent is finished
        metrics = Metrics(
            core.store.figures, core.phones, pulse, core.desk.still_for, waits, lambda: core.housekeeper.kept
        )
        stack.callback(core.desk.on_event(metrics.hear))
        stack.enter_context(listening(metrics.part))
        if (spans := spans_to(settings.otlp_endpoint)) is not None:
            stack.push_async_callback(spans.close)
            stack.callback(core.desk.on_event(spans.hear))
            stack.enter_context(listening(spans.part))
        await _console(core, web, commands, following, WatchPages(pulse, metrics, waits), waits, stack, announce)
        yield


async def _console(
    core: Core,
    web: WebChat,
    commands: Commands,
    following: Following,
    watch: WatchPages,
    waits: Waits,
    stack: AsyncExitStack,
    announce: Callable[[str], None],
) -> None:
    behind = Behind(
        chat=web,
        log=core.store.console,
        intake=commands,
        frames=core.store.frames,
        tasks=core.desk,
        search=core.store.search,
        questions=core.store.questions,
        steps=core.store.steps,
        phones=core.phones,
        usage=core.store.usage,
        schedules=core.store.schedules,
        checks=ServiceCheck(core.live, core.phones, waits),
        zone=zone_named(core.settings.time_zone),
        commands=BY_NAME,
    )
    settings = core.settings
    try:
        password = settings.console_password.get_secret_value()
        console = Console(
            await asyncio.to_thread(Door.of, settings.console_host, settings.console_url, password),
            settings.console_port,
            behind,
            following,
            core.store.sessions,
            data_dir=settings.data_dir,
            language=settings.language,
            beside=watch.routes(),
        )
        address = await console.start()
    except ConsoleError as error:
        logger.error("%s The service runs without its console.", error)  # noqa: TRY400 - a sentence, not a trace
        return
    stack.push_async_callback(console.stop)
    announce(address)
