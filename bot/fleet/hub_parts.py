"""Builds the hub of a service whose settings have FLEET_URL, and loads the keys of hub and host."""

from __future__ import annotations

import logging

from agent.events import TaskEvent
from agent.guards.policy import Policy
from agent.ports.memory import Memory
from agent.runner.local import LocalRunner
from bot.config.settings import Settings, SettingsError
from bot.fleet.hub import Hub
from bot.fleet.keys import HostKeys, HubKeys, KeysLost
from bot.fleet.messages import HOST_KEYS, HUB_KEYS
from bot.fleet.phones import FleetPhones
from bot.fleet.runner import FleetRunner
from bot.store.store import Store
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets
from bot.texts import words

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
        self._frames = store.frames
        self._verdicts = store.skills.verdicts
        self._runner: FleetRunner | None = None

    async def start(self) -> None:
        """Start the hub, which connects to its hosts."""
        await self.hub.start()

    async def stop(self) -> None:
        """Stop the hub."""
        await self.hub.stop()

    def in_record(self, task: str, event: TaskEvent) -> None:
        """Tell the runner that this event is stored in the task's log."""
        if self._runner is not None:
            self._runner.in_record(task, event)

    def runner(self, local: LocalRunner, leases: PhoneLeases, secrets: MemorySecrets, memory: Memory) -> FleetRunner:
        """Return the runner for runs on this computer and on hosts. Called once, before `start`."""
        runner = FleetRunner(local, self.hub, self.phones, leases, secrets, self._frames, self._verdicts)
        self._runner = self.hub.runs = runner
        self.hub.memory = memory
        return runner
