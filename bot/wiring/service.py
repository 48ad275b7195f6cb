"""Runs the whole service: the core with its chats, the outbox and the console, from its start to its end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, contextmanager
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from agent.front_matter import Folders
from agent.members.loading import FILE as MEMBER_FILE
from agent.members.loading import Member, load_team
from agent.skills import saving
from agent.skills.library import FILE as SKILL_FILE
from agent.skills.library import load_skills
from bot.checks.service import ServiceCheck
from bot.commands.dispatcher import Commands
from bot.commands.scheduler import Scheduler
from bot.config.endpoints import transcriber_of
from bot.config.installation import AGENTS_NAME, SKILLS_NAME
from bot.config.settings import Settings
from bot.domain.chat import Chat, Connected
from bot.domain.clock import SteadyClock, WaitingClock
from bot.domain.locale import counting_in
from bot.domain.right import API_PLATFORM, NAME, PAGE_PLATFORM, Right
from bot.monitoring.dependencies import Dependencies, OutageNotice
from bot.monitoring.heartbeat import Pulse, ServiceManager, status_line
from bot.monitoring.metrics import Metrics, WatchPages
from bot.monitoring.spans import spans_to
from bot.outbox.outbox import Outbox
from bot.outbox.rate_limit import ChatRateLimits, ReplyTurns, Urgency
from bot.people.access import authorize
from bot.people.subjects import Naming, asker, audiences
from bot.platform import ChatContext, Platform
from bot.runtime.run_config import SideEndpoint
from bot.tasks.follow import TaskFollowers
from bot.texts import words
from bot.web.chat import ApiChat, WebChat
from bot.web.chat_completions import ChatCompletions
from bot.web.connect import Connect
from bot.web.connect_folders import ConnectFolders, FolderKind
from bot.web.connect_phones import ConnectPhones
from bot.web.exposure import ConsoleError, Exposure
from bot.web.hand import LiveHand
from bot.web.log import LogLines
from bot.web.mcp.mount import McpMount
from bot.web.people import PeopleChanges
from bot.web.server import Console
from bot.web.standby import Standby
from bot.web.v1.mount import ApiMount
from bot.web.viewers import Viewers
from bot.wiring.connections import ChatMoves, ConnectedChats, connect_while
from bot.wiring.core import Core, StoppedEarly, open_core
from bot.wiring.dependencies import of_chats, of_core
from bot.wiring.memory import freeze_gc
from bot.wiring.parts import part_routers, part_routes, parts_at_work
from bot.wiring.team import TOOL_NAMES, refused_folders
from devices.adb.host import WifiPhones
from devices.adb.server import ServerAddress
from devices.measuring import listening
from devices.processes import start_threads

logger = logging.getLogger(__name__)


class UnreachableError(Exception):
    """People could not reach the service: the console could not be opened, and no chat is configured."""


async def serve(settings: Settings, platforms: Sequence[Platform[Any]], *, announce: Callable[[str], None]) -> None:
    """Run the service with these chat platforms until a signal asks it to stop. `announce` is called with the console's
    address.

    Raises SettingsError or StoreError if the service cannot start, and UnreachableError if people could not reach it. A
    chat that cannot be started is logged; the rest runs.
    """
    start_threads()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, stopping.set)
    manager = ServiceManager.from_environment(os.environ)
    manager.status("Starting")
    standby = Standby(settings, manager.alive, partial(_load_ahead, settings, platforms))

    def stand_by(active: str) -> None:
        standby.set_active(active)
        manager.ready()
        manager.status("Standing by")

    with counting_in(settings.cost_currency), _stopped_early():
        async with (
            aclosing(standby),
            open_core(settings, platforms, serves=True, stopping=stopping, stand_by=stand_by) as core,
        ):
            await standby.aclose()  # the console has the same address
            waits = Dependencies(of_core(core))
            pulse = Pulse(
                core.task_service.seconds_since_round,
                manager,
                partial(status_line, core.store.tasks, core.phones, waits),
            )
            opened: list[str] = []
            async with waits.watched(), _chats(core, platforms, pulse, waits, opened.append):
                with pulse.beating():
                    freeze_gc()
                    for address in opened:
                        announce(address)  # below all that was logged meanwhile
                    logger.info("Ready.")
                    manager.ready()
                    await stopping.wait()
                manager.stopping()
                manager.status("Stopping at the next safe point")
                logger.info("Stopping: work stops at the next safe point and is continued after the next start.")


def _load_ahead(settings: Settings, platforms: Sequence[Platform[Any]]) -> None:
    """Import in advance what is otherwise imported once there is a record, so that taking over is quicker."""
    wanted = (one for one in platforms if one.is_set(settings) and not one.refusal(settings))
    chats = [name for platform in wanted for name in platform.loads]
    for name in ("bot.store.postgresql.checkpoints", *chats):
        import_module(name)
    freeze_gc()


@contextmanager
def _stopped_early() -> Iterator[None]:
    try:
        yield
    except StoppedEarly:
        logger.info("Stopped before the record could be used.")


@asynccontextmanager
async def _in_background(work: Coroutine[None, None, None], name: str) -> AsyncIterator[None]:
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@asynccontextmanager
async def _chats(
    core: Core,
    platforms: Sequence[Platform[Any]],
    pulse: Pulse,
    waits: Dependencies,
    announce: Callable[[str], None],
) -> AsyncIterator[None]:
    """Everything through which people talk to the core: the chats, the outbox and the commands."""
    settings = core.settings
    named = [platform.name for platform in platforms]
    chats: dict[str, Chat] = {}
    steady = SteadyClock()
    rate_limits = ChatRateLimits(steady)
    turns = ReplyTurns(rate_limits, chats, WaitingClock(steady, asyncio.sleep))
    transcriber = SideEndpoint("transcribe_", transcriber_of, core.live.now)
    core.live.on_change(transcriber.change)
    OutageNotice(core.task_service, waits)
    following = TaskFollowers(core.task_service, core.store.task_events)
    services = replace(
        core.services(following),
        chats=chats,
        turns=turns,
        press_turns=partial(turns, urgency=Urgency.URGENT),  # a person is looking at the message
        transcriber=transcriber.client,
        waits=waits.current_waits,
        on_outage=waits.on_change,
        namings={platform.name: platform.naming for platform in platforms} | {API_PLATFORM: Naming(NAME)},
    )
    commands = Commands(services, language=settings.language)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transcriber.close)
        stack.callback(following.close)
        web = WebChat(core.store.console, core.store.frames)
        chats[web.platform] = web
        people = WebChat(core.store.console, core.store.frames, PAGE_PLATFORM)
        chats[people.platform] = people
        chats[API_PLATFORM] = ApiChat()
        outbox = Outbox(
            core.task_service,
            core.store,
            chats,
            settings.stream_steps,
            clock=steady,
            rate_limits=rate_limits,
            zone=services.zone,
        )
        moves = ChatMoves(services, outbox, language=settings.language)

        def make(platform: Platform[Any], now: Settings) -> Connected:
            context = ChatContext(
                intake=commands,
                is_allowed=lambda person, place: authorize(person, place, Right.USE, core.rights.policy).allowed,
                audiences=lambda: audiences(core.rights.policy, platform.name),
                on_moved=moves,
                on_lost=outbox.leave,
                record=core.store,
            )
            return platform.connect(now, context)

        async def changed(platform: str) -> None:
            waits.drop(platform)
            waits.add(of_chats(connected.of(platform)))
            await outbox.reconnect(platform)

        connected = ConnectedChats(platforms, make, chats, changed)
        connected.make(core.live.now)

        core.admission.set_role_lookup(
            asker(lambda: services.policy, chats), core.task_service.note, core.quotas.update_tier
        )
        waits.add(of_chats(connected.of(*named)))
        await outbox.start()
        await stack.enter_async_context(_in_background(commands.missed.run(), "missed"))
        await stack.enter_async_context(_in_background(Scheduler(services).run(), "schedules"))
        await stack.enter_async_context(parts_at_work(services, waits))
        connected.start()
        stack.push_async_callback(connected.close)
        core.live.follow(connected.change)
        if settings.database_url.get_secret_value():
            ours = connect_while(lambda: core.store.is_ours, connected.close, lambda: connected.resume(core.live.now))
            stack.callback(asyncio.create_task(ours, name="ours").cancel)
        stack.push_async_callback(outbox.stop)  # before the chats end: what is being sent is finished
        metrics = Metrics(
            core.store.figures,
            core.phones,
            pulse,
            core.task_service.seconds_since_round,
            waits,
            lambda: core.housekeeper.disk_usage,
        )
        stack.callback(core.task_service.on_event(metrics.record_event))
        stack.enter_context(listening(metrics.part))
        if (spans := spans_to(settings.otlp_endpoint)) is not None:
            stack.push_async_callback(spans.close)
            stack.callback(core.task_service.on_event(spans.record_event))
            stack.enter_context(listening(spans.part))
        watch = WatchPages(pulse, metrics, waits, lambda: core.run_configs.state, named)
        checks = ServiceCheck(
            core.live, core.phones.list, waits.current_waits, core.run_configs, platforms, refused_folders
        )
        connect = Connect(
            services,
            platforms,
            online=connected.online,
            team=lambda: core.members.team,
            members=settings.data_dir / AGENTS_NAME,
            model=core.run_configs,
        )
        alone = not connected.of(*named)
        viewers = Viewers(web, people, services)
        await _console(core, viewers, commands, watch, checks, connect, stack, announce, alone=alone)
        yield


def _folders(core: Core) -> dict[str, FolderKind]:
    """The console's access to the operator's own members and skills."""

    def members(root: Path) -> Folders[Member]:
        team = load_team(None, frozenset(core.toolbox.tools), absent=TOOL_NAMES, shipped=root)
        return Folders(team.members, team.refused)

    data = core.settings.data_dir
    return {
        "members": FolderKind(data / AGENTS_NAME, MEMBER_FILE, members, core.members.read_again),
        "skills": FolderKind(
            data / SKILLS_NAME,
            SKILL_FILE,
            lambda root: load_skills(root, shipped=False),
            lambda: saving.refresh(core.skills),
        ),
    }


async def _console(
    core: Core,
    viewers: Viewers,
    commands: Commands,
    watch: WatchPages,
    checks: ServiceCheck,
    connect: Connect,
    stack: AsyncExitStack,
    announce: Callable[[str], None],
    *,
    alone: bool,
) -> None:
    """Open the console until the stack ends. Raises UnreachableError if that fails and there is no other way in."""
    services = viewers.services
    settings = core.settings
    try:
        password = settings.console_password.get_secret_value()
        console = Console(
            await asyncio.to_thread(Exposure.of, settings.console_host, settings.console_url, password),
            settings.console_port,
            viewers,
            commands,
            checks,
            core.store.sessions,
            connectable=connect.fields,
            data_dir=settings.data_dir,
            language=settings.language,
            beside=lambda ending: [
                *watch.routes(),
                *LogLines(ending).routes(),
                *PeopleChanges(services).routes(),
                *connect.routes(),
                *ConnectFolders(services, _folders(core)).routes(),
                *ConnectPhones(services, WifiPhones(ServerAddress(*core.settings.adb_servers[0]))).routes(),
                *LiveHand(services, ending).routes(),
                *part_routes(services),
                *ApiMount(services, ending, part_routers).routes(),
                *ChatCompletions(services, ending).routes(),
                *McpMount(services, ending).routes(),
            ],
            rights=core.rights,
        )
        address = await console.start()
    except ConsoleError as error:
        if alone:
            raise UnreachableError(words("settings.unreachable", why=error)) from error
        logger.error("%s The service runs without its console.", error)  # noqa: TRY400 - a sentence, not a trace
        return
    stack.push_async_callback(console.stop)
    announce(address)
