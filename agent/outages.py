"""What a model does while its endpoint is unavailable: it switches to a second endpoint, or waits for one that has
answered before.

A call has its own time limit, which includes retries. This module then repeats the same call with growing pauses.
"""

from __future__ import annotations

import asyncio
import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import cache
from typing import Final

from agent.context_window import window_of
from agent.events import ModelAway
from agent.models.base import (
    PILOT,
    Connected,
    Delta,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    Models,
    ModelSwitched,
    Purpose,
    StandIn,
    Usage,
    active_name,
)
from agent.models.connection import ShownOnce
from agent.models.conversations import end_conversation, keeps_conversation
from agent.models.errors import ModelError, ModelUnreachable
from agent.models.pictures import takes_pictures
from agent.models.state import ABOUT_THE_REQUEST, Cause, ModelState, ModelStatus
from agent.models.window import MOST_WINDOW
from devices.measuring import measured

logger = logging.getLogger(__name__)


FIRST_PAUSE_S: Final = 30.0
LONGEST_PAUSE_S: Final = 300.0
"""The maximum pause in seconds before a failing endpoint is tried again; the pause doubles each time."""
_STAYS: Final = ABOUT_THE_REQUEST | {Cause.NO_PICTURES}
"""Causes about the request or the model itself, for which the second endpoint is not tried."""
_PROBE_REQUEST: Final = ModelRequest(Purpose.SUPERVISE, (Message("user", ("Answer with one word: ready",)),))


class _DelegatingModel(ABC):
    """Base class of models that answer through others; describes the one that answers now."""

    @property
    @abstractmethod
    def _active(self) -> Model:
        """The model that answers now."""

    @property
    def active_name(self) -> str:
        """The name of the model that answers now, which may be a stand-in."""
        return active_name(self._active)

    @property
    def takes_pictures(self) -> bool:
        """Whether the model that answers now accepts pictures."""
        return takes_pictures(self._active)

    @property
    def keeps_conversation(self) -> bool:
        """Whether the endpoint that answers now stores conversations."""
        return keeps_conversation(self._active)

    async def window(self, sent: int = MOST_WINDOW) -> int:
        """Return the context window in tokens of the model that answers now. `sent` is the size of the last request."""
        return await window_of(self._active, sent)


