"""A model that switches to a second endpoint while the first is unavailable or rejects its account."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from agent.context_window import window_of
from agent.models.base import (
    Connected,
    Delta,
    Message,
    Model,
    ModelReply,
    ModelRequest,
    ModelSwitched,
    Purpose,
    StandIn,
    Usage,
)
from agent.models.connection import ShownOnce
from agent.models.conversations import end_conversation, keeps_conversation
from agent.models.errors import ModelError, ModelUnreachable
from agent.models.pictures import takes_pictures
from agent.models.state import ABOUT_THE_REQUEST, Cause
from agent.models.window import MOST_WINDOW

FIRST_PAUSE_S: Final = 30.0
LONGEST_PAUSE_S: Final = 300.0
"""The maximum pause in seconds before a failing endpoint is tried again; the pause doubles each time."""
_STAYS: Final = ABOUT_THE_REQUEST | {Cause.NO_PICTURES}
"""Causes about the request or the model itself, for which the second endpoint is not tried."""
_WORD: Final = ModelRequest(Purpose.SUPERVISE, (Message("user", ("Answer with one word: ready",)),))


class FailoverModel:
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
        self._again = 0.0
        self._word: asyncio.Task[ModelReply] | None = None
        self._unbooked = Usage()

    @property
    def name(self) -> str:
        """The first model's name at its endpoint."""
        return self._first.name

    @property
    def asked_now(self) -> str:
        """The name of the model that answers now."""
        return self._now.name

    @property
    def takes_pictures(self) -> bool:
        """Whether the model that answers now accepts pictures."""
        return takes_pictures(self._now)

    @property
    def keeps_conversation(self) -> bool:
        """Whether the endpoint that answers now stores conversations."""
        return keeps_conversation(self._now)

    def end_conversation(self, conversation: str, /) -> None:
        """Delete what both endpoints have stored of a conversation."""
        end_conversation(self._first, conversation)
        end_conversation(self._second, conversation)

    async def window(self, sent: int = MOST_WINDOW) -> int:
        """Return the context window in tokens of the model that answers now. `sent` is the size of the last request."""
        return await window_of(self._now, sent)

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
                self._again = self._clock() + self._pause
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
        if self._word is not None:
            self._word.cancel()
            await asyncio.wait([self._word])
        for model in (self._first, self._second):
            if isinstance(model, Connected):
                await model.close()

    @property
    def _now(self) -> Model:
        return self._first if self._failure is None else self._second

    def _look_after_first(self) -> None:
        """Process the test of a failing first endpoint, or start a new one after the pause."""
        if self._failure is None:
            return
        if self._word is None:
            if self._clock() >= self._again:
                self._word = asyncio.create_task(self._first.complete(_WORD), name="is the first model back")
        elif self._word.done():
            asked, self._word = self._word, None
            try:
                self._unbooked += asked.result().usage
                self._failure = None
            except ModelError as error:
                self._unbooked += error.usage
                self._failure = None if error.cause in _STAYS else error
            if self._failure is None:
                return
            self._pause = min(LONGEST_PAUSE_S, self._pause * 2)
            self._again = self._clock() + self._pause

    def _booked(self, reply: ModelReply) -> ModelReply:
        """Return the reply including the tokens of failed calls that were not reported yet."""
        unbooked, self._unbooked = self._unbooked, Usage()
        return replace(reply, usage=unbooked + reply.usage)


def _check(request: ModelRequest, asked: Model) -> None:
    """Raise ModelSwitched if the request was rendered for another model."""
    if request.rendered_for not in {"", asked.name}:
        raise ModelSwitched(asked.name)
