"""Starts the independent reading of a press while the model is still writing, as soon as its target is in the answer.

The reading is only begun here. The finished answer counts: a press that it does not contain is not waited for, and
nothing is done or asked because of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from agent.actions import ElementTarget
from agent.dialects.base import BadReply
from agent.graph.executor.context import RunContext
from agent.graph.executor.gate import would_be_read
from agent.graph.executor.reader import begin_reading, has_reader
from agent.graph.executor.state import ExecutorState
from agent.graph.executor.targets import resolve_target
from agent.models.base import Delta, Model, ModelReply, ModelRequest, ToolCall
from agent.observing import ScreenView

MOST_TRIES: Final = 12
"""Most tries to parse an unfinished answer: a tap is known after one or two, a submitted text after four."""
CLOSERS: Final = frozenset(")]}>")
"""Characters after which an action written as text may be complete."""


class WatchedModel:
    """Implements Model around the acting model, watching its answer while it is written."""

    def __init__(self, model: Model, state: ExecutorState, context: RunContext, sight: ScreenView) -> None:
        self._model = model
        self._ahead = ReadingAhead(state, context, sight)

    @property
    def name(self) -> str:
        """The model's name at its endpoint."""
        return self._model.name

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Implements `Model.complete`."""
        del on_delta
        return await self._model.complete(request, on_delta=self._ahead)


def watched(model: Model, state: ExecutorState, context: RunContext, sight: ScreenView) -> Model:
    """Return the acting model, watched if another model reads presses."""
    return WatchedModel(model, state, context, sight) if has_reader(context) else model


class ReadingAhead:
    """Receives the pieces of one answer and starts reading its first action once enough of it is written to see that it
    is a press which no rule knows; later actions of the same answer are read when they are due.
    """

    def __init__(self, state: ExecutorState, context: RunContext, sight: ScreenView) -> None:
        self._state = state
        self._context = context
        self._sight = sight
        self._text = ""
        self._tried: set[str] = set()
        self._arguments = ""
        self._over = False

    def __call__(self, delta: Delta) -> None:
        """Accept a piece."""
        # The elements for a picture that was shown alone arrive while the model writes.
        self._sight = self._context.screen.view or self._sight
        if self._over or not self._sight.observation.complete:
            self._text += delta.text
            return
        if delta.call is not None:
            if not delta.call.arguments.startswith(self._arguments):
                self._over = True  # another call is being written: not every endpoint numbers them
                return
            self._arguments = delta.call.arguments
            written = fields_written(self._arguments)
            if written is not None:
                self._try(written, ModelReply("", (ToolCall("ahead", delta.call.name, written),)))
            return
        self._text += delta.text
        if CLOSERS & set(delta.text):
            self._try(self._text, ModelReply(self._text))

    def _try(self, written: str, reply: ModelReply) -> None:
        if written in self._tried:
            return
        self._tried.add(written)
        self._over = len(self._tried) >= MOST_TRIES
        try:
            action = self._context.profile.dialect.parse(reply, self._sight.screen.space).actions[0]
        except BadReply:
            return
        target = getattr(action, "target", None)
        if isinstance(target, ElementTarget) and target.element >= len(self._sight.targets):
            return
        if would_be_read(self._state, self._context, self._sight, action):
            self._over = True
            begin_reading(self._context, self._sight, action, resolve_target(action, self._sight))


def fields_written(arguments: str) -> str | None:
    """Return the arguments of a call up to the last complete one, as JSON; None before the first. The last one of an
    unfinished text is left out, because a number may continue.
    """
    try:
        json.loads(arguments)
    except ValueError:
        pass
    else:
        return arguments
    depth, inside, escaped, end = 0, False, False, 0
    for place, sign in enumerate(arguments):
        if escaped:
            escaped = False
        elif inside:
            escaped, inside = sign == "\\", sign != '"'
        elif sign == '"':
            inside = True
        elif sign in "{[":
            depth += 1
        elif sign in "}]":
            depth -= 1
        elif sign == "," and depth == 1:
            end = place
    return arguments[:end] + "}" if end else None
