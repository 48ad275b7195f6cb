"""Translates Telegram's refusals into the errors that the outbox (the sender of messages to chats) handles, each with a
sentence for people that contains no token.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from telegram.error import BadRequest, ChatMigrated, Forbidden, InvalidToken, NetworkError, TelegramError

from bot.chats.sending import OwnershipLost
from bot.chats.telegram import limits
from bot.chats.telegram.requests import Flooded, NotSent
from bot.domain.chat import ChatError, ChatGone, ChatRefused, FloodWait

NOT_MODIFIED: Final = "message is not modified"
NO_TEXT: Final = "there is no text in the message to edit"
NOT_PARSED: Final = "can't parse entities"
CLOSED_ALREADY: Final = "topic_not_modified"
ALREADY_DELETED: Final = "message to delete not found"
BAD_PHOTO: Final = (
    "photo_invalid_dimensions",
    "image_process_failed",
    "too big for a photo",
    "photo_save_file_invalid",
)
NO_PICTURES: Final = (
    "not enough rights to send photos",
    "not enough rights to send documents",
    "not enough rights to send animations",
    "chat_send_photos_forbidden",
    "chat_send_docs_forbidden",
    "chat_send_gifs_forbidden",
)
"""Descriptions of refusals by chats that allow only text."""

_GONE: Final = {
    "chat not found": "the chat does not exist, or the bot was never in it",
    "message to edit not found": "the message does not exist any more",
    "message can't be edited": "the message cannot be edited any more",
    "message_id_invalid": "the message does not exist any more",
    "message thread not found": "the topic does not exist any more",
    "topic_closed": "the topic is closed",
    "topic_deleted": "the topic does not exist any more",
    "group chat was deactivated": "the group does not exist any more",
    "not enough rights to send": "the bot may not write in this chat",
    "have no rights to send": "the bot may not write in this chat",
    "need administrator rights": "the bot must be an administrator to write in this chat",
    "chat_write_forbidden": "the bot may not write in this chat",
    "chat_restricted": "the bot may not write in this chat",
}
_OTHER: Final = {
    "message can't be deleted": "give the bot the right to delete messages; after 48 hours no bot may",
    "request entity too large": "the file is larger than bots may send",
}
"""The meanings of Telegram's descriptions. The Bot API does not document them: these are what its open source server
and its users report.
"""

_TOKEN: Final = re.compile(r"\d+:[\w-]{20,}")


class ChatMoved(ChatError):
    """The group became a supergroup, and now has the id `chat`. Messages sent to that id arrive."""

    def __init__(self, doing: str, chat: str) -> None:
        super().__init__(f"Telegram refused {doing}: the group became a supergroup with the id {chat}.")
        self.chat = chat


def says(error: BaseException, *phrases: str) -> bool:
    """Return whether the error is a BadRequest, and Telegram's description of it contains one of the phrases (in lower
    case).
    """
    text = str(error).lower()
    return isinstance(error, BadRequest) and any(phrase in text for phrase in phrases)


def reason(error: BaseException) -> str:
    """Return the error as a text for the log, with everything removed that looks like a token."""
    return _TOKEN.sub("[token]", str(error) or type(error).__name__)


@asynccontextmanager
async def translated(doing: str) -> AsyncIterator[None]:
    """Turn errors of Telegram and of the network in the block into FloodWait, ChatGone or ChatError. The block has a
    time limit, which counts as a network error. `doing` completes the sentence "Telegram refused …".

    The library's exceptions are not chained, because addresses in them contain the token.
    """
    try:
        async with asyncio.timeout(limits.REQUEST_SECONDS):
            yield
    except (TelegramError, TimeoutError, OSError) as refused:
        raise _meaning(refused, doing) from None


def _meaning(refused: Exception, doing: str) -> Exception:
    match refused:
        case Flooded():
            return FloodWait(refused.seconds)
        case ChatMigrated():
            return ChatMoved(doing, str(refused.new_chat_id))
        case Forbidden():
            return ChatGone(f"Telegram refused {doing}: {_plain(refused)}.")
        case BadRequest():
            return _refusal(refused, doing)
        case InvalidToken():
            return ChatError(f"Telegram refused {doing}: the bot token is not accepted any more.")
        case NotSent():
            return OwnershipLost()
        case NetworkError() if "too large" in str(refused).lower():  # 413 of the server before the Bot API
            return ChatRefused(f"Telegram refused {doing}: {_OTHER['request entity too large']}.")
        case NetworkError() | TimeoutError() | OSError():
            return ChatError(f"Telegram could not be reached for {doing}; it may or may not have arrived.")
        case _:
            return ChatError(f"Telegram answered {doing} in a way that was not understood: {reason(refused)}.")


def _refusal(refused: BadRequest, doing: str) -> ChatError:
    text = str(refused).lower()
    for phrase, meaning in _GONE.items():
        if phrase in text:
            return ChatGone(f"Telegram refused {doing}: {meaning}.")
    meaning = next((told for phrase, told in _OTHER.items() if phrase in text), _plain(refused))
    return ChatRefused(f"Telegram refused {doing}: {meaning}.")


def _plain(refused: Exception) -> str:
    """Return Telegram's own description without its prefixes, so that it fits into a sentence."""
    text = re.sub(r"^(forbidden|bad request): ", "", reason(refused), flags=re.IGNORECASE).rstrip(".")
    return text[:1].lower() + text[1:] if text[1:2].islower() else text
