"""Assembles a host: store, agent and phones, but no chats, which only the hub has."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

from agent.guards.policy import Policy
from agent.guards.stricter import StricterPolicy
from agent.runner.local import LocalRunner, RunnerDependencies
from bot.config.settings import Settings
from bot.domain.retention import GIBIBYTE
from bot.fleet.host import Host
from bot.fleet.host_requests import HubMemory
from bot.fleet.keys import HostKeys
from bot.runtime.run_config import RunConfigs
from bot.runtime.settings import RuntimeSettings
from bot.store.directory import DataDirectory
from bot.store.housekeeping import Housekeeper
from bot.store.opening import open_checkpoints
from bot.store.store import Store
from bot.store.waiting import PATIENCE_S
from bot.tasks.secrets import MemorySecrets
from bot.wiring.core import phones_of
from bot.wiring.parts import tool_servers
from bot.wiring.team import skills_of
from bot.wiring.tools import actions_of, toolbox_of
from devices.processes import start_threads

logger = logging.getLogger(__name__)


@asynccontextmanager
async def open_host(settings: Settings, keys: HostKeys, policy: Policy) -> AsyncIterator[Host]:
    """Context manager that yields a host with its own store and phones; call `run` on it within the block. Raises like
    `open_core`.
    """
    start_threads()
    async with AsyncExitStack() as stack:
        stack.enter_context(DataDirectory(settings.data_dir))
        store = await Store.open(
            settings.data_dir,
            keep_days=settings.keep_days,
            keep_bytes=settings.keep_gigabytes * GIBIBYTE,
            patience=PATIENCE_S,
        )
        stack.push_async_callback(store.close)
        checkpoints = await stack.enter_async_context(open_checkpoints(settings.data_dir))
        live = await RuntimeSettings.open(settings, store)
        terms = RunConfigs(live.now, lambda _request, _away: None)
        stack.push_async_callback(terms.close)
        phones = phones_of(settings, store.phone_names, mends=True)
        stack.push_async_callback(phones.stop)
        await phones.start()
        skills = await asyncio.to_thread(skills_of, settings)
        offered = await stack.enter_async_context(tool_servers().connected(settings.data_dir, lambda: True))
        secrets = MemorySecrets()

        def make_runner(rules: dict[str, Any], host: Host) -> LocalRunner:
            stricter = StricterPolicy(Policy(rules), policy)
            memory = HubMemory(host.ask_memory)
            toolbox = toolbox_of(
                settings, store.tool_calls, stricter, memory=memory, skills=skills, offered_now=offered.tools
            )
            equipment = RunnerDependencies(
                phones=phones,
                leases=host.leases,
                configs=terms,
                policy=stricter,
                journal=store.journal,
                frames=host.frames,
                secrets=secrets,
                actions=actions_of(toolbox),
                toolbox=toolbox,
                memory=memory,
                skills=skills,
                skill_names=store.skills,
            )
            return LocalRunner(equipment, checkpoints)

        host = Host(keys, store, phones, secrets, make_runner, version=version("opengui-bot"))
        housekeeper = Housekeeper(store, checkpoints, settings.data_dir, keep_tasks_days=settings.keep_tasks_days)
        await stack.enter_async_context(housekeeper.at_work())
        logger.info("Model: %s", terms.models.vision.name)
        yield host
