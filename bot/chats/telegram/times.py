"""How long polls, pauses and patience last."""

from __future__ import annotations

from dataclasses import dataclass

from bot.chats.telegram import limits


@dataclass(frozen=True, slots=True)
class Times:
    """All in seconds; what each means stands in `limits`."""

    poll: float = limits.POLL_SECONDS
    answer: float = limits.ANSWER_SECONDS
    stall: float = limits.STALL_SECONDS
    first_retry: float = limits.FIRST_RETRY_SECONDS
    last_retry: float = limits.LAST_RETRY_SECONDS
    press: float = limits.PRESS_SECONDS
    album: float = limits.ALBUM_SECONDS
    look: float = limits.WEBHOOK_LOOK_SECONDS
    menus: float = limits.MENU_LOOK_SECONDS
