"""What hub and hosts say to each other. All of it is JSON; bytes of files and pictures follow a line of it.

Each host has subjects of its own, which end with its name, and the engine lets it use no others.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Any, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, field_validator

from agent.control import Signal
from agent.events import RunEvent
from agent.ports.runner import RunOrder
from agent.questions import Answer
from agent.run_id import RunId
from agent.wording import SENTENCES as AGENT_SENTENCES
from bot.fleet.bounds import bounded, in_line
from bot.texts import words
from devices.opening import is_picture
from devices.phone import PhoneInfo
from devices.phone_names import LONGEST
from devices.wording import SENTENCES as PHONE_SENTENCES
from devices.wording import Words, placeholders

SPEAKS: Final = 1
"""The version of what is said here. Hub and host may be one apart."""
HOST_NAME: Final = r"^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$"
"""What a host may be called: a word that can stand in a subject."""
INVITATION_MINUTES: Final = 10
"""How long a host may join with an invitation."""

HUB_KEYS: Final = "fleet-hub.json"
HOST_KEYS: Final = "fleet-host.json"
"""Files in the data directory, with the keys of a hub and of a host."""

ORDERS: Final = "FLEET_ORDERS"
"""The stream of orders to hosts."""
EVENTS: Final = "FLEET_EVENTS"
"""Begins the names of the streams, one for each host, of what runs tell, until the hub has it."""
PRESENCE: Final = "fleet"
"""The key-value bucket with what each host is and has."""
JOIN: Final = "fleet.join"

MOST_PHONES: Final = 400
"""Of one host, which handles about 32."""
VALUE_LETTERS: Final = 200
"""Of what a host says of a phone, or puts into a sentence."""
_TOLD: Final = (
    "serial",
    "reason",
    "fix",
    "model",
    "android",
    "app",
    "app_name",
    "lane",
    "lane_reason",
    "pictures",
    "locale",
)
"""The texts of a phone that are shown as its host tells them."""
_PHONE_ID: Final = re.compile(r"[\x21-\x7e]{1,200}")


@dataclass(frozen=True, slots=True)
class Patience:
    """How long hub and host wait for each other, in seconds by the clock of the one that waits."""

    beat: float = 2.0
    away: float = 6.0
    """Three beats: one may be late, one may be lost."""
    lost: float = 120.0
    """A host that stays away so long has its tasks interrupted; people are asked about them."""
    cut: float = 8.0
    """A host that hears nothing for so long stands still: nobody knows whether its work is still wanted."""
    again: float = 10.0
    """What was told and is not known to have arrived is told again after that."""


def orders_to(host: str) -> str:
    """Where a host is given runs."""
    return f"fleet.orders.{host}"


def events_of(host: str, run: RunId | str) -> str:
    """Where a host tells what a run does."""
    return f"fleet.events.{host}.{run}"


def beats_to(host: str) -> str:
    """Where the hub tells a host every two seconds what holds."""
    return f"fleet.beat.{host}"


def pulse_of(host: str) -> str:
    """Where a host tells every two seconds that it is there."""
    return f"fleet.pulse.{host}"


def asked_of(host: str) -> str:
    """Where the hub asks a host."""
    return f"fleet.ask.{host}"


def asked_by(host: str) -> str:
    """Where a host asks the hub."""
    return f"fleet.hub.{host}"


def inbox_of(host: str) -> str:
    """Where answers to a host arrive."""
    return f"_INBOX_{host}"


class Message(BaseModel):
    """Something that is said. What a later version adds is passed over."""

    model_config = ConfigDict(frozen=True)


M = TypeVar("M", bound=Message)


class Wish(Message):
    """A host that wants to join, with its public keys. The code is that of its invitation."""

    code: str
    nkey: str = Field(pattern=r"^U[A-Z2-7]{55}$")
    seal: str = Field(pattern=r"^[0-9a-f]{64}$")


class Sentence(Message):
    """A sentence by its kind and its values. Its words are those of whoever reads it (see `devices.wording.Words`)."""

    kind: str = Field(max_length=100)
    values: dict[str, str] = Field(max_length=20)

    @classmethod
    def of(cls, text: str) -> Sentence | None:
        """The sentence in a text, None for a text that is none."""
        if not isinstance(text, Words):
            return None
        return cls(kind=text.kind, values={name: str(value) for name, value in text.values.items()})

    def worded(self) -> Words:
        """The sentence as it is worded here; a general one for a kind that is not known here, or lacks a value."""
        form = PHONE_SENTENCES.get(self.kind) or AGENT_SENTENCES.get(self.kind, "")
        if not form or not placeholders(form) <= self.values.keys():
            return words("fleet.unworded")
        return Words(form, self.kind, {name: in_line(value, VALUE_LETTERS) for name, value in self.values.items()})


class PhoneThere(Message):
    """A phone of a host, and what is said of it."""

    info: PhoneInfo
    reason: Sentence | None = None
    fix: Sentence | None = None

    @classmethod
    def of(cls, info: PhoneInfo) -> PhoneThere:
        """What a host tells of its phone."""
        return cls(info=info, reason=Sentence.of(info.reason), fix=Sentence.of(info.fix))

    @field_validator("info")
    @classmethod
    def _has_id(cls, info: PhoneInfo) -> PhoneInfo:
        if not _PHONE_ID.fullmatch(info.id):
            raise ValueError("no id of a phone")
        return info

    def seen_at(self, host: str) -> PhoneInfo:
        """The phone as the hub lists it: each text in one short line."""
        info = self.info
        told: dict[str, Any] = {name: in_line(getattr(info, name), VALUE_LETTERS) for name in _TOLD}
        told |= {"name": in_line(info.name, LONGEST) or info.id[:LONGEST], "host": host}
        if info.size is not None and not is_picture(info.size.width, info.size.height):
            told["size"] = None
        if self.reason is not None:
            told["reason"] = self.reason.worded()
        if self.fix is not None:
            told["fix"] = self.fix.worded()
        return replace(info, **told)


class Presence(Message):
    """What a host is and has. `boot` is another one after each start, `number` grows with each change."""

    boot: str = Field(max_length=100)
    number: int
    speaks: int
    version: str = Field(default="", max_length=100)
    phones: tuple[PhoneThere, ...] = Field(default=(), max_length=MOST_PHONES)

    @classmethod
    def read(cls, data: bytes) -> Presence:
        """What a host has told. Raises ValueError."""
        return cls.model_validate_json(bounded(data))


class Pulse(Message):
    """A host is there, its presence in the bucket has this number, and it is at work on these runs, by the rules of the
    start of the hub with this `epoch`: 0 before it knows any, None from a host that does not say.
    """

    boot: str = Field(max_length=100)
    number: int
    epoch: int | None = None
    working: tuple[Annotated[str, Field(max_length=100)], ...] = Field(default=(), max_length=1000)

    @classmethod
    def read(cls, data: bytes) -> Pulse:
        """What a host has told. Raises ValueError."""
        return cls.model_validate_json(bounded(data))


class Held(Message):
    """A lease of a phone, as the record has it."""

    phone: str
    run: RunId
    fence: int


class Standing(Message):
    """How a run stands with the hub: the last event that has arrived, and whether something is still to be told to it
    before it may go on.
    """

    received: int = 0
    hold: bool = False


class Beat(Message):
    """All that holds for a host now. A run that is not named is over. A hub that is `leaving` stops.

    `epoch` is another one after each start of the hub; `number` grows with each beat. `link` is another one after each
    time that the hub had lost the engine, or the engine was started: what was said before may not have arrived.
    """

    host: str
    epoch: int
    number: int
    link: int = 0
    leaving: bool = False
    runs: dict[str, Standing] = Field(default_factory=dict)
    leases: tuple[Held, ...] = ()


class OrderSent(Message):
    """A run for a host, in the language of its person. `epoch` and `number` are those of the hub's last beat."""

    host: str
    epoch: int
    number: int
    language: str
    order: RunOrder


