"""The border to a model: messages in, one reply out. Endpoints and the offline pilot implement it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Final, Literal, Protocol

from pydantic import BaseModel

from agent.picture import ImagePart
from agent.scene import Scene

PILOT: Final = "offline"
"""The name of what stands in for a model where none is configured."""


class Purpose(StrEnum):
    """What a call is for; decides the role's model, the time limit and the place in the receipt."""

    ACT = "act"
    INTENT = "intent"
    PLAN = "plan"
    MEMBER = "member"
    SUPERVISE = "supervise"
    SUMMARIZE = "summarize"
    VERIFY = "verify"
    CAPTION = "caption"
    GUARD = "guard"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call as the model made it; `arguments` is the raw JSON text."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that the model may call; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the conversation with a model.

    `calls` are those that the assistant made in it. A message of the role "tool" is the result of one
    of them, `call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[str | ImagePart, ...]
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    @property
    def text(self) -> str:
        """What is said in it, without its pictures."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or a sum of calls. Cached is part of input, reasoning is part of output.

    `cost` is in the currency of the price table, None when the model has no price there. What the independent reader of
    presses has used of it is told apart, with the seconds for which presses have waited for it.
    """

    input: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int = 0
    calls: int = 0
    estimated: bool = False
    cost: float | None = None
    guard_tokens: int = 0
    guard_seconds: float = 0.0
    guard_cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.reasoning + other.reasoning,
            self.calls + other.calls,
            self.estimated or other.estimated,
            _sum(self.cost, other.cost),
            self.guard_tokens + other.guard_tokens,
            self.guard_seconds + other.guard_seconds,
            _sum(self.guard_cost, other.guard_cost),
        )

    def read_by_guard(self, seconds: float) -> Usage:
        """The usage as that of the independent reader, for which a press has waited so many seconds."""
        return replace(self, guard_tokens=self.input + self.output, guard_seconds=seconds, guard_cost=self.cost)


def _sum(one: float | None, other: float | None) -> float | None:
    known = [each for each in (one, other) if each is not None]
    return sum(known) if known else None


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One call. `scene` is what an acting call is about, as data, for models that need no prompt."""

    purpose: Purpose
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: type[BaseModel] | None = None
    scene: Scene | None = None
    conversation: str = ""
    """What belongs together: cache key, and the thread of a server-side conversation."""
    task: str = ""
    """The task that it is asked for."""
    deep: bool = False
    """Worth more thought than usual: endpoints that can be told so are."""


@dataclass(frozen=True, slots=True)
class ModelReply:
    """What a model answered."""

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    memo: Mapping[str, Any] = field(default_factory=dict)
    """What the model wants to find again with this step (agent.scene.PastStep.memo): plain data, ready for JSON."""
    waited: float = 0.0
    """Seconds for which the endpoint was away before it answered: what was shown to it may be no more."""


@dataclass(frozen=True, slots=True)
class Delta:
    """A streamed piece of a reply."""

    text: str = ""
    reasoning: str = ""
    call: ToolCall | None = None
    """The tool call that is being written, as far as it stands: its arguments may end anywhere."""


Role = Literal["vision", "basic", "reasoning"]


class Model(Protocol):
    """One model at one endpoint."""

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it; "offline" for the pilot."""
        ...

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Answer the request. Retries, time limits and streaming happen inside; cancelling closes the socket.

        Raises ModelError.
        """
        ...


@dataclass(frozen=True, slots=True)
class Models:
    """The model for each role: vision acts, basic reads and sums up, reasoning plans."""

    vision: Model
    basic: Model
    reasoning: Model

    def for_role(self, role: Role) -> Model:
        """The model of this role."""
        return {"vision": self.vision, "basic": self.basic, "reasoning": self.reasoning}[role]

    def for_purpose(self, purpose: Purpose) -> Model:
        """The model whose role this purpose belongs to."""
        if purpose in {Purpose.ACT, Purpose.VERIFY, Purpose.GUARD}:
            return self.vision
        return self.reasoning if purpose is Purpose.PLAN else self.basic
