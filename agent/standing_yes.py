"""A yes given in advance: sends to one recipient, for the rest of a task or with one exact text by a schedule.

It is compared as facts, letter by letter. Whatever is not known equals nothing.
"""

from __future__ import annotations

import unicodedata
from typing import Final

from pydantic import BaseModel, ConfigDict

MAX_NAME: Final = 60
"""Letters of a recipient's name: a person sees all of what they allow."""


class Recipient(BaseModel):
    """To whom an app sends: the name at the head of the conversation that is on the screen."""

    model_config = ConfigDict(frozen=True)

    name: str
    app: str
    """The app's package."""
    app_name: str = ""
    """What the phone calls the app."""


class StandingYes(BaseModel):
    """A person's yes to sends that are not asked about again. It is for sending alone, whatever else is asked."""

    model_config = ConfigDict(frozen=True)

    to: str
    """The recipient's name, as the app writes it."""
    app: str = ""
    """The app's package; of a schedule also what the phone calls the app, or "" for any."""
    text: str | None = None
    """The whole text; None for any, which only a yes within a task may have."""
    by: str = ""
    """Who gave it."""
    schedule: str = ""
    """The schedule that it came with, which lets one message pass in each run; "" when given within the task."""

    def covers(self, to: Recipient, text: str | None) -> bool:
        """Whether a message to this recipient is meant, of which `text` is the whole text (None: not known)."""
        if not self.to or same_words(self.to) != same_words(to.name):
            return False
        if self.text is None:
            return not self.schedule and self.app == to.app
        if text is None or same_words(self.text) != same_words(text):
            return False
        return not self.app or self.app == to.app or self.app.casefold() == to.app_name.casefold()


def same_words(text: str) -> str:
    """The text in one spelling: composed letters, no blanks around it. Look-alikes stay different."""
    return unicodedata.normalize("NFC", text.replace("\r\n", "\n")).strip()
