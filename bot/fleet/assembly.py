"""Assembles the two sides of a fleet from the settings: the hub of a service that has FLEET_URL, and a host, which has
store, agent and phones but no chats. Loads their keys.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from typing import Any

from agent.events import TaskEvent
from agent.guards.policy import Policy
from agent.guards.stricter import StricterPolicy
from agent.ports.memory import Memory
from agent.runner.local import LocalRunner, RunnerDependencies
from bot.config.settings import Settings, SettingsError
from bot.domain.limits import GIBIBYTE
from bot.fleet.host import Host
from bot.fleet.host_requests import HubMemory
from bot.fleet.hub import Hub
from bot.fleet.keys import HostKeys, HubKeys, KeysLost
from bot.fleet.messages import HOST_KEYS, HUB_KEYS
from bot.fleet.phones import FleetPhones
from bot.fleet.runner import FleetRunner
from bot.runtime.run_config import RunConfigs
from bot.runtime.settings import RuntimeSettings
from bot.store.directory import DataDirectory
from bot.store.housekeeping import Housekeeper
from bot.store.store import Store, open_checkpoints
from bot.store.waiting import PATIENCE_S
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets
from bot.texts import words
from bot.wiring.core import phones_of
from bot.wiring.parts import tool_servers
from bot.wiring.team import actions_of, skills_of, toolbox_of
from devices.processes import start_threads

logger = logging.getLogger(__name__)


def hub_keys(settings: Settings) -> HubKeys:
    """Return the keys of this hub, created at the first call. Raises SettingsError if their file is damaged."""
    try:
        return HubKeys.kept(settings.data_dir / HUB_KEYS)
    except KeysLost as lost:
        raise SettingsError(words("settings.fleet_keys", why=str(lost))) from lost


def host_keys(settings: Settings) -> HostKeys | None:
    """Return the keys of this host; None before it has joined a hub. Raises SettingsError if their file is damaged."""
    try:
        return HostKeys.kept(settings.data_dir / HOST_KEYS)
    except KeysLost as lost:
        raise SettingsError(words("settings.fleet_keys", why=str(lost))) from lost


class HubParts:
    """Everything that a hub adds to a service: the hub, its hosts' phones and the runner. Implements
    `bot.machines.RemoteMachines`.
    """

    def __init__(self, settings: Settings, store: Store, policy: Policy) -> None:
        self.hub = Hub(settings.fleet_url, hub_keys(settings), store.fleet, store.frames, policy)
        self.phones = FleetPhones(self.hub, store.phone_names)
        store.frames.elsewhere = self.hub.picture
        self.start, self.stop = self.hub.start, self.hub.stop
        self._frames = store.frames
        self._verdicts = store.skills.verdicts
        self._runner: FleetRunner | None = None

    def confirm_stored(self, task: str, event: TaskEvent) -> None:
        """Tell the runner that this event is stored in the task's log."""
        if self._runner is not None:
            self._runner.confirm_stored(task, event)

    def runner(self, local: LocalRunner, leases: PhoneLeases, secrets: MemorySecrets, memory: Memory) -> FleetRunner:
        """Return the runner for runs on this computer and on hosts. Called once, before `start`."""
        runner = FleetRunner(local, self.hub, self.phones, leases, secrets, self._frames, self._verdicts)
        self._runner = self.hub.runs = runner
        self.hub.memory = memory
        return runner


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
