"""A message as the pieces that Discord takes: content, files and buttons of each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from io import BytesIO
from typing import Final

import discord

from bot.chats.discord import limits
from bot.chats.discord.buttons import view_of
from bot.chats.discord.formatting import render
from bot.chats.outgoing import Button, Menu, Message, Picture
from bot.texts import say

WHOLE_TEXT: Final = "message.txt"
NOTHING: Final = "…"
"""Discord refuses a message without any content."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One Discord message. Files are made anew for each attempt, because sending uses them up."""

    content: str
    pictures: tuple[Picture, ...] = ()
    rows: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None

    def view(self) -> discord.ui.View | None:
        """The menu and the buttons, None without any."""
        return view_of(self.rows, self.menu)

    def files(self) -> list[discord.File]:
        """Fresh upload objects."""
        return [discord.File(BytesIO(picture.data), filename=picture.name) for picture in self.pictures]


def drafts_of(message: Message, *, mention: str = "", files: bool = True) -> list[Draft]:
    """The message in one or more pieces; picture, files, menu and buttons stay with the first.

    Without `files` (the bot may not attach any) pictures are left out, and long text becomes more messages before it
    is cut.
    """
    most = limits.PARTS if files else limits.PARTS_WITHOUT_FILES
    rendered = render(message, mention=mention, most=most)
    first, *others = rendered.parts
    pictures: tuple[Picture, ...] = ()
    if files:
        pictures = ((message.picture,) if message.picture else ()) + message.files
        if rendered.whole:
            pictures = (*pictures[: limits.FILES - 1], Picture(WHOLE_TEXT, rendered.whole.encode()))
    if rendered.whole:
        first = _noted(first, say("discord.whole_text", name=WHOLE_TEXT) if files else say("discord.cut"))
    if not first and not pictures:
        first = NOTHING
    drafts = [Draft(first, pictures[: limits.FILES], message.buttons, message.menu), *(Draft(text) for text in others)]
    rest = pictures[limits.FILES :]
    drafts.extend(Draft("", rest[i : i + limits.FILES]) for i in range(0, len(rest), limits.FILES))
    return drafts


def card_of(message: Message, *, files: bool = True) -> Draft:
    """The message in exactly one piece, for an edit: what does not fit is cut."""
    first, *others = drafts_of(message, files=files)
    if not any(draft.content for draft in others):
        return first
    return replace(first, content=_noted(first.content, say("discord.cut")))


def _noted(text: str, note: str) -> str:
    """The text with a small line below it, cut where both are too much."""
    below = f"\n-# {note}"
    return text[: limits.TEXT - len(below)] + below
