"""The configuration that a task works with: models, dialects and limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.actions import Action
from agent.dialects.base import Dialect
from agent.guards.reading import GuardMode
from agent.limits import TaskLimits
from agent.models.base import Models, asked_now


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How an acting model is prompted. Its picture size is chosen by its name."""

    model: str
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the model is shown."""


@dataclass(frozen=True)
class RunConfig:
    """The settings that may change while tasks run. A task keeps the configuration it started with."""

    models: Models
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the acting model is shown."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    guard: GuardMode = "rules"
    deep_thinking: bool = False
    """Whether the planner compares several approaches first."""
    fallback: ModelProfile | None = None
    """How the stand-in for the acting model is prompted; None if in the same way."""

    @property
    def acting(self) -> str:
        """The name of the model that acts now."""
        return asked_now(self.models.vision)

    def profile_of(self, model: str) -> ModelProfile:
        """Return how the acting model of this name is prompted."""
        if self.fallback is not None and model == self.fallback.model:
            return self.fallback
        return ModelProfile(model, self.dialect, self.image_window)

    def offering(self, actions: tuple[type[Action], ...]) -> RunConfig:
        """Return the configuration with these actions offered in every dialect."""
        other = self.fallback and replace(self.fallback, dialect=self.fallback.dialect.offering(actions))
        return replace(self, dialect=self.dialect.offering(actions), fallback=other)


class RunConfigSource(Protocol):
    """Provides the current configuration. Replaced models are closed once no task uses them any more."""

    def take(self) -> RunConfig:
        """Return the current configuration, which must be given back."""
        ...

    def give_back(self, config: RunConfig) -> None:
        """Report that the caller will not use the configuration's models any more."""
        ...


@dataclass(frozen=True)
class FixedRunConfig:
    """Implements RunConfigSource with a configuration that never changes."""

    config: RunConfig

    def take(self) -> RunConfig:
        """Implements `RunConfigSource.take`."""
        return self.config

    def give_back(self, config: RunConfig) -> None:
        """Implements `RunConfigSource.give_back`."""
