"""A fleet put together: the hub's part of a service with FLEET_URL, and a host, which has no chats."""

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
    """The keys of this hub, made at the first call. Raises SettingsError."""
    try:
        return HubKeys.kept(settings.data_dir / HUB_KEYS)
    except KeysLost as lost:
        raise SettingsError(words("settings.fleet_keys", why=str(lost))) from lost


def host_keys(settings: Settings) -> HostKeys | None:
    """The keys of this host, None before it has joined. Raises SettingsError."""
    try:
        return HostKeys.kept(settings.data_dir / HOST_KEYS)
    except KeysLost as lost:
        raise SettingsError(words("settings.fleet_keys", why=str(lost))) from lost


class HubParts:
    """What a service has beside its own when it is a hub."""

    def __init__(self, settings: Settings, store: Store, policy: Policy) -> None:
        self.hub = Hub(settings.fleet_url, hub_keys(settings), store.fleet, store.frames, policy)
        self.phones = FleetPhones(self.hub, store.phone_names)
        store.frames.elsewhere = self.hub.picture
        self._frames = store.frames
        self._verdicts = store.skills.verdicts
        self._runner: FleetRunner | None = None

    def in_record(self, task: str, event: TaskEvent) -> None:
        """The record has this event of a task."""
        if self._runner is not None:
            self._runner.in_record(task, event)

    def runner(self, local: LocalRunner, leases: PhoneLeases, secrets: MemorySecrets, memory: Memory) -> FleetRunner:
        """What does runs here and at hosts."""
        runner = FleetRunner(local, self.hub, self.phones, leases, secrets, self._frames, self._verdicts)
        self._runner = self.hub.runs = runner
        self.hub.memory = memory
        return runner
