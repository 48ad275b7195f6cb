"""The first answer of a run, which a model was asked for while it was being decided whether the task needs a phone."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace

from agent.control import Stopped
from agent.models.base import Delta, Model, ModelReply, ModelRequest, Usage
from agent.models.errors import ModelError, ModelRefused
from agent.models.tokens import hung_up
from agent.scene import Scene


class Pieces:
    """Takes the pieces of an answer, and passes them on once somebody listens."""

    def __init__(self) -> None:
        self._kept: list[Delta] = []
        self._listener: Callable[[Delta], None] = self._kept.append

    def __call__(self, piece: Delta) -> None:
        """Take a piece."""
        self._listener(piece)

    def tell(self, listener: Callable[[Delta], None]) -> None:
        """Pass on all that has come and will come."""
        for piece in self._kept:
            listener(piece)
        self._listener = listener


@dataclass(frozen=True)
class FirstAnswer:
    """A request that is under way, what it says, and the model that was asked."""

    scene: Scene
    request: ModelRequest
    model: str
    answering: asyncio.Task[ModelReply]
    pieces: Pieces

    def fits(self, scene: Scene, model: str) -> bool:
        """Whether this model would be asked the same now, but for the time of day."""
        return model == self.model and replace(scene, local_time="") == replace(self.scene, local_time="")

    def given_by(self, model: Model) -> Model:
        """The model, which has begun with its answer already."""
        return _Begun(model, self)

    async def drop(self) -> Usage:
        """Cut it off. What it has cost."""
        if self.answering.done() and not self.answering.cancelled():
            failed = self.answering.exception()
            if failed is None:
                return self.answering.result().usage
            return failed.usage if isinstance(failed, ModelError) else hung_up(self.request, self.model)
        self.answering.cancel()
        await asyncio.wait({self.answering})
        return hung_up(self.request, self.model)


class _Begun:
    """Implements Model for one request. A first answer that fails is asked for again, as if it had not been begun."""

    def __init__(self, model: Model, first: FirstAnswer) -> None:
        self._model = model
        self._first = first

    @property
    def name(self) -> str:
        return self._model.name

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        if on_delta is not None:
            self._first.pieces.tell(on_delta)
        try:
            return await self._first.answering
        except ModelRefused:
            raise  # and would be refused again
        except Stopped:  # by a pause, which may be over
            reply = await self._model.complete(request, on_delta=on_delta)
            return replace(reply, usage=hung_up(self._first.request, self._first.model) + reply.usage)
        except ModelError as error:
            reply = await self._model.complete(request, on_delta=on_delta)
            return replace(reply, usage=error.usage + reply.usage)
