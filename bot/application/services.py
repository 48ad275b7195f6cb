"""The parts that are at work when somebody asks for something."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from agent.guards.reading import Readings
from agent.models.base import Model
from agent.models.state import ModelState, ModelStatus
from agent.models.transcription import Transcriber
from agent.ports.frames import Frames
from agent.ports.memory import Memory
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
from bot.tasks.hands import Hands
from bot.tasks.operating import Operating
from bot.tasks.service import TaskService
from bot.views.tools import ToolOffer
from devices.phone import Phones

UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Services:
    """What the service works with when somebody asks for something."""

    task_service: TaskService
    store: Store
    phones: Phones
    rights: Rights
    quotas: Quotas
    live: RuntimeSettings
    hands: Hands
    operating: Operating
    following: TaskFollowers
    chats: Mapping[str, Chat]
    """By platform; they may be added after this was made."""
    zone: ZoneInfo = UTC
    """By which days begin and schedules are read."""
    clock: Callable[[], float] = time.time
    """Gives Unix seconds."""
    turns: Callable[[Place], Turn] = lambda _place: at_once
    """What a message waits for that answers somebody at a place."""
    press_turns: Callable[[Place], Turn] = lambda _place: at_once
    """What the change of a pressed message waits for."""
    transcriber: Callable[[], Transcriber | None] = lambda: None
    """Writes down what people say, None where no endpoint for that is set."""
    waits: Callable[[], tuple[Wait, ...]] = tuple
    """What the service waits for at the moment."""
    on_outage: Callable[[Listener], None] = lambda _listener: None
    """Has the listener told of each thing that the service waits for from now on, or no more."""
    namings: Mapping[str, Naming] = field(default_factory=dict)
    """How people are named in what is typed, by platform."""
    skills: Skills = field(default_factory=Skills)
    tools: Callable[[], ToolOffer] = ToolOffer
    """The tools that need no phone, as they are now."""
    offered_tools: Callable[[], Sequence[Tool[Any]]] = tuple
    """Those of them that there are for work without a phone, as it uses them."""
    readings: Readings = field(default_factory=Readings)
    """What the independent reader has said of controls."""
    reasoning: Callable[[], Model] | None = None
    """The model that plans, None where none is asked."""
    model: Callable[[], ModelState] = lambda: ModelState(ModelStatus.NOT_TESTED)
    """How the model for acting is doing."""
    machines: RemoteMachines | None = None
    """Those that do runs beside this one; None where there are none."""

    @property
    def offline(self) -> bool:
        """Whether no model is set, so that the offline pilot works."""
        return self.model().status is ModelStatus.OFFLINE

    @property
    def policy(self) -> Policy:
        """Who may do what at this moment."""
        return self.rights.policy

    @property
    def memory(self) -> Memory:
        """What people have told the service to remember."""
        return self.store.memory(self.policy.subjects)

    @property
    def frames(self) -> Frames:
        """Where screenshots are kept."""
        return self.store.frames
