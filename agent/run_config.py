"""The configuration with which a task works: models, dialects and limits."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol

from agent.actions import Action
from agent.dialects.base import Dialect
from agent.guards.reading import GuardMode
from agent.limits import TaskLimits
from agent.models.base import Models, active_name


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """How an acting model is prompted: its dialect and the number of pictures. The size of its pictures depends on its
    name.
    """

    model: str
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the model is shown."""


@dataclass(frozen=True)
class RunConfig:
    """The settings that may change while tasks run. A task keeps the configuration with which it started."""

    models: Models
    dialect: Dialect
    image_window: int
    """How many of the latest pictures the acting model is shown."""
    limits: TaskLimits = field(default_factory=TaskLimits)
    guard: GuardMode = "rules"
    deep_thinking: bool = False
    """Whether the planner compares several approaches first."""
    fallback: ModelProfile | None = None
    """How the stand-in for the acting model is prompted; None if in the same way as that model."""

    @property
    def acting(self) -> str:
        """The name of the model that decides on actions now, which may be a stand-in."""
        return active_name(self.models.vision)

    def profile_of(self, model: str) -> ModelProfile:
        """Return how the acting model or stand-in with this name is prompted."""
        if self.fallback is not None and model == self.fallback.model:
            return self.fallback
        return ModelProfile(model, self.dialect, self.image_window)

    def offering(self, actions: tuple[type[Action], ...]) -> RunConfig:
        """Return the configuration with these actions offered in every dialect."""
        other = self.fallback and replace(self.fallback, dialect=self.fallback.dialect.offering(actions))
        return replace(self, dialect=self.dialect.offering(actions), fallback=other)


class RunConfigSource(Protocol):
    """Provides the current configuration. Models that were replaced are closed once no task uses them any more."""

    def take(self) -> RunConfig:
        """Return the current configuration. Call `give_back` with it when it is not needed any more."""

    def give_back(self, config: RunConfig) -> None:
        """Report that the caller does not use the configuration's models any more."""


@dataclass(frozen=True)
class FixedRunConfig:
    """Implements RunConfigSource with a configuration that never changes."""

    config: RunConfig

    def take(self) -> RunConfig:
        """Return the configuration. Implements `RunConfigSource.take`."""
        return self.config

    def give_back(self, config: RunConfig) -> None:
        """Do nothing, because the models are never closed. Implements `RunConfigSource.give_back`."""