class FailoverModel(_DelegatingModel):
    """Implements Model with two other models. After the first fails, other than by rejecting a request, the second
    answers each call, so that no step waits for an outage, and the first is tested in the background until it answers.

    A request that was rendered for one of them is never given to the other: ModelSwitched is raised in both directions.
    The independent reader of presses must only use the configured model, so its calls always go to the first.
    """

    def __init__(self, first: Model, second: Model, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._first = first
        self._second = second
        self._clock = clock
        self._failure: ModelError | None = None
        self._pause = FIRST_PAUSE_S
        self._retry_at = 0.0
        self._probe: asyncio.Task[ModelReply] | None = None
        self._unbooked = Usage()

    @property
    def name(self) -> str:
        """The first model's name at its endpoint."""
        return self._first.name

    def end_conversation(self, conversation: str, /) -> None:
        """Delete what both endpoints have stored of a conversation."""
        end_conversation(self._first, conversation)
        end_conversation(self._second, conversation)

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the answer of the model in use. Implements `Model.complete`.

        Presses are only judged by the first. If both fail, a rejection of the request is raised as it is, otherwise the
        failure that may pass, or that of the first.
        """
        if request.purpose is Purpose.GUARD:
            return await self._first.complete(request, on_delta=on_delta)
        self._look_after_first()
        shown = ShownOnce(on_delta)
        if self._failure is None:
            _check(request, self._first)
            try:
                return self._booked(await self._first.complete(request, on_delta=on_delta and shown.attempt()))
            except ModelError as error:
                if error.cause in _STAYS:
                    raise
                self._unbooked += error.usage
                self._failure, self._pause = error, FIRST_PAUSE_S
                self._retry_at = self._clock() + self._pause
        failure = self._failure
        _check(request, self._second)
        try:
            reply = await self._second.complete(request, on_delta=on_delta and shown.attempt())
        except ModelError as error:
            if error.cause in _STAYS:
                raise
            self._unbooked += error.usage
            self._failure = None  # next time, the first is tried again regardless
            raise next((each for each in (failure, error) if isinstance(each, ModelUnreachable)), failure) from error
        return self._booked(replace(reply, stand_in=StandIn(self._second.name, failure.cause)))

    async def close(self) -> None:
        """Close both models and cancel the pending test of the first."""
        if self._probe is not None:
            self._probe.cancel()
            await asyncio.wait([self._probe])
        for model in (self._first, self._second):
            if isinstance(model, Connected):
                await model.close()

    @property
    def _active(self) -> Model:
        return self._first if self._failure is None else self._second

    def _look_after_first(self) -> None:
        """Process the test of a failing first endpoint, or start a new one after the pause."""
        if self._failure is None:
            return
        if self._probe is None:
            if self._clock() >= self._retry_at:
                self._probe = asyncio.create_task(self._first.complete(_PROBE_REQUEST), name="is the first model back")
        elif self._probe.done():
            asked, self._probe = self._probe, None
            try:
                self._unbooked += asked.result().usage
                self._failure = None
            except ModelError as error:
                self._unbooked += error.usage
                self._failure = None if error.cause in _STAYS else error
            if self._failure is None:
                return
            self._pause = min(LONGEST_PAUSE_S, self._pause * 2)
            self._retry_at = self._clock() + self._pause

    def _booked(self, reply: ModelReply) -> ModelReply:
        """Return the reply including the tokens of failed calls that were not reported yet."""
        unbooked, self._unbooked = self._unbooked, Usage()
        return replace(reply, usage=unbooked + reply.usage)


def _check(request: ModelRequest, asked: Model) -> None:
    """Raise ModelSwitched if the request was rendered for another model."""
    if request.rendered_for not in {"", asked.name}:
        raise ModelSwitched(asked.name)


PATIENCE_S: Final = 15 * 60.0
"""For how many seconds after its first failure a call is repeated; most outages of hosted models end by then."""
FIRST_WAIT_S: Final = 2.0
LONGEST_WAIT_S: Final = 30.0
"""The maximum pause in seconds between two tries. The pause doubles each time, and is longer if the endpoint asks for
it. Every try is a full call with its own retries.
"""

_AT_ONCE: Final = frozenset({Purpose.CAPTION, Purpose.GUARD})
"""Purposes that are not worth waiting for: captions, and presses, which then count as unknown."""

Listener = Callable[[ModelRequest, ModelAway], None]
"""A function that is called for each request in an outage with an event: until when the model is waited for, and when
that ends.
"""


class PatientModel(_DelegatingModel):
    """Implements Model around another model and waits out its outages. `ModelReply.waited` then says how long that
    took.
    """

    def __init__(
        self,
        model: Model,
        listener: Listener,
        *,
        patience: float = PATIENCE_S,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self._model = model
        self._notify = listener
        self._patience = patience
        self._sleep = sleep
        self._clock = clock
        self._wall = wall
        self._answered = False
        self._stood_in: set[str] = set()
        """Tasks that were told that another model is answering."""
        self._interrupted: dict[str, tuple[float | None, float, ModelAway | None, ModelRequest]] = {}
        """Waits by conversation that continue once the request was rendered for another model."""
        offline = model.name == PILOT
        self.state = ModelState(ModelStatus.OFFLINE) if offline else ModelState(ModelStatus.NOT_TESTED, model.name)
        """The state of the model after the last call."""

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self._model.name

    def tested(self, cause: Cause | None) -> None:
        """Record the result of another request to the same endpoint: the cause of its failure, or None if it was
        answered.
        """
        self.state = self.state.after(cause, self._wall())

    def _record_reply(self, reply: ModelReply, request: ModelRequest) -> None:
        """Update the state from an answer; one given by a stand-in says why this model did not answer."""
        if (other := reply.stand_in) is not None:
            self.state = self.state.after(other.cause, self._wall(), other.model)
            self._stood_in.add(request.task)
            self._notify(request, ModelAway(cause=other.cause, stand_in=other.model))
            return
        self.tested(None)
        if request.task in self._stood_in:
            self._stood_in.discard(request.task)
            self._notify(request, ModelAway())

    @property
    def _active(self) -> Model:
        return self._model

    def end_conversation(self, conversation: str, /) -> None:
        """Delete what the endpoint has stored of a conversation, and stop waiting for its answer."""
        if (waiting := self._interrupted.pop(conversation, None)) is not None:
            self._notify(waiting[-1], ModelAway())
        end_conversation(self._model, conversation)

    @measured("model")
    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the model's answer, after waiting out an outage if necessary. Implements `Model.complete`.

        Captions and the judgement of presses are not waited for, nor anything before the model has answered once.
        Raises ModelError for failures that do not pass, and after `patience`. Cancelling ends the wait at once.
        """
        streamed = None if on_delta is None else _Streamed(on_delta)
        began, slept = self._clock(), False
        begin = (None, FIRST_WAIT_S, None, request)
        end, pause, told, _ = self._interrupted.pop(request.conversation, begin)
        try:
            while True:
                try:
                    reply = await self._model.complete(request, on_delta=streamed)
                except ModelError as error:
                    self.tested(error.cause)
                    if not isinstance(error, ModelUnreachable):
                        raise
                    end = self._clock() + self._patience if end is None else end
                    wait = max(pause, error.retry_after or 0.0)
                    waits = self._answered and request.purpose not in _AT_ONCE
                    if not waits or self._clock() + wait > end:
                        raise
                    if streamed is not None and streamed.heard:
                        streamed = None  # what was streamed before a break is not streamed a second time
                    if told is None or told.cause is not error.cause:
                        logger.warning("%s The work is on hold until then.", error)
                        told = ModelAway(cause=error.cause, until=self._wall() + end - self._clock())
                        self._notify(request, told)
                else:
                    self._answered = True
                    self._record_reply(reply, request)
                    return replace(reply, waited=self._clock() - began) if slept else reply
                await self._sleep(wait)
                slept, pause = True, min(LONGEST_WAIT_S, pause * 2)
        except ModelSwitched:
            if told is not None:
                self._interrupted[request.conversation] = end, pause, told, request
                told = None
            raise
        finally:
            if told is not None:
                self._notify(request, ModelAway())


class _Streamed:
    def __init__(self, on_delta: Callable[[Delta], None]) -> None:
        self._on_delta = on_delta
        self.heard = False

    def __call__(self, delta: Delta) -> None:
        self.heard = True
        self._on_delta(delta)


def patient(models: Models, listener: Listener) -> tuple[Models, tuple[PatientModel, ...]]:
    """Return the models wrapped so that outages are waited out, and the wrappers. Roles that share a model share a
    wrapper.

    `listener` is called about outages.
    """
    made = {id(model): PatientModel(model, listener) for model in (models.vision, models.basic, models.reasoning)}
    roles = (made[id(model)] for model in (models.vision, models.basic, models.reasoning))
    make = models.at_basic
    named = None if make is None else cache(lambda name: PatientModel(make(name), listener))
    return Models(*roles, at_basic=named), tuple(made.values())
