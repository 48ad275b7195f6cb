"""The messages between hub and hosts: JSON, optionally followed by the bytes of a file or picture after a line break.

Each host has its own subjects, which end with its name, and the engine (message broker) allows it no others.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from agent.control import Signal
from agent.events import RunEvent
from agent.ports.runner import RunOrder
from agent.questions import Answer
from agent.run import RunId
from agent.wording import SENTENCES as AGENT_SENTENCES
from bot.fleet.bounds import check_limits, one_line
from bot.texts import words
from devices.names import LONGEST
from devices.phone import PhoneInfo
from devices.pictures import is_picture
from devices.wording import SENTENCES as PHONE_SENTENCES
from devices.wording import Words, placeholders

SPEAKS: Final = 1
"""The version of these messages. Hub and host may be one version apart."""
HOST_NAME: Final = r"^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$"
"""Pattern of a host's name, which must be usable as part of a subject."""
INVITATION_MINUTES: Final = 10
"""Minutes for which an invitation is valid."""

HUB_KEYS: Final = "fleet-hub.json"
HOST_KEYS: Final = "fleet-host.json"
"""Files in the data directory with the keys of a hub and of a host."""

ORDERS: Final = "FLEET_ORDERS"
"""The stream of orders to hosts."""
EVENTS: Final = "FLEET_EVENTS"
"""Prefix of the streams, one per host, of what runs report until the hub has stored it."""
PRESENCE: Final = "fleet"
"""The key-value bucket with the presence of each host."""
JOIN: Final = "fleet.join"

MOST_PHONES: Final = 400
"""Most phones of one host, which can handle about 32."""
VALUE_LETTERS: Final = 200
"""Characters of a text that a host reports about a phone, or of a value in a sentence."""
_TOLD: Final = [
    each.name for each in fields(PhoneInfo) if each.type == "str" and each.name not in {"id", "name", "host"}
]
"""The texts about a phone that are shown as its host reports them."""
_PHONE_ID: Final = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Patience:
    """Time limits in seconds for how long hub and host wait for each other, by the clock of the one that waits."""

    beat: float = 2.0
    away: float = 6.0
    """Three beats: one may be late and one lost."""
    lost: float = 120.0
    """Time after which an absent host's tasks are interrupted, and people are asked about them."""
    cut: float = 8.0
    """Silence of the hub after which a host pauses its work, because it may no longer be wanted."""
    again: float = 10.0
    """Time after which a message is sent again unless it is known to have arrived."""


def events_of(host: str, run: RunId | str) -> str:
    """Return the subject (NATS message address) for a host's reports about a run."""
    return f"fleet.events.{host}.{run}"


def _subject(kind: str) -> Callable[[str], str]:
    return lambda host: f"fleet.{kind}.{host}"


orders_to = _subject("orders")
"""Returns the subject (NATS message address) for orders to a host."""
beats_to = _subject("beat")
"""Returns the subject at which the hub sends a host its state every two seconds."""
pulse_of = _subject("pulse")
"""Returns the subject at which a host reports every two seconds that it is alive."""
asked_of = _subject("ask")
"""Returns the subject for the hub's requests to a host."""
asked_by = _subject("hub")
"""Returns the subject for a host's requests to the hub."""


def inbox_of(host: str) -> str:
    """Return the prefix of the subjects (NATS message addresses) for answers to a host."""
    return f"_INBOX_{host}"


class Message(BaseModel):
    """Base class of all messages. Fields that a later version adds are ignored."""

    model_config = ConfigDict(frozen=True)

    @classmethod
    def read(cls, data: bytes) -> Self:
        """Parse such a message. Raises ValueError if it is invalid or exceeds the limits."""
        return cls.model_validate_json(check_limits(data))


class Wish(Message):
    """A computer's request to join the fleet as a host.

    - `code`: The code of its invitation.
    - `nkey`: Its public key for signing in.
    - `seal`: Its public key for encrypting secrets.
    """

    code: str
    nkey: str = Field(pattern=r"^U[A-Z2-7]{55}$")
    seal: str = Field(pattern=r"^[0-9a-f]{64}$")


