"""The console and the API as chats. The console stores its messages and notifies all open pages; programs read what
happens from their tasks, so no messages are sent to them.
"""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import PurePath

from agent.ports.stores import Frames
from bot.domain.address import Address, MessageRef, Person
from bot.domain.chat import Capabilities, ChatError, ChatGone
from bot.domain.console_log import Content, Entry, KeptButton, KeptFile, KeptMenu
from bot.domain.outgoing import Button, Message, Picture, Turn, at_once
from bot.domain.right import API_PLATFORM
from bot.store.console import ConsoleMessages
from bot.web.wakeup import Wakeup

PLATFORM = "web"
HOME = Address(platform=PLATFORM, account="console", chat="console")
OPERATOR = Person(platform=PLATFORM, id="operator", name="operator")

TEXT_LIMIT = 100_000
"""Characters of one text on the page. A longer one is cut and attached as a file, which keeps the page fast."""

MENU_CHOICES = 200
"""Maximum choices of a menu: more than anybody would read."""
ID_DIGITS = 18
"""Digits of a message's id, which must fit in SQLite's 64 bits."""

SUFFIX = re.compile(r"\.[a-z0-9]{1,10}")
"""Endings that the frame store accepts; others become `.bin`."""

CAPABILITIES = Capabilities(
    threads=True,
    edit_interval=0.2,
    edit_interval_group=0.2,
    caption_limit=TEXT_LIMIT,
    file_limit=50 * 1024 * 1024,
    card_lifetime=math.inf,
    knows_delivery=True,
    deletes=True,
    hides_codes=True,
    menu_choices=MENU_CHOICES,
    shows_live=True,
    counts_down=True,
)


class WebChat:
    """The console as a chat; implements `bot.domain.chat.Chat`. What a task's log already contains is not stored again.

    One instance serves the operator. Another serves all people who sign in with a token: each of them has a chat of
    their own in it, named after them.
    """

    capabilities = CAPABILITIES

    def __init__(self, log: ConsoleMessages, frames: Frames, platform: str = PLATFORM) -> None:
        self._log = log
        self._frames = frames
        self.platform = platform
        self.updated = Wakeup()
        """Is notified after every change of the log."""

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:  # noqa: ARG002 - the page names a place by its task
        """Open a new thread for a task, wherever in the console it was given."""
        return replace(origin, thread=secrets.token_hex(6))

    async def private_place(self, origin: Address, person: Person) -> Address:
        """Raise ChatError: a chat of the console is private already, so there is no other place."""
        raise ChatError(f"{origin} is in the console, which has no other place for {person.id}.")

    async def close_place(self, place: Address) -> None:
        """Do nothing: a thread stays readable, and the page shows that its task is over."""

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:
        """Show a message on the page, and return its reference. A message with the same nonce is shown only once."""
        log = self._log_of(place)
        if message.task:
            return MessageRef(place, nonce)
        await turn()
        entry = await log.append(place.thread, "bot", await self._content(message), nonce=f"bot:{nonce}")
        return self._publish(entry, place)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Change a message in place. Raises ChatGone if it was deleted."""
        if message.task:
            return
        await turn()
        await self._replace(ref, await self._content(message))

    async def without_buttons(self, ref: MessageRef) -> None:
        """Remove the buttons and menu of a message, keeping its text. Raises ChatGone if it was deleted."""
        number = _entry_id(ref)
        found = await self._log_of(ref.address).page(ref.address.thread, before=number + 1, limit=1)
        if not found or found[0].id != number:
            raise _gone(ref)
        await self._replace(ref, found[0].content.model_copy(update={"buttons": (), "menu": None}))

    async def _replace(self, ref: MessageRef, content: Content) -> None:
        try:
            entry = await self._log_of(ref.address).replace(_entry_id(ref), content)
        except KeyError as error:
            raise _gone(ref) from error
        self._publish(entry, ref.address)

    async def delete(self, ref: MessageRef) -> None:
        """Remove a message from the page and the log."""
        try:
            entry = await self._log_of(ref.address).remove(_entry_id(ref))
        except KeyError as error:
            raise _gone(ref) from error
        self._publish(entry, ref.address)

    async def show_user_message(
        self, place: Address, text: str, *, nonce: str, files: Sequence[str] = ()
    ) -> MessageRef:
        """Show on the page what the person wrote, with the names of the attached files, and return the reference of
        that message.
        """
        content = Content(body=text, footer="\n".join(files))
        log = self._log_of(place)
        return self._publish(await log.append(place.thread, "operator", content, nonce=f"operator:{nonce}"), place)

    def _log_of(self, place: Address) -> ConsoleMessages:
        """Return the messages of the chat's owner. Raises ChatGone for a place that does not exist here."""
        at_home = (place.account, place.chat) == (HOME.account, HOME.chat)
        if place.platform != self.platform or at_home != (self.platform == PLATFORM) or not place.chat:
            raise ChatGone(f"{place} is no place of the console.")
        return self._log if at_home else self._log.of(place.chat)

    def _publish(self, entry: Entry, place: Address) -> MessageRef:
        self.updated.notify()
        return MessageRef(replace(place, thread=entry.thread), str(entry.id))

    async def _content(self, message: Message) -> Content:
        files = [await self._kept(file) for file in message.files]
        body = message.body
        if len(body) > TEXT_LIMIT:
            files.append(await self._kept(Picture("message.txt", body.encode())))
            body = body[: TEXT_LIMIT - 1] + "…"
        return Content(
            heading=message.heading,
            body=body,
            footer=message.footer,
            picture=(await self._kept(message.picture)).reference if message.picture else "",
            files=tuple(files),
            buttons=tuple(_kept(row) for row in message.buttons if row),
            menu=KeptMenu(choices=_kept(message.menu.choices), prompt=message.menu.prompt) if message.menu else None,
            notify=message.notify,
            reply_to=message.reply_to.message if message.reply_to else "",
        )

    async def _kept(self, picture: Picture) -> KeptFile:
        suffix = PurePath(picture.name).suffix.lower()
        if not SUFFIX.fullmatch(suffix):
            suffix = ".bin"
        return KeptFile(name=picture.name, reference=await self._frames.save(picture.data, suffix=suffix))


