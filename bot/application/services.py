"""The container of the service's components that requests from people and programs work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from agent.guards.reading import Readings
from agent.models.base import Model
from agent.models.other_models import Transcriber
from agent.models.state import ModelState, ModelStatus
from agent.ports.memory import Memory
from agent.ports.stores import Frames
from agent.skills.library import Skills
from agent.tools.spec import Tool
from bot.domain.address import Place
from bot.domain.chat import Chat
from bot.domain.outgoing import Turn, at_once
from bot.machines import RemoteMachines
from bot.monitoring.dependencies import Listener, Wait
from bot.people.access import Policy
from bot.people.quotas import Quotas
from bot.people.rights import Rights
from bot.people.subjects import Naming
from bot.runtime.settings import RuntimeSettings
from bot.store.store import Store
from bot.tasks.follow import TaskFollowers
from bot.tasks.manual_input import ManualInput
from bot.tasks.remote_control import RemoteControlService
from bot.tasks.service import TaskService
from bot.views.tools import ToolOffer
from devices.phone import Phones

UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Services:
    """The components that every request from a person or program works with. There is one instance for the whole
    service.

    For example, to start a task on behalf of a caller:

        started = await TaskCommands(caller, services).start(TaskDraft("Open the clock", device="pixel"))
        async for heard in services.following.events(started.task.id): ...
    """

    task_service: TaskService
    store: Store
    phones: Phones
    rights: Rights
    quotas: Quotas
    live: RuntimeSettings
    remote_control: RemoteControlService
    manual_input: ManualInput
    followers: TaskFollowers
    chats: Mapping[str, Chat]
    """The connected chats by platform; more may be added later."""
    zone: ZoneInfo = UTC
    """The time zone in which days begin and schedules are read."""
    clock: Callable[[], float] = time.time
    """Returns Unix seconds."""
    turns: Callable[[Place], Turn] = lambda _place: at_once
    """What to await before a message that answers somebody at a place."""
    press_turns: Callable[[Place], Turn] = lambda _place: at_once
    """What to await before editing the message whose button was pressed."""
    transcriber: Callable[[], Transcriber | None] = lambda: None
    """Returns the speech recogniser; None if no endpoint for it is set."""
    waits: Callable[[], tuple[Wait, ...]] = tuple
    """Returns the dependencies (a model, a chat platform, ...) that the service is waiting for at the moment."""
    on_outage: Callable[[Listener], None] = lambda _listener: None
    """Registers a listener that is called when the service begins or stops waiting for a dependency."""
    namings: Mapping[str, Naming] = field(default_factory=dict)
    """How people are named in typed text, by platform."""
    skills: Skills = field(default_factory=Skills)
    tools: Callable[[], ToolOffer] = ToolOffer
    """Returns the tools that need no phone, as available now."""
    offered_tools: Callable[[], Sequence[Tool[Any]]] = tuple
    """Returns those of the tools that are used in work without a phone."""
    readings: Readings = field(default_factory=Readings)
    """What a second, independent model has said about controls on the screen."""
    reasoning: Callable[[], Model] | None = None
    """Returns the model that plans; None if there is none."""
    model: Callable[[], ModelState] = lambda: ModelState(ModelStatus.NOT_TESTED)
    """Returns the state of the model that acts."""
    machines: RemoteMachines | None = None
    """The other machines that do runs; None if there are none."""

    @property
    def offline(self) -> bool:
        """Whether no model is set. Tasks are then done by the offline pilot, which follows simple literal
        instructions.
        """
        return self.model().status is ModelStatus.OFFLINE

    @property
    def policy(self) -> Policy:
        """The current access policy: the lists in the settings, and the rights that admins have given."""
        return self.rights.policy

    @property
    def memory(self) -> Memory:
        """The facts that people have asked the service to remember."""
        return self.store.memory(self.policy.subjects)

    @property
    def frames(self) -> Frames:
        """The store of screenshots."""
        return self.store.frames
