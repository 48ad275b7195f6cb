"""What the executor's nodes work with: never stored, handed in again whenever a run is continued."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent.control import Control
from agent.dialects.base import Dialect
from agent.dialects.select import image_size_for
from agent.events import RunEvent
from agent.graph.executor.early import Watch
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.models.base import ModelReply, Models
from agent.observing import Sight
from agent.ports.frames import Frames
from agent.ports.journal import Journal
from agent.ports.secrets import Secrets
from devices.geometry import Size
from devices.phone import Observation, Phone, Phones


@dataclass
class Live:
    """What this process has seen of the phone. Empty after a restart: then the phone is looked at again.

    `fresh` is an observation that no model has been shown yet, settled unless `watch` says otherwise; `shown` holds
    the words beside the pictures of the image window, by sub-task and step.
    """

    sight: Sight | None = None
    fresh: Observation | None = None
    caption: asyncio.Task[ModelReply | None] | None = None
    shown: dict[tuple[int, int], str] = field(default_factory=dict)
    watch: Watch = field(default_factory=Watch)
    step_began: float = field(default_factory=time.monotonic)
    told: set[str] = field(default_factory=set)
    """What is told once in a run, and was."""


@dataclass(frozen=True)
class RunContext:
    """One run's hands, eyes and voice."""

    phone: Phone
    phones: Phones
    fence: int
    models: Models
    dialect: Dialect
    image_window: int
    policy: Policy
    journal: Journal
    frames: Frames
    secrets: Secrets
    control: Control
    emit: Callable[[RunEvent], None]
    mask: Mask = field(default_factory=Mask)
    live: Live = field(default_factory=Live)
    grace: float = 15.0
    """Seconds that an unplugged phone is waited for."""

    def fit(self, screen: Size) -> Size:
        """The size at which the model keeps a picture of this screen."""
        return image_size_for(self.models.vision.name, screen)
