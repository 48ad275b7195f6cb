"""Types for outgoing webhooks: URLs that the service calls when a task ends or asks something, or a watch (a schedule
that reads one value) reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.address import Person, Place


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
