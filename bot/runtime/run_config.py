"""Makes what the current settings configure: the models with which tasks are worked on, and the clients of endpoints
for voice notes and facts.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from agent.limits import TaskLimits
from agent.model_roles import ModelSettings, build_models, close_models
from agent.models.base import Models
from agent.models.state import Cause, ModelState, ModelStatus
from agent.outages import Listener, PatientModel, patient
from agent.run_config import RunConfig
from bot.config.endpoints import dialect_of, fallback_profile, model_settings
from bot.config.settings import Settings

logger = logging.getLogger(__name__)


@dataclass
class _ModelSet:
    """Models that were built together. `users` counts the configurations in use that contain them."""

    settings: ModelSettings
    endpoints: Models
    models: Models
    waited_for: tuple[PatientModel, ...]
    users: int = 0


class RunConfigs:
    """Holds the configuration for tasks, and replaces it when settings change. Implements
    agent.run_config.RunConfigSource. `tell` is called for each model call in an outage, with the time until which the
    model is waited for, and again when that ends.
    """

    def __init__(self, settings: Settings, listener: Listener) -> None:
        self._tell = listener
        self._model_sets = [self._make(model_settings(settings))]
        self._config = self._config_of(settings)
        self._closing: set[asyncio.Task[None]] = set()

    @property
    def models(self) -> Models:
        """The current models."""
        return self._model_sets[-1].models

    @property
    def waited_for(self) -> tuple[PatientModel, ...]:
        """The current models, each once, the one that acts first."""
        return self._model_sets[-1].waited_for

    @property
    def state(self) -> ModelState:
        """The state of the current models: that of the first one that fails, else that of the model that acts."""
        states = [model.state for model in self.waited_for]
        return next((state for state in states if state.status is ModelStatus.FAILING), states[0])

    def tested(self, cause: Cause | None) -> None:
        """Record the result of a test of the model that acts: why it failed, None if it answered."""
        self.waited_for[0].tested(cause)

    def take(self) -> RunConfig:
        """Return the current configuration. Its models stay open until it is returned with `give_back`."""
        self._model_sets[-1].users += 1
        return self._config

    def give_back(self, config: RunConfig) -> None:
        """Return a configuration that was taken. Replaced models that nobody uses any more are closed."""
        made = next(made for made in self._model_sets if made.models is config.models)
        made.users -= 1
        self._close_unused()

    def change(self, settings: Settings) -> None:
        """Use these settings for configurations taken from now on. New models are made only if the settings of models
        have changed. Raises SettingsError for an unknown dialect.
        """
        if (wanted := model_settings(settings)) != self._model_sets[-1].settings:
            self._model_sets.append(self._make(wanted))
            logger.info("Model: %s", self.models.vision.name)
        self._config = self._config_of(settings)
        self._close_unused()

    async def close(self) -> None:
        """Close all models. They must not be used afterwards."""
        for made in self._model_sets:
            await close_models(made.endpoints)
        if self._closing:
            await asyncio.wait(self._closing)

    def _make(self, wanted: ModelSettings) -> _ModelSet:
        endpoints = build_models(wanted)
        return _ModelSet(wanted, endpoints, *patient(endpoints, self._tell))

    def _config_of(self, settings: Settings) -> RunConfig:
        dialect = dialect_of(settings)
        return RunConfig(
            models=self.models,
            dialect=dialect,
            image_window=settings.vlm_image_window or dialect.image_window,
            limits=TaskLimits(minutes=settings.max_minutes, tokens=settings.max_tokens, cost=settings.max_cost),
            guard=settings.guard,
            deep_thinking=settings.deep_thinking,
            fallback=fallback_profile(settings),
        )

    def _close_unused(self) -> None:
        """Close models that were replaced and are no longer in use."""
        for made in [made for made in self._model_sets[:-1] if not made.users]:
            self._model_sets.remove(made)
            closing = asyncio.create_task(_closed(made.endpoints), name="close models")
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)


async def _closed(models: Models) -> None:
    try:
        await close_models(models)
    except Exception:
        logger.exception("The connections to replaced models could not be closed")


class Closable(Protocol):
    """A client with connections that can be closed."""

    async def close(self) -> None:
        """Close all connections."""


C = TypeVar("C", bound=Closable)


class SideEndpoint(Generic[C]):
    """Holds the client that `make` creates from the settings; None if they name no endpoint. A new client is created
    when the prices or one of the settings whose names begin with `prefix` change.
    """

    def __init__(self, prefix: str, make: Callable[[Settings], C | None], settings: Settings) -> None:
        self._make = make
        self._fields = [name for name in type(settings).model_fields if name.startswith(prefix)]
        self._of = self._own(settings)
        self._clients: list[C | None] = [make(settings)]

    def client(self) -> C | None:
        """Return the current client, None if there is none. Call this for each use instead of keeping the client."""
        return self._clients[-1]

    def change(self, settings: Settings) -> None:
        """Use these settings from now on. A former client stays open until `close`, because it may be in use."""
        if (own := self._own(settings)) != self._of:
            self._of = own
            self._clients.append(self._make(settings))

    async def close(self) -> None:
        """Close all clients. They must not be used afterwards."""
        for client in self._clients:
            if client is not None:
                await client.close()

    def _own(self, settings: Settings) -> tuple[object, ...]:
        return tuple(getattr(settings, name) for name in (*self._fields, "prices"))
