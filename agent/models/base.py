"""The border to a model: messages in, one reply out. Endpoints and the offline pilot implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final, Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from agent.models.cause import Cause
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


ROLE_OF: Final[Mapping[Purpose, str]] = {
    Purpose.ACT: "vision",
    Purpose.VERIFY: "vision",
    Purpose.GUARD: "guard",
    Purpose.PLAN: "reasoning",
}
"""On which role a call for this purpose is booked, "basic" for the others. The independent reader is one of its own,
whatever model it has."""


@dataclass(frozen=True, slots=True)
class Share:
    """What one role has taken of one model. `cost` is None when that model has no price."""

    role: str
    """vision, basic, reasoning, guard, or the name of a member; "" for what is booked on none."""
    model: str
    """The name as the endpoint knows it; "" as above."""
    input: int = 0
    output: int = 0
    cached: int = 0
    calls: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input + self.output

    def __add__(self, other: Share) -> Share:
        """The sum of two shares of the same role and model."""
        return Share(
            self.role,
            self.model,
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
            self.calls + other.calls,
            _sum(self.cost, other.cost),
        )


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call or a sum of calls. Cached is part of input, reasoning is part of output.

    `cost` is in the currency of the price table, None when the model has no price there. What the independent reader of
    presses has used of it is told apart, with the seconds for which presses have waited for it. `booked` is the same
    tokens by role and model, each pair once, in the order of their first call; tokens that were booked on none are in
    none of them (see `shares`).
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
    booked: tuple[Share, ...] = ()

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
            _together((*self.booked, *other.booked)),
        )

    @property
    def tokens(self) -> int:
        """In and out together."""
        return self.input + self.output

    @property
    def shares(self) -> tuple[Share, ...]:
        """All of it by role and model; what is booked nowhere is a share without names."""
        taken = [sum(getattr(each, name) for each in self.booked) for name in ("input", "output", "cached", "calls")]
        rest = Share(
            "",
            "",
            max(0, self.input - taken[0]),
            max(0, self.output - taken[1]),
            max(0, self.cached - taken[2]),
            max(0, self.calls - taken[3]),
        )
        if not rest.tokens:
            return self.booked
        known = sum(each.cost or 0.0 for each in self.booked)
        cost = None if self.cost is None or (self.booked and self.cost <= known) else self.cost - known
        return (*self.booked, replace(rest, cost=cost))

    def booked_on(self, role: str, model: str) -> Usage:
        """The same with all of it booked on one role and model."""
        share = Share(role, model, self.input, self.output, self.cached, self.calls, self.cost)
        return replace(self, booked=(share,) if self.tokens else ())

    def read_by_guard(self, seconds: float) -> Usage:
        """The usage as that of the independent reader, for which a press has waited so many seconds."""
        return replace(self, guard_tokens=self.input + self.output, guard_seconds=seconds, guard_cost=self.cost)

    def data(self) -> dict[str, Any]:
        """It as plain data, ready for JSON; a share is a list."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "booked"}
        return {**plain, "booked": [list(astuple(share)) for share in self.booked]} if self.booked else plain

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Usage:
        """What `data` has made."""
        return cls(**{**data, "booked": tuple(Share(*share) for share in data.get("booked", ()))})


def _together(shares: Iterable[Share]) -> tuple[Share, ...]:
    sums: dict[tuple[str, str], Share] = {}
    for share in shares:
        key = share.role, share.model
        sums[key] = sums[key] + share if key in sums else share
    return tuple(sums.values())


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
    member: str = ""
    """The member of the team whose call it is; "" for a call that is booked on the role of its purpose."""
    temperature: float | None = None
    """How freely it answers, None as the endpoint does it."""
    max_tokens: int | None = None
    """Of the answer, None as the endpoint does it."""
    rendered_for: str = ""
    """The name of the model whose dialect and picture size it is in; "" for a request that any model can read."""

    @property
    def role(self) -> str:
        """On whom the call is booked (see Share.role)."""
        return self.member or ROLE_OF.get(self.purpose, "basic")


@dataclass(frozen=True, slots=True)
class StandIn:
    """The model that answered in the place of the one that was asked, and why that did not."""

    model: str
    cause: Cause


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
    stand_in: StandIn | None = None
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

        Raises ModelError, and ModelSwitched where the request was rendered for one model and another one answers.
        """
        ...


class ModelSwitched(Exception):
    """A request is to be rendered again: another model answers than the one that it was rendered for."""


@runtime_checkable
class _OneOfTwo(Protocol):
    @property
    def asked_now(self) -> str: ...


def asked_now(model: Model) -> str:
    """The name of the model that answers: another one while that one stands in."""
    return model.asked_now if isinstance(model, _OneOfTwo) else model.name


@runtime_checkable
class Connected(Protocol):
    """A model with connections of its own."""

    async def close(self) -> None:
        """Close them; nothing may be asked afterwards."""
        ...


@dataclass(frozen=True, slots=True)
class Models:
    """The model for each role: vision acts, basic reads and sums up, reasoning plans."""

    vision: Model
    basic: Model
    reasoning: Model
    at_basic: Callable[[str], Model] | None = field(default=None, kw_only=True)
    """Gives the model of another name at the endpoint of `basic`, the same for the same name; None where there is no
    endpoint.
    """

    def with_lead_model(self, name: str) -> Models:
        """The same with the one of these models that has this name in the place of those that decide and plan; as they
        are where none has it. What acts and what guards it stay.
        """
        chosen = next((model for model in (self.vision, self.basic, self.reasoning) if name == model.name), None)
        return self if chosen is None else replace(self, basic=chosen, reasoning=chosen)

    def for_role(self, role: Role | str) -> Model:
        """The model of this role, else the one of this name: one that a role speaks with, or another at the endpoint of
        `basic`.
        """
        roles: dict[str, Model] = {"vision": self.vision, "basic": self.basic, "reasoning": self.reasoning}
        if role in roles:
            return roles[role]
        named = next((model for model in roles.values() if model.name == role), None)
        return named or (self.basic if self.at_basic is None else self.at_basic(role))

    def for_purpose(self, purpose: Purpose) -> Model:
        """The model whose role this purpose belongs to."""
        if purpose in {Purpose.ACT, Purpose.VERIFY, Purpose.GUARD}:
            return self.vision
        return self.reasoning if purpose is Purpose.PLAN else self.basic