class Told(Message):
    """What the host tells of a run, as its `n`th message."""

    kind: Literal["told"] = "told"
    n: int
    event: RunEvent


class PhoneWanted(Message):
    """The run waits for its phone, "" for any of this host; `first` puts it at the head of the queue."""

    kind: Literal["wanted"] = "wanted"
    n: int
    phone: str
    first: bool = False


class PhoneReturned(Message):
    """The run has given its phone back."""

    kind: Literal["returned"] = "returned"
    n: int
    fence: int


Item = Annotated[Told | PhoneWanted | PhoneReturned, Field(discriminator="kind")]
"""One numbered message of a run."""
ITEM: Final[TypeAdapter[Item]] = TypeAdapter(Item)


class GiveAnswer(Message):
    """An answer for a run. Of a secret its value comes along, encrypted for the host."""

    op: Literal["answer"] = "answer"
    id: str
    run: RunId
    answer: Answer
    sealed: str = ""


class GiveSignal(Message):
    """A pause, note or end for a run."""

    op: Literal["signal"] = "signal"
    id: str
    run: RunId
    signal: Signal


class Rest(Message):
    """The run's phone is not needed for now."""

    op: Literal["rest"] = "rest"
    id: str
    run: RunId


class Release(Message):
    """The run's task is over."""

    op: Literal["release"] = "release"
    id: str
    run: RunId


class Refuse(Message):
    """There is no phone for the run, and there will be none."""

    op: Literal["refuse"] = "refuse"
    id: str
    run: RunId
    why: str


class GetFile(Message):
    """A piece of a kept file, from `offset` on."""

    op: Literal["file"] = "file"
    reference: str
    offset: int = 0


class UsePhone(Message):
    """A call of a phone (see `bot.fleet.phone_calls`)."""

    op: Literal["phone"] = "phone"
    phone: str
    call: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    held: Held | None = None
    """Who has the phone now, by the record."""


ToHost = Annotated[GiveAnswer | GiveSignal | Rest | Release | Refuse | GetFile | UsePhone, Field(discriminator="op")]
TO_HOST: Final[TypeAdapter[ToHost]] = TypeAdapter(ToHost)


class Hello(Message):
    """What a host asks first: by what rules it works."""

    op: Literal["hello"] = "hello"


class UseMemory(Message):
    """A call of the memory of a person whose run the host does."""

    op: Literal["memory"] = "memory"
    person: str
    call: Literal["remember", "recall", "all", "forget"]
    arguments: dict[str, Any] = Field(default_factory=dict)


ToHub = Annotated[Hello | GetFile | UseMemory, Field(discriminator="op")]
TO_HUB: Final[TypeAdapter[ToHub]] = TypeAdapter(ToHub)


class Reply(Message):
    """The answer to a request. `error` is a sentence, and then nothing was done; bytes follow where there are any."""

    error: str = ""
    missing: bool = False
    """Whether what was asked for is not there."""
    data: Any = None

    def bytes(self, body: bytes = b"") -> bytes:
        """The reply as it is sent."""
        return self.model_dump_json().encode() + b"\n" + body


def read_reply(data: bytes) -> tuple[Reply, bytes]:
    """A reply, and the bytes that came with it. Raises ValueError."""
    head, _, body = data.partition(b"\n")
    return Reply.model_validate_json(bounded(head)), body


def understands(theirs: int) -> bool:
    """Whether hub and host of these versions can work together."""
    return abs(theirs - SPEAKS) <= 1
