"""Which picture stands in which message, so that an edit sends a picture only when it is another one."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

_REMEMBERED: Final = 1024
"""Messages whose picture is known; ours. Of others an edit finds out."""


class Shown:
    """Digests of the pictures of our messages, "" for messages without one."""

    def __init__(self) -> None:
        self._pictures: OrderedDict[tuple[int, int], str] = OrderedDict()

    def remember(self, chat: int, message: int, picture: str) -> None:
        """The message shows this picture now."""
        self._pictures[chat, message] = picture
        self._pictures.move_to_end((chat, message))
        if len(self._pictures) > _REMEMBERED:
            self._pictures.popitem(last=False)

    def picture(self, chat: int, message: int) -> str | None:
        """The picture's digest, "" when there is none, None when it is not known: a message of an earlier process."""
        return self._pictures.get((chat, message))