class Sentence(Message):
    """A sentence given by its kind and values, so that the receiver can word it in its own language (see
    `devices.wording.Words`).
    """

    kind: str = Field(max_length=100)
    values: dict[str, str] = Field(max_length=20)

    @classmethod
    def of(cls, text: str) -> Sentence | None:
        """Return the sentence that this text was made from; None for plain text."""
        if not isinstance(text, Words):
            return None
        return cls(kind=text.kind, values={name: str(value) for name, value in text.values.items()})

    def worded(self) -> Words:
        """Return the sentence as text. It is a general one if the kind is unknown here or a value is missing."""
        form = PHONE_SENTENCES.get(self.kind) or AGENT_SENTENCES.get(self.kind, "")
        if not form or not placeholders(form) <= self.values.keys():
            return words("fleet.unworded")
        return Words(form, self.kind, {name: one_line(value, VALUE_LETTERS) for name, value in self.values.items()})


class PhoneThere(Message):
    """A phone as its host reports it. The sentences `reason` and `fix` are sent by kind and values, so that the hub
    can translate them.
    """

    info: PhoneInfo
    reason: Sentence | None = None
    fix: Sentence | None = None

    @classmethod
    def of(cls, info: PhoneInfo) -> PhoneThere:
        """Make the report about a phone from its PhoneInfo."""
        return cls(info=info, reason=Sentence.of(info.reason), fix=Sentence.of(info.fix))

    @field_validator("info")
    @classmethod
    def _has_id(cls, info: PhoneInfo) -> PhoneInfo:
        if not _PHONE_ID.fullmatch(info.id):
            raise ValueError("no id of a phone")
        return info

    def seen_at(self, host: str) -> PhoneInfo:
        """Return the phone's info as the hub lists it for this host, each text shortened to one line."""
        info = self.info
        told: dict[str, Any] = {name: one_line(getattr(info, name), VALUE_LETTERS) for name in _TOLD}
        told |= {"name": one_line(info.name, LONGEST) or info.id[:LONGEST], "host": host}
        if info.size is not None and not is_picture(info.size.width, info.size.height):
            told["size"] = None
        if self.reason is not None:
            told["reason"] = self.reason.worded()
        if self.fix is not None:
            told["fix"] = self.fix.worded()
        return replace(info, **told)


class Presence(Message):
    """A host's description of itself.

    - `boot`: A random id of the host's start.
    - `number`: Grows with each change.
    - `speaks`: Version of its message format.
    - `version`: Version of its program.
    """

    boot: str = Field(max_length=100)
    number: int
    speaks: int
    version: str = Field(default="", max_length=100)
    phones: tuple[PhoneThere, ...] = Field(default=(), max_length=MOST_PHONES)


class Pulse(Message):
    """A host's regular sign of life.

    - `boot`, `number`: Those of its current presence.
    - `epoch`: The start of the hub whose rules it follows: 0 if it knows none yet, None from a host that does not say.
    - `working`: The ids of the runs that it is working on.
    """

    boot: str = Field(max_length=100)
    number: int
    epoch: int | None = None
    working: tuple[Annotated[str, Field(max_length=100)], ...] = Field(default=(), max_length=1000)


class Held(Message):
    """A lease of a phone: which run has it, and the lease's number (`fence`)."""

    phone: str
    run: RunId
    fence: int


class RunStatus(Message):
    """The state of a run at the hub.

    - `received`: Number of the last message up to which all have arrived.
    - `hold`: Whether the run must wait, because messages to it are not delivered yet.
    """

    received: int = 0
    hold: bool = False


class Beat(Message):
    """The complete state that the hub sends to a host every two seconds. A run that is not in it is over.

    - `epoch`: New after each start of the hub.
    - `number`: Grows with each beat.
    - `link`: New after each loss of the connection to the engine (message broker), when earlier messages may be lost.
    - `leaving`: Whether the hub is stopping.
    - `leases`: The leases of the host's phones, and those of its runs.
    """

    host: str
    epoch: int
    number: int
    link: int = 0
    leaving: bool = False
    runs: dict[str, RunStatus] = Field(default_factory=dict)
    leases: tuple[Held, ...] = ()


