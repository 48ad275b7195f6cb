"""What a task is worked on with: which models, which dialect, which limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from agent.dialects.base import Dialect
from agent.guards.reading import GuardMode
from agent.limits import TaskLimits
from agent.models.base import Models


@dataclass(frozen=True)
class RunConfig:
    """What may be set otherwise while tasks work. A task keeps what it has taken to its end."""

    models: Models
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the acting model is shown."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    guard: GuardMode = "rules"
    deep_thinking: bool = False
    """Whether the planner weighs several ways first."""


class RunConfigSource(Protocol):
    """Where the configuration of this moment is. Models that were replaced are closed when nobody has them any more."""

    def take(self) -> RunConfig:
        """The configuration of this moment, to be given back."""
        ...

    def give_back(self, config: RunConfig) -> None:
        """Nothing is asked of its models any more by whoever took it."""
        ...


@dataclass(frozen=True)
class FixedRunConfig:
    """Implements RunConfigSource where nothing changes."""

    config: RunConfig

    def take(self) -> RunConfig:
        """See RunConfigSource."""
        return self.config

    def give_back(self, config: RunConfig) -> None:
        """See RunConfigSource."""
