"""A model that answers from a script, one list for each purpose."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any

from agent.models.base import Delta, ModelReply, ModelRequest, Models, Purpose, ToolCall, Usage
from agent.models.errors import ModelError

Answer = ModelReply | ModelError | Callable[[ModelRequest], ModelReply | Awaitable[ModelReply]]


def call(tool: str, /, **arguments: Any) -> ModelReply:
    """A reply of the tools dialect with one call."""
    return calls((tool, arguments))


def calls(*made: tuple[str, dict[str, Any]]) -> ModelReply:
    """A reply of the tools dialect with several calls."""
    tools = tuple(ToolCall(f"c{n}", name, json.dumps(arguments)) for n, (name, arguments) in enumerate(made))
    return ModelReply("", tools, usage=Usage(input=100, output=10, calls=1))


def text(words: str) -> ModelReply:
    """A reply in words."""
    return ModelReply(words, usage=Usage(input=50, output=5, calls=1))


def data(**values: Any) -> ModelReply:
    """A structured reply."""
    return text(json.dumps(values))


def element(request: ModelRequest, label: str) -> int:
    """The number of the element with this label on the screen that the model is shown."""
    assert request.scene is not None
    for line in request.scene.screen.elements or ():
        if line.text == label:
            return line.id
    raise AssertionError(f"{label!r} is not on the screen: {[e.text for e in request.scene.screen.elements or ()]}")


def tap(label: str, **more: Any) -> Callable[[ModelRequest], ModelReply]:
    """Taps the element that has this label when the model is asked."""
    return lambda request: call("tap", element=element(request, label), **more)


HANG = object()
"""In a script: the call never answers."""


@dataclass
class ScriptedModel:
    """agent.models.base.Model. Verification is answered with "proven" unless a script says otherwise."""

    scripts: dict[Purpose, list[Any]]
    name: str = "scripted"
    requests: list[ModelRequest] = field(default_factory=list)
    hanging: asyncio.Event = field(default_factory=asyncio.Event)
    _said_before: ModelReply | None = None

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        self.requests.append(request)
        reply = await self._answer(request)
        if on_delta is not None:
            on_delta(Delta(text=reply.text))
        return replace(reply, usage=reply.usage.booked_on(request.role, self.name))

    async def _answer(self, request: ModelRequest) -> ModelReply:
        script = self.scripts.get(request.purpose)
        if not script:
            if request.purpose is Purpose.VERIFY:
                return data(proven=True)
            if request.purpose is Purpose.GUARD:
                return data(consequence="none", object="")
            if request.purpose is Purpose.PLAN and (said := self._said_before) is not None:
                return said  # one that only speaks prose repeats itself when it is asked for a form
            if request.purpose is Purpose.CAPTION:
                return text("a caption")
            raise AssertionError(f"nothing is scripted for {request.purpose}; asked {len(self.requests)} times")
        answer = script.pop(0)
        if answer is HANG:
            self.hanging.set()
            await asyncio.Event().wait()
        if isinstance(answer, ModelError):
            raise answer
        reply: ModelReply = answer(request) if callable(answer) else answer
        if inspect.isawaitable(reply):
            reply = await reply
        self._said_before = reply if request.purpose is Purpose.PLAN else None
        return reply

    def asked(self, purpose: Purpose) -> list[ModelRequest]:
        """The requests of one purpose."""
        return [request for request in self.requests if request.purpose is purpose]


@dataclass
class Windowed(ScriptedModel):
    """A model that knows its window."""

    tokens: int = 10_000

    async def window(self, sent: int = 0) -> int:
        """See agent.context_window.window_of."""
        del sent
        return self.tokens


def models(act: list[Any], **others: list[Any]) -> tuple[Models, ScriptedModel]:
    """The same scripted model in every role; other purposes by their name (intent=…, plan=…)."""
    model = ScriptedModel({Purpose.ACT: act} | {Purpose(name): script for name, script in others.items()})
    return Models(model, model, model), model