class OrderSent(Message):
    """An order to a host to do a run. `epoch` is that of the hub's start; the hub's beats from `number` on contain the
    run for as long as it is wanted. `language` is the person's.
    """

    host: str
    epoch: int
    number: int
    language: str
    order: RunOrder


class Told(Message):
    """A host's message with an event of a run. `n` is the message's number within the run."""

    kind: Literal["told"] = "told"
    n: int
    event: RunEvent


class PhoneWanted(Message):
    """A host's message that the run waits for a phone.

    - `n`: The message's number within the run.
    - `phone`: The phone's id, "" for any of this host.
    - `first`: Whether the run goes to the head of the queue.
    """

    kind: Literal["wanted"] = "wanted"
    n: int
    phone: str
    first: bool = False


class PhoneReturned(Message):
    """A host's message that the run has returned its phone. `n` is the message's number within the run, `fence` the
    lease's number.
    """

    kind: Literal["returned"] = "returned"
    n: int
    fence: int


Item = Annotated[Told | PhoneWanted | PhoneReturned, Field(discriminator="kind")]
"""One numbered message of a run."""
ITEM: Final[TypeAdapter[Item]] = TypeAdapter(Item)


class GiveAnswer(Message):
    """Request to a host: pass a person's answer to a run. The value of a secret is in `sealed`, encrypted for the
    host.
    """

    op: Literal["answer"] = "answer"
    id: str
    run: RunId
    answer: Answer
    sealed: str = ""


class GiveSignal(Message):
    """Request to a host: pass a person's signal (pause, resume, note or cancel) to a run."""

    op: Literal["signal"] = "signal"
    id: str
    run: RunId
    signal: Signal


class Rest(Message):
    """Request to a host: return the run's phone, which it does not need for now."""

    op: Literal["rest"] = "rest"
    id: str
    run: RunId


class Release(Message):
    """Request to a host: end the run, because its task is over."""

    op: Literal["release"] = "release"
    id: str
    run: RunId


class Refuse(Message):
    """Request to a host: tell the run that it will get no phone, and why."""

    op: Literal["refuse"] = "refuse"
    id: str
    run: RunId
    why: str


class GetFile(Message):
    """Request for a piece of a stored file, beginning at the byte `offset`."""

    op: Literal["file"] = "file"
    reference: str
    offset: int = 0


class UsePhone(Message):
    """Request to a host: call a method of a phone for a person (see `bot.fleet.phone_calls`)."""

    op: Literal["phone"] = "phone"
    phone: str
    call: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    held: Held | None = None
    """The current lease of the phone; None if it is free."""


ToHost = Annotated[GiveAnswer | GiveSignal | Rest | Release | Refuse | GetFile | UsePhone, Field(discriminator="op")]
TO_HOST: Final[TypeAdapter[ToHost]] = TypeAdapter(ToHost)


class Hello(Message):
    """A host's first request to the hub, which asks for its rules."""

    op: Literal["hello"] = "hello"


class UseMemory(Message):
    """Request to the hub: use the remembered facts of a person whose run the host does."""

    op: Literal["memory"] = "memory"
    person: str
    call: Literal["remember", "recall", "all", "forget"]
    arguments: dict[str, Any] = Field(default_factory=dict)


ToHub = Annotated[Hello | GetFile | UseMemory, Field(discriminator="op")]
TO_HUB: Final[TypeAdapter[ToHub]] = TypeAdapter(ToHub)


class Reply(Message):
    """The answer to a request; bytes may follow it. A non-empty `error` is a sentence that says why the request was not
    carried out, or only in part.
    """

    error: str = ""
    missing: bool = False
    """Whether the requested thing does not exist."""
    data: Any = None

    def bytes(self, body: bytes = b"") -> bytes:
        """Encode the reply as bytes, followed by `body`."""
        return self.model_dump_json().encode() + b"\n" + body


def read_reply(data: bytes) -> tuple[Reply, bytes]:
    """Decode a reply, and return it with the bytes that came with it. Raises ValueError."""
    head, _, body = data.partition(b"\n")
    return Reply.read(head), body


def understands(theirs: int) -> bool:
    """Return whether the other side's message version can work with this one."""
    return abs(theirs - SPEAKS) <= 1
