"""Answers to people take their turn in the same budget as everything else that goes to their chat."""

from __future__ import annotations

from collections.abc import Mapping

from bot.chats.address import Place
from bot.chats.base import Chat
from bot.chats.outgoing import Turn, at_once
from bot.outbox.clockwork import Clockwork
from bot.outbox.line import Line
from bot.outbox.pace import Paces, Urgency


class ReplyTurns:
    """Gives what an answer at a place waits for. `chats` is by platform and may grow."""

    def __init__(self, paces: Paces, chats: Mapping[str, Chat], time: Clockwork) -> None:
        self._paces = paces
        self._chats = chats
        self._time = time

    def __call__(self, place: Place) -> Turn:
        """The turn of the place's conversation; it raises FloodWait while the platform wants silence there."""
        chat = self._chats.get(place.address.platform)
        if chat is None:
            return at_once
        pace = self._paces.of(chat.capabilities, place.address, group=not place.private)
        return Line(chat, pace, self._time, Urgency.ANSWER).turn
