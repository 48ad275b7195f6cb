"""The interface to other machines of the fleet, whose phones and task runs belong to this service."""

from __future__ import annotations

from typing import Protocol

from agent.events import TaskEvent
from agent.ports.memory import Memory
from agent.ports.runner import Runner
from agent.run import RunId
from agent.runner.local import LocalRunner
from bot.tasks.leases import PhoneLeases
from bot.tasks.secrets import MemorySecrets
from devices.provider import DeviceProvider


class HostedPhones(DeviceProvider, Protocol):
    """The phones that are connected to other machines of the fleet."""

    def owns(self, provider: DeviceProvider, phone_id: str) -> bool:
        """Return whether `provider`, on this machine or another, is the one responsible for the phone with this id.
        Also True as long as none is known to be.
        """

    def may_use(self, run: RunId, phone_id: str) -> bool:
        """Return whether a task's run may be given this phone, considering the machine on which each of them is."""


class RemoteMachines(Protocol):
    """The other machines of the fleet, which have phones and carry out tasks for this service."""

    @property
    def phones(self) -> HostedPhones:
        """The phones of the other machines, in the form that the phone pool takes."""

    def runner(self, local: LocalRunner, leases: PhoneLeases, secrets: MemorySecrets, memory: Memory) -> Runner:
        """Return the runner that carries out tasks here (through `local`) and on other machines. Called once, before
        `start`.
        """

    def confirm_stored(self, task: str, event: TaskEvent) -> None:
        """Report that an event of the task with this id has been stored by this service, so that the machine's messages
        up to it can be deleted.
        """

    async def start(self) -> None:
        """Connect to the other machines."""

    async def stop(self) -> None:
        """Disconnect from the other machines."""
