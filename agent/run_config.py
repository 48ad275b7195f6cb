"""The terms on which a task is worked on: which models, which dialect, which limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from agent.dialects.base import Dialect
from agent.guards.reading import GuardMode
from agent.limits import TaskLimits
from agent.models.base import Models


@dataclass(frozen=True)
class RunConfig:
    """What may be set otherwise while tasks work. Who has taken some keeps them to the end."""

    models: Models
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the acting model is shown."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    guard: GuardMode = "rules"
    deep_thinking: bool = False
    """Whether the planner weighs several ways first."""


class RunConfigSource(Protocol):
    """Where the terms of this moment are. Models that were replaced are closed when nobody has them any more."""

    def take(self) -> RunConfig:
        """The terms of this moment, to be given back."""
        ...

    def give_back(self, terms: RunConfig) -> None:
        """Nothing is asked of their models any more by whoever took them."""
        ...


@dataclass(frozen=True)
class FixedRunConfig:
    """Implements RunConfigSource where nothing changes."""

    terms: RunConfig

    def take(self) -> RunConfig:
        """See RunConfigSource."""
        return self.terms

    def give_back(self, terms: RunConfig) -> None:
        """See RunConfigSource."""