def _kept(buttons: Sequence[Button]) -> tuple[KeptButton, ...]:
    return tuple(KeptButton(label=button.label, data=button.data, style=button.style) for button in buttons)


def _entry_id(ref: MessageRef) -> int:
    if not (ref.message.isdecimal() and len(ref.message) <= ID_DIGITS):
        raise _gone(ref)
    return int(ref.message)


def _gone(ref: MessageRef) -> ChatGone:
    return ChatGone(f"The console shows no message {ref.message!r} (any more).")


API_CAPABILITIES = Capabilities(
    threads=False,
    edit_interval=3600.0,
    edit_interval_group=3600.0,
    caption_limit=100_000,
    file_limit=20 * 1024 * 1024,
    card_lifetime=math.inf,
    knows_delivery=True,
    deletes=False,
    hides_codes=True,
    counts_down=True,
)


class ApiChat:
    """The API as a chat; implements `bot.domain.chat.Chat`. Programs read cards, questions and results from
    the tasks.
    """

    platform = API_PLATFORM
    capabilities = API_CAPABILITIES

    async def open_place(self, origin: Address, anchor: str | None, title: str) -> Address:  # noqa: ARG002 - it has no threads of its own
        """Return the conversation itself, because tasks have no threads of their own."""
        return origin

    async def private_place(self, origin: Address, person: Person) -> Address:
        """Raise ChatError, because a conversation has no separate private chat."""
        raise ChatError(f"{origin} is private already, and {person.id} has no other place there.")

    async def close_place(self, place: Address) -> None:
        """Do nothing: a conversation stays readable."""

    async def send(self, place: Address, message: Message, *, nonce: str, turn: Turn = at_once) -> MessageRef:  # noqa: ARG002 - it is told otherwise
        """Send nothing, because programs read cards, questions and results from the task. Returns a reference
        nevertheless.
        """
        await turn()
        return MessageRef(place, nonce)

    async def edit(self, ref: MessageRef, message: Message, *, turn: Turn = at_once) -> None:
        """Do nothing: programs read the current state from the task itself."""

    async def delete(self, ref: MessageRef) -> None:
        """Do nothing: an answer with a secret is never stored."""
