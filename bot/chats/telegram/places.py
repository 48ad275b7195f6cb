"""Converts Telegram's chats and users to the service's addresses and people."""

from __future__ import annotations

from telegram import Chat, MaybeInaccessibleMessage, Message, User

from bot.chats.telegram import limits
from bot.domain.address import Address, MessageRef, Person, Place, on_one_line

PLATFORM = "telegram"


def person_of(user: User) -> Person:
    """Return the person for a Telegram user. A deleted account has no name: the library then gives None, although its
    types say otherwise.
    """
    return Person(PLATFORM, str(user.id), on_one_line(user.full_name or ""), user.language_code or "")


def place_of(account: int, message: MaybeInaccessibleMessage) -> Place:
    """Return the place of a message. Only forum topics count as threads: in other groups the thread id only identifies
    a reply. `account` is the bot's user id.
    """
    thread = ""
    if isinstance(message, Message) and message.is_topic_message and message.message_thread_id:
        number = message.message_thread_id
        thread = "" if number == limits.GENERAL_TOPIC else str(number)
    address = Address(PLATFORM, str(account), str(message.chat.id), thread=thread)
    return Place(address, private=message.chat.type == Chat.PRIVATE)


def ref_of(place: Place, message: MaybeInaccessibleMessage) -> MessageRef:
    """Return the reference of a message at this place."""
    return MessageRef(place.address, str(message.message_id))


def answered(place: Place, message: Message) -> MessageRef | None:
    """Return the message that this one replies to, None if there is none. In a topic, every message formally replies to
    the notice that began the topic; that does not count.
    """
    above = message.reply_to_message
    if above is None or above.forum_topic_created is not None or str(above.message_id) == place.address.thread:
        return None
    return MessageRef(place.address, str(above.message_id))


def is_answer_to(bot: int, message: Message) -> bool:
    """Return whether this message replies to one of the bot's own. `bot` is the bot's user id."""
    above = message.reply_to_message
    return above is not None and above.from_user is not None and above.from_user.id == bot


def thread_id(address: Address) -> int | None:
    """Return the topic id for a request; None for the chat itself and for the General topic."""
    number = int(address.thread or 0)
    return None if number in {0, limits.GENERAL_TOPIC} else number
