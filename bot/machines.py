"""The border to other machines whose phones and runs belong to this service."""

from __future__ import annotations

from typing import Protocol

from agent.events import TaskEvent
from agent.ports.memory import Memory
from agent.ports.runner import Runner
from agent.run_id import RunId
from agent.runner.local import LocalRunner
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets
from devices.provider import DeviceProvider


class HostedPhones(DeviceProvider, Protocol):
    """The phones of other machines."""

    def owns(self, provider: DeviceProvider, phone_id: str) -> bool:
        """Whether a phone with this id counts as that of this provider, of this machine or of others."""
        ...

    def may_use(self, run: RunId, phone_id: str) -> bool:
        """Whether a run may be given this phone."""
        ...


class RemoteMachines(Protocol):
    """Machines with phones of their own that do runs for this service."""

    @property
    def phones(self) -> HostedPhones:
        """Their phones, for the pool."""
        ...

    def runner(self, local: LocalRunner, leases: PhoneLeases, secrets: MemorySecrets, memory: Memory) -> Runner:
        """What does runs here and there; called once, before `start`."""
        ...

    def in_record(self, task: str, event: TaskEvent) -> None:
        """The record has this event of a task."""
        ...

    async def start(self) -> None:
        """Connect to them from now on."""
        ...

    async def stop(self) -> None:
        """End what `start` began."""
        ...
