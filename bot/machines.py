"""The interface to other machines whose phones and runs belong to this service."""

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
        """Whether this provider (of this machine or of others) owns the phone with this id."""
        ...

    def may_use(self, run: RunId, phone_id: str) -> bool:
        """Whether a run may be given this phone."""
        ...


class RemoteMachines(Protocol):
    """Other machines with phones, which do runs for this service."""

    @property
    def phones(self) -> HostedPhones:
        """The phones of the other machines, for the pool."""
        ...

    def runner(self, local: LocalRunner, leases: PhoneLeases, secrets: MemorySecrets, memory: Memory) -> Runner:
        """The runner for runs here and on other machines; called once, before `start`."""
        ...

    def in_record(self, task: str, event: TaskEvent) -> None:
        """Report that the record has this event of a task."""
        ...

    async def start(self) -> None:
        """Connect to the other machines."""
        ...

    async def stop(self) -> None:
        """Disconnect from the other machines."""
        ...
