"""Types for webhooks: inbound ones, URLs that other programs call to start a task, and outgoing ones, URLs that the
service calls when a task ends or asks something, or a watch reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from bot.domain.address import Person, Place
from bot.domain.trigger import MOST_PER_HOUR, PER_HOUR

NAME: Final = r"[a-z0-9][a-z0-9-]{0,39}"
MOST_VALUES: Final = 20


class Hook(BaseModel):
    """An inbound webhook: its name and secret, and which values of a call's JSON are passed to the task."""

    model_config = ConfigDict(frozen=True)

    name: str = Field(pattern=f"^{NAME}$")
    """The last part of its address."""
    secret: str = Field(repr=False)
    """`whsec_` and a key in base64: callers send it, or sign with it."""
    values: tuple[str, ...] = ()
    """The names in the JSON of a call whose values are passed to the task; () for all, up to `MOST_VALUES`."""
    per_hour: int = Field(default=PER_HOUR, ge=1, le=MOST_PER_HOUR)


class WebhookEvent(StrEnum):
    """The events for which a webhook can be called."""

    ENDED = "ended"
    ASKED = "asked"
    WATCHED = "watched"
    """A watch reports a value."""


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """A webhook to be stored: its URL, whose tasks it is for, and for which events it is called."""

    person: Person
    place: Place
    event: str
    """The platform's id of the command, which makes sure that it creates one webhook at most."""
    url: str
    secret: str
    """`whsec_` and the key in base64, as in the Standard Webhooks specification."""
    everybody: bool
    """Whether it gets the events of everybody's tasks."""
    ended: bool
    asked: bool
    watched: bool

    def __repr__(self) -> str:
        return f"NewWebhook({self.url!r} of {self.person.id!r})"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A stored webhook. Times are Unix seconds."""

    id: str
    wish: NewWebhook
    created: float
    failing: float | None
    """When deliveries began to fail; None while they succeed."""
    off: str
    """Why it is switched off; "" while it is on."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message to a webhook that has not been delivered yet."""

    id: str
    webhook: str
    task: str
    kind: WebhookEvent
    subject: str
    """The id of the question; "" for the end of a task."""
    attempts: int
    created: float
