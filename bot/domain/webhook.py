"""A webhook: an address that is told when a task ends, asks, or a watch has news."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from bot.domain.address import Person, Place


class WebhookEvent(StrEnum):
    """What is told."""

    ENDED = "ended"
    ASKED = "asked"
    WATCHED = "watched"
    """A watch has news."""


@dataclass(frozen=True, slots=True)
class NewWebhook:
    """Whom to tell what, of whose tasks."""

    person: Person
    place: Place
    event: str
    """The platform's id of the command that made it: the same one makes no second."""
    url: str
    secret: str
    """`whsec_` and the key in base64, as Standard Webhooks has it."""
    everybody: bool
    """Whether it is told of everybody's tasks."""
    ended: bool
    asked: bool
    watched: bool

    def __repr__(self) -> str:
        return f"NewWebhook({self.url!r} of {self.person.id!r})"


@dataclass(frozen=True, slots=True)
class Webhook:
    """A webhook that is kept. Times are Unix seconds."""

    id: str
    wish: NewWebhook
    created: float
    failing: float | None
    """Since when nothing has arrived there; None while it answers."""
    off: str
    """Why it is switched off; "" while it is not."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message to a webhook that has not arrived yet."""

    id: str
    webhook: str
    task: str
    kind: WebhookEvent
    subject: str
    """The question's id; "" for an end."""
    attempts: int
    created: float
