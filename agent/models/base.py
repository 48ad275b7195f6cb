"""The interface of a language model: messages in, one reply out. Endpoints and the offline pilot implement it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import astuple, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, Final, Literal, Protocol, runtime_checkable

from pydantic import BaseModel

from agent.models.state import Cause
from agent.scene import ImagePart, Scene

PILOT: Final = "offline"
"""The name of the offline pilot, which answers in place of a model if none is configured."""


class Purpose(StrEnum):
    """What a model call is for. It selects the model, the time limit and the line in the receipt."""

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
    """A tool call in a model's answer. `arguments` is the JSON text as the model wrote it."""

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
    """One message of a conversation with a model.

    `calls` are the tool calls the assistant made in it. A message with the role "tool" is the result of the call whose
    id is `call_id`.
    """

    role: Literal["system", "user", "assistant", "tool"]
    parts: tuple[str | ImagePart, ...]
    calls: tuple[ToolCall, ...] = ()
    call_id: str = ""

    @property
    def text(self) -> str:
        """The text of the message without its pictures."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


def prompted(instructions: str, *parts: str | ImagePart) -> tuple[Message, ...]:
    """Return the two messages of a single request: the instructions, and what they are applied to."""
    return Message("system", (instructions,)), Message("user", parts)


ROLE_OF: Final[Mapping[Purpose, str]] = {
    Purpose.ACT: "vision",
    Purpose.VERIFY: "vision",
    Purpose.GUARD: "guard",
    Purpose.PLAN: "reasoning",
}
"""The role to which a call of each purpose is charged. Purposes not listed belong to "basic". The independent reader
("guard") is its own role, whichever model it uses.
"""


_COUNTS: Final = ("input", "output", "cached", "calls")
"""What both a share and a usage count."""


@dataclass(frozen=True, slots=True)
class Share:
    """The tokens and cost that one role used on one model.

    `cached` tokens are part of `input`. `cost` is in the currency of the price table, None if the model has no price.
    """

    role: str
    """"vision", "basic", "reasoning", "guard" or the name of a team member; "" for tokens that belong to no role."""
    model: str
    """The model's name at its endpoint; "" for tokens that belong to no role."""
    input: int = 0
    output: int = 0
    cached: int = 0
    calls: int = 0
    cost: float | None = None

    @property
    def tokens(self) -> int:
        """The sum of input and output tokens."""
        return self.input + self.output

    def __add__(self, other: Share) -> Share:
        """Return the sum of two shares of the same role and model."""
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTS}
        return replace(self, **sums, cost=_sum(self.cost, other.cost))


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one call or of several calls together.

    `cached` is part of `input`, and `reasoning` is part of `output`. `estimated` means that an endpoint did not report
    all of them. `cost` is in the currency of the price table; None if the model has no price. The `guard_…` fields are
    the part used by the independent reader, which judges presses, and the seconds that presses waited for it. `booked`
    splits the tokens by role and model, with one share per pair in the order of their first call; tokens that belong to
    no role are in none of them (see `shares`).
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
        """The sum of input and output tokens."""
        return self.input + self.output

    @property
    def shares(self) -> tuple[Share, ...]:
        """The whole usage split by role and model. Tokens that belong to no role are in one more share with empty
        names.
        """
        taken = {name: sum(getattr(each, name) for each in self.booked) for name in _COUNTS}
        rest = Share("", "", **{name: max(0, getattr(self, name) - taken[name]) for name in _COUNTS})
        if not rest.tokens:
            return self.booked
        known = sum(each.cost or 0.0 for each in self.booked)
        cost = None if self.cost is None or (self.booked and self.cost <= known) else self.cost - known
        return (*self.booked, replace(rest, cost=cost))

    def booked_on(self, role: str, model: str) -> Usage:
        """Return the same usage, assigned to one role and model."""
        share = Share(role, model, self.input, self.output, self.cached, self.calls, self.cost)
        return replace(self, booked=(share,) if self.tokens else ())

    def read_by_guard(self, seconds: float) -> Usage:
        """Return the same usage, marked as that of the independent reader, for which a press waited `seconds`."""
        return replace(self, guard_tokens=self.input + self.output, guard_seconds=seconds, guard_cost=self.cost)

    def data(self) -> dict[str, Any]:
        """Return the usage as JSON data; each share becomes a list."""
        plain = {each.name: getattr(self, each.name) for each in fields(self) if each.name != "booked"}
        return {**plain, "booked": [list(astuple(share)) for share in self.booked]} if self.booked else plain

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Usage:
        """Rebuild a usage from what `data` returned."""
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
    """One call to a model.

    `schema` is the required form of the answer, if any. `scene` describes a call of the acting model as data, for
    implementations that need no prompt.
    """

    purpose: Purpose
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    schema: type[BaseModel] | None = None
    scene: Scene | None = None
    conversation: str = ""
    """The id of the conversation: it is the cache key and the thread of a server-side conversation."""
    task: str = ""
    """The id of the task that the call belongs to."""
    deep: bool = False
    """Whether the call deserves more reasoning than usual; endpoints that support this are asked for it."""
    member: str = ""
    """The team member that makes the call and to which it is charged; "" if it is charged to the role of its
    purpose.
    """
    temperature: float | None = None
    """The sampling temperature; None for the endpoint's default."""
    max_tokens: int | None = None
    """The maximum length of the answer in tokens; None for the endpoint's default."""
    rendered_for: str = ""
    """The model whose dialect and picture size the request uses; "" if any model can read it."""

    @property
    def role(self) -> str:
        """The role or team member to which the call is charged (see `Share.role`)."""
        return self.member or ROLE_OF.get(self.purpose, "basic")


