"""Asks the independent reader about a press while the acting model is still writing, as soon as the target is in the
answer.

The request is only started here. What counts is the finished answer: if it does not contain the press, the reader's
result is not used.
"""

from __future__ import annotations

import json
from typing import Final

from agent.actions import ElementTarget
from agent.dialects.base import BadReply
from agent.graph.executor.context import RunContext
from agent.graph.executor.gate import would_be_read
from agent.graph.executor.reader import begin_reading
from agent.graph.executor.state import ExecutorState
from agent.graph.executor.targets import resolve_target
from agent.models.base import Delta, ModelReply, ToolCall
from agent.observing import ScreenView

MOST_TRIES: Final = 12
"""How often an unfinished answer is parsed at most. A tap is recognised after one or two tries, a text with Enter after
four.
"""
CLOSERS: Final = frozenset(")]}>")
"""Characters after which an action written as text may be complete."""


class ReadingAhead:
    """Receives the pieces of one answer, and asks the reader about the first action once it is clear that it is a press
    which no rule covers. Later actions of the answer are judged when their turn comes.
    """

    def __init__(self, state: ExecutorState, context: RunContext, view: ScreenView) -> None:
        self._state = state
        self._context = context
        self._sight = view
        self._text = ""
        self._tried: set[str] = set()
        self._arguments = ""
        self._over = False

    def __call__(self, delta: Delta) -> None:
        """Accept the next piece of the answer."""
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
    """Return the arguments of an unfinished tool call up to the last complete one, as JSON; None if none is complete.
    The last argument of an unfinished text is left out, because a number may continue.
    """
    try:
        json.loads(arguments)
    except ValueError:
        pass
    else:
        return arguments
    # One pass, as this is asked of each piece that is streamed.
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
