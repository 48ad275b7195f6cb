"""Work stands still while an endpoint is away that has answered before. One that never answered is a mistake."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from agent.models.base import Delta, Model, ModelReply, ModelRequest, Models, Purpose
from agent.models.errors import ModelUnreachable
from agent.wording import sentence
from devices.measuring import measured
from devices.wording import sentence_of

logger = logging.getLogger(__name__)

PATIENCE_S: Final = 15 * 60.0
"""How long a call waits for an endpoint that is away; most outages of hosted models are over by then."""
FIRST_PAUSE_S: Final = 2.0
LONGEST_PAUSE_S: Final = 30.0
"""Seconds between two tries, doubled each time. Every try has retries of its own."""

Listener = Callable[[ModelRequest, str], None]
"""Is told, once for each outage and call, what is waited for."""


class PatientModel:
    """Implements Model around another one. `reply.waited` says how long an answer was waited for in an outage."""

    def __init__(
        self,
        model: Model,
        tell: Listener,
        *,
        patience: float = PATIENCE_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._tell = tell
        self._patience = patience
        self._sleep = sleep
        self._clock = clock
        self._answered = False
        self.away = False
        """Whether the last call got no answer."""

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it."""
        return self._model.name

    @measured("model")
    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """See Model. A caption is not waited for: it is not worth it."""
        streamed = None if on_delta is None else _Streamed(on_delta)
        began, pause, told = self._clock(), FIRST_PAUSE_S, False
        while True:
            try:
                reply = await self._model.complete(request, on_delta=streamed)
            except ModelUnreachable as error:
                self.away = True
                waits = self._answered and request.purpose is not Purpose.CAPTION
                if not waits or self._clock() - began + pause > self._patience:
                    raise
                if streamed is not None and streamed.heard:
                    streamed = None  # what was streamed before a break is not streamed a second time
                if not told:
                    told = True
                    logger.warning("%s The work waits for it.", error)
                    minutes = f"{self._patience / 60:.0f}"
                    self._tell(request, sentence("model.waited_for", why=sentence_of(error), minutes=minutes))
            else:
                self.away, self._answered = False, True
                return replace(reply, waited=self._clock() - began) if told else reply
            await self._sleep(pause)
            pause = min(LONGEST_PAUSE_S, pause * 2)


class _Streamed:
    def __init__(self, on_delta: Callable[[Delta], None]) -> None:
        self._on_delta = on_delta
        self.heard = False

    def __call__(self, delta: Delta) -> None:
        self.heard = True
        self._on_delta(delta)


def patient(models: Models, tell: Listener) -> tuple[Models, tuple[PatientModel, ...]]:
    """The same models, waited for; roles that share a model share its patience."""
    made = {id(model): PatientModel(model, tell) for model in (models.vision, models.basic, models.reasoning)}
    roles = (made[id(model)] for model in (models.vision, models.basic, models.reasoning))
    return Models(*roles), tuple(made.values())
