"""Approvals that a person gives in advance: for messages to one recipient, for the rest of a task or with one exact
text by a schedule.

Recipients and texts are compared exactly. Anything unknown never matches.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from pydantic import BaseModel, ConfigDict

MAX_NAME: Final = 60
"""The maximum letters of a recipient's name, so that a person sees all of what they approve."""


class Recipient(BaseModel):
    """The recipient of a message in an app: the name at the top of the conversation on the screen."""

    model_config = ConfigDict(frozen=True)

    name: str
    app: str
    """The package of the app."""
    app_name: str = ""
    """The phone's name for the app."""


class StandingYes(BaseModel):
    """A person's approval in advance for sending messages to one recipient. It covers nothing but sending."""

    model_config = ConfigDict(frozen=True)

    to: str
    """The recipient's name, as the app writes it."""
    app: str = ""
    """The app's package. With a schedule, it may also be the phone's name for the app, or "" for any app."""
    text: str | None = None
    """The whole text that may be sent; None for any text, which only an approval within a task may have."""
    by: str = ""
    """The person who gave the approval."""
    schedule: str = ""
    """The schedule to which the approval belongs and which allows one message per run; "" if it was given within a
    task.
    """

    def covers(self, to: Recipient, text: str | None) -> bool:
        """Whether this approves a message to this recipient with this whole text (None if unknown)."""
        if not self.to or same_words(self.to) != same_words(to.name):
            return False
        if self.text is None:
            return not self.schedule and self.app == to.app
        if text is None or same_words(self.text) != same_words(text):
            return False
        return not self.app or self.app == to.app or self.app.casefold() == to.app_name.casefold()


def same_words(text: str) -> str:
    """Return a text in the form in which texts are compared: composed letters, no surrounding whitespace. Look-alike
    letters stay different.
    """
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()
