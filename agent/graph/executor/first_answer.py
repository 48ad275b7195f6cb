"""The acting model's first answer, requested while it is still being decided whether the task needs a phone."""

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
    """Collects the pieces of an answer while it is written, and passes them on once there is a listener."""

    def __init__(self) -> None:
        self._kept: list[Delta] = []
        self._listener: Callable[[Delta], None] = self._kept.append

    def __call__(self, piece: Delta) -> None:
        """Accept the next piece."""
        self._listener(piece)

    def tell(self, listener: Callable[[Delta], None]) -> None:
        """Pass all pieces to the listener: those collected so far at once, later ones as they arrive."""
        for piece in self._kept:
            listener(piece)
        self._listener = listener


@dataclass(frozen=True)
class FirstAnswer:
    """A request that was sent before the run began: the scene that it shows, the request, the model's name and the
    running answer.
    """

    scene: Scene
    request: ModelRequest
    model: str
    answering: asyncio.Task[ModelReply]
    pieces: Pieces

    def fits(self, scene: Scene, model: str) -> bool:
        """Whether the same request would be made now, ignoring the time of day."""
        return model == self.model and replace(scene, local_time="") == replace(self.scene, local_time="")

    def given_by(self, model: Model) -> Model:
        """Return a model that answers the first request with this running answer, and asks `model` again if that fails,
        unless the request was refused.
        """
        return _Begun(model, self)

    async def drop(self) -> Usage:
        """Cancel the request and return the tokens that it cost."""
        if self.answering.done() and not self.answering.cancelled():
            failed = self.answering.exception()
            if failed is None:
                return self.answering.result().usage
            return failed.usage if isinstance(failed, ModelError) else hung_up(self.request, self.model)
        self.answering.cancel()
        await asyncio.wait({self.answering})
        return hung_up(self.request, self.model)


class _Begun:
    """Implements Model for one request. If the first answer fails, it is requested again."""

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
            raise  # it would be refused again
        except Stopped:  # by a pause, which may be over
            reply = await self._model.complete(request, on_delta=on_delta)
            return replace(reply, usage=hung_up(self._first.request, self._first.model) + reply.usage)
        except ModelError as error:
            reply = await self._model.complete(request, on_delta=on_delta)
            return replace(reply, usage=error.usage + reply.usage)
