"""What a task is worked on with: which models, which dialect, which limits."""

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
    """How a model that acts is prompted. By its name it has its own picture size, too."""

    model: str
    dialect: Dialect
    image_window: int
    """How many of the latest pictures it is shown."""


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
    fallback: ModelProfile | None = None
    """How the model is prompted that acts while the first does not; None where that is as the first."""

    @property
    def acting(self) -> str:
        """The name of the model that acts at the moment."""
        return asked_now(self.models.vision)

    def profile_of(self, model: str) -> ModelProfile:
        """How the acting model of this name is prompted."""
        if self.fallback is not None and model == self.fallback.model:
            return self.fallback
        return ModelProfile(model, self.dialect, self.image_window)

    def offering(self, actions: tuple[type[Action], ...]) -> RunConfig:
        """The same with these actions offered in every dialect."""
        other = self.fallback and replace(self.fallback, dialect=self.fallback.dialect.offering(actions))
        return replace(self, dialect=self.dialect.offering(actions), fallback=other)


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