@dataclass(frozen=True, slots=True)
class StandIn:
    """The model that answered in place of the requested one, and why the requested one could not."""

    model: str
    cause: Cause


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The answer of a model.

    `model` is the name of the model that answered, `finish_reason` is why the answer ended, and `stand_in` is set if
    another model than the requested one answered.
    """

    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    memo: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON data that the model gets back with this step later (`agent.scene.PastStep.memo`)."""
    stand_in: StandIn | None = None
    waited: float = 0.0
    """Seconds for which the endpoint was unavailable before it answered. After a long time, the screen that the model
    was shown may be out of date.
    """


@dataclass(frozen=True, slots=True)
class Delta:
    """A streamed piece of a reply: more of its text, its reasoning or a tool call."""

    text: str = ""
    reasoning: str = ""
    call: ToolCall | None = None
    """The tool call that is being written, up to this point: its arguments may end anywhere."""


Role = Literal["vision", "basic", "reasoning"]


class Model(Protocol):
    """One model at one endpoint, or the offline pilot; both are called in the same way.

    An example:

        reply = await model.complete(ModelRequest(Purpose.INTENT, (Message("user", ("Hello",)),)))
    """

    @property
    def name(self) -> str:
        """The model's name as the endpoint knows it; "offline" for the pilot."""

    async def complete(self, request: ModelRequest, *, on_delta: Callable[[Delta], None] | None = None) -> ModelReply:
        """Return the answer to a request. `on_delta` receives the pieces while it is written.

        Retries, time limits and streaming are handled inside; cancelling the call closes the socket. Raises ModelError,
        and ModelSwitched if another model answers now than the one that the request was rendered for.
        """


class ModelSwitched(Exception):
    """The request must be rendered again, because another model answers now than the one that it was rendered for."""


@runtime_checkable
class _OneOfTwo(Protocol):
    @property
    def active_name(self) -> str: ...


def active_name(model: Model) -> str:
    """Return the name of the model that would answer now; that is a stand-in's while the requested model is
    unavailable.
    """
    return model.active_name if isinstance(model, _OneOfTwo) else model.name


@runtime_checkable
class Connected(Protocol):
    """A model that holds network connections of its own."""

    async def close(self) -> None:
        """Close the connections; the model cannot be used afterwards."""


@dataclass(frozen=True, slots=True)
class Models:
    """The model for each role: `vision` acts on the phone, `basic` reads and summarises, `reasoning` plans."""

    vision: Model
    basic: Model
    reasoning: Model
    at_basic: Callable[[str], Model] | None = field(default=None, kw_only=True)
    """Returns a model by name at the endpoint of `basic`, always the same object for a name; None if there is no
    endpoint.
    """

    def with_lead_model(self, name: str) -> Models:
        """Return a copy in which the model called `name` takes over the basic and reasoning roles; the acting model and
        the independent reader stay the same. Returns the object itself if none of the three has that name.
        """
        chosen = next((model for model in (self.vision, self.basic, self.reasoning) if name == model.name), None)
        return self if chosen is None else replace(self, basic=chosen, reasoning=chosen)

    def for_role(self, role: Role | str) -> Model:
        """Return the model of a role or, if `role` is the name of a model, that model: one that a role already uses, or
        another one at the endpoint of `basic` (without an endpoint, `basic` itself).
        """
        roles: dict[str, Model] = {"vision": self.vision, "basic": self.basic, "reasoning": self.reasoning}
        if role in roles:
            return roles[role]
        named = next((model for model in roles.values() if model.name == role), None)
        return named or (self.basic if self.at_basic is None else self.at_basic(role))

    def for_purpose(self, purpose: Purpose) -> Model:
        """Return the model of the role that handles this purpose."""
        if purpose in {Purpose.ACT, Purpose.VERIFY, Purpose.GUARD}:
            return self.vision
        return self.reasoning if purpose is Purpose.PLAN else self.basic
