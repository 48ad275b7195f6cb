"""Converts a message in plain text to Telegram messages: HTML split into texts of allowed length, one picture, an
inline keyboard, and files that are sent separately.
"""

from __future__ import annotations

import html
import logging
import re
from dataclasses import dataclass, replace
from hashlib import blake2s
from itertools import groupby
from typing import Final

from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.constants import KeyboardButtonStyle

from bot.chats.plain_text import FOOTER, HEADING, NOTHING, WHOLE_TEXT, Line, cut, pack, short, size
from bot.chats.telegram import limits
from bot.domain.address import Person
from bot.domain.outgoing import Button, Message, Picture
from bot.texts import say

logger = logging.getLogger(__name__)


NAME: Final = 64
"""UTF-16 units that a mentioned name may take; our choice, so that most of a caption is left for the body."""

JOINER: Final = "\u2060"
"""Word joiner: invisible, and no part of a username."""

_ADDRESS_OR_NAME = re.compile(r"(?P<url>https?://\S+)|(?<!\w)@(?=\w)")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Part:
    """One text in two forms: as HTML, and as plain text, which is sent if Telegram does not accept the HTML. Limits
    apply to `plain`.
    """

    html: str
    plain: str

    def __add__(self, other: Part) -> Part:
        return Part(self.html + other.html, self.plain + other.plain)


def render(message: Message, *, first_limit: int = limits.TEXT, mention: Person | None = None) -> list[Part]:
    """Convert the message's heading, body and footer to HTML, split into parts where it is too long. There is always at
    least one part; the last carries the footer.

    `first_limit` is the maximum of the first part in UTF-16 units; later parts may have Telegram's full length.
    `mention` is the only person to mention.
    """
    head = _head(message, mention)
    foot = _styled("i", short(quiet(message.footer), FOOTER)) if message.footer.strip() else Part("", "")
    first = first_limit - size(head.plain) - size(foot.plain) - 2
    later = limits.TEXT - size(foot.plain) - 2
    bodies = [_joined(lines) for lines in pack(quiet(message.body), first, later)] or [Part("", "")]
    parts = []
    for index, body in enumerate(bodies):
        above = head if index == 0 else Part("", "")
        gap = _text("\n") if above.plain and message.heading and body.plain else Part("", "")
        below = foot if index == len(bodies) - 1 else Part("", "")
        turn = _text("\n") if below.plain and (above.plain or body.plain) else Part("", "")
        parts.append(above + gap + body + turn + below)
    return parts


def visible(part: Part) -> Part:
    """Return the part, or a placeholder if none of its text would be visible."""
    return part if part.plain.replace(JOINER, "").strip() else _text(NOTHING)


def quiet(text: str) -> str:
    """Return the text with each `@name` changed so that Telegram notifies nobody, and without invalid characters.

    The Bot API has no switch for mentions: `@name` anywhere in a text notifies that person.
    """
    text = _SURROGATE.sub("\ufffd", text)
    return _ADDRESS_OR_NAME.sub(lambda found: found["url"] or f"@{JOINER}", text)


def _head(message: Message, mention: Person | None) -> Part:
    head = Part("", "")
    if mention is not None and mention.id.isdigit():
        name = short(quiet(mention.name or mention.id), NAME)
        head = Part(f'<a href="tg://user?id={mention.id}">{html.escape(name)}</a> ', f"{name} ")
    if message.heading.strip():
        head += _styled("b", short(quiet(message.heading), HEADING))
    return head


def _text(text: str) -> Part:
    return Part(html.escape(text, quote=False), text)


def _styled(tag: str, text: str) -> Part:
    return Part(f"<{tag}>{html.escape(text, quote=False)}</{tag}>", text)


def _joined(lines: list[Line]) -> Part:
    blocks = [(block, [line for line, _ in group]) for block, group in groupby(lines, key=lambda line: line[1])]
    shown = []
    for block, texts in blocks:
        text = html.escape("\n".join(texts), quote=False)
        if block is not None:
            language = f' class="language-{html.escape(block[1])}"' if block[1] else ""
            text = f"<pre><code{language}>{text}</code></pre>" if language else f"<pre>{text}</pre>"
        shown.append(text)
    return Part("\n".join(shown), "\n".join(line for line, _ in lines))


_STYLES = frozenset(KeyboardButtonStyle)
"""The other style, "secondary", is the one that a button has by default."""


def rows_of(message: Message) -> tuple[tuple[Button, ...], ...]:
    """Return the message's buttons as rows: each menu choice of the current page in a row of its own, then
    the buttons.
    """
    menu = message.menu
    if menu is None:
        return message.buttons
    if not menu.turner or len(menu.choices) <= limits.MENU_PAGE:
        return (*((choice,) for choice in menu.choices), *message.buttons)
    pages = -(-len(menu.choices) // limits.MENU_PAGE)
    page = min(menu.page, pages - 1)
    first = page * limits.MENU_PAGE
    shown = tuple((choice,) for choice in menu.choices[first : first + limits.MENU_PAGE])
    # Both ends lead to each other, so that the row never changes its length under the thumb.
    turns = (
        Button("‹", f"{menu.turner}:{(page - 1) % pages}"),
        Button(f"{page + 1}/{pages}", f"{menu.turner}:{page}"),
        Button("›", f"{menu.turner}:{(page + 1) % pages}"),
    )
    return (*shown, turns, *message.buttons)


def keyboard_of(rows: tuple[tuple[Button, ...], ...]) -> InlineKeyboardMarkup | None:
    """Convert the rows to an inline keyboard; None if there are no buttons. Buttons that would make Telegram refuse the
    whole message are left out: those with a blank label, with too long data (this is logged), or beyond the maximum.
    """
    keyboard = []
    left = limits.BUTTONS
    for row in rows:
        fitting = [button for button in row if button.label.strip() and _fits(button)][:left]
        left -= len(fitting)
        for start in range(0, len(fitting), limits.BUTTONS_IN_ROW):
            line = fitting[start : start + limits.BUTTONS_IN_ROW]
            keyboard.append([_made(button) for button in line])
    return InlineKeyboardMarkup(keyboard) if keyboard else None


def _made(button: Button) -> InlineKeyboardButton:
    style = button.style if button.style in _STYLES else None
    return InlineKeyboardButton(button.label, callback_data=button.data, style=style)


def _fits(button: Button) -> bool:
    if 1 <= len(button.data.encode()) <= limits.CALLBACK_DATA:
        return True
    logger.error("A button was left out: its data has %d bytes.", len(button.data.encode()))
    return False


_MEGABYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Draft:
    """One Telegram message, ready to be sent."""

    part: Part
    picture: Picture | None = None
    rows: tuple[tuple[Button, ...], ...] = ()
    as_file: bool = False
    """Whether the picture has to be sent as a file, unchanged."""

    @property
    def kind(self) -> str:
        """How the picture is sent: "photo", "animation" or "document"."""
        if self.as_file:
            return "document"
        name = self.picture.name.lower() if self.picture else ""
        if name.endswith((".gif", ".mp4")):
            return "animation"
        too_large = self.picture is not None and len(self.picture.data) > limits.PHOTO_BYTES
        return "photo" if name.endswith((".jpg", ".jpeg", ".png", ".webp")) and not too_large else "document"


def digest_of(picture: Picture | None) -> str:
    """Return a digest that identifies the picture's bytes; "" without a picture."""
    return "" if picture is None else blake2s(picture.data).hexdigest()


def drafts_of(message: Message, *, mention: Person | None = None) -> tuple[list[Draft], tuple[Picture, ...]]:
    """Convert the message to one or more Telegram messages, and the files that are sent after them. Picture and buttons
    stay with the first. A single file is sent with the text if there is no picture and the text fits. `mention` is the
    only person to mention.
    """
    message, files = _within_limits(message)
    limit = limits.CAPTION if message.picture else limits.TEXT
    parts = render(message, first_limit=limit, mention=mention)
    if len(parts) > limits.PARTS:
        files = (*files, Picture(WHOLE_TEXT, message.body.encode(errors="replace")))
        parts = render(
            _shortened(message, limit, say("chats.whole_text", name=WHOLE_TEXT)), first_limit=limit, mention=mention
        )
    first, *others = parts
    if len(files) == 1 and not message.picture and not others and size(first.plain) <= limits.CAPTION:
        return [Draft(first, files[0], rows_of(message), as_file=True)], ()
    lead = first if message.picture else visible(first)
    return [Draft(lead, message.picture, rows_of(message)), *(Draft(part) for part in others)], files


def card_of(message: Message, *, caption: bool) -> Draft:
    """Convert the message to exactly one Telegram message, for an edit. Excess text is cut, because an edit cannot
    become two messages. `caption` says that the text is the caption of a picture, which may be shorter.
    """
    message, _ = _within_limits(message)
    limit = limits.CAPTION if caption else limits.TEXT
    parts = render(message, first_limit=limit)
    if len(parts) > 1:
        parts = render(_shortened(message, limit, say("chats.cut")), first_limit=limit)
    return Draft(parts[0] if caption else visible(parts[0]), message.picture, rows_of(message))


def _shortened(message: Message, limit: int, note: str) -> Message:
    """Return the message with as much of its body as fits into one text together with the note, even with a mention."""
    foot = short(quiet(message.footer), FOOTER)
    left = limit - size(_head(message, None).plain) - size(foot) - size(note) - _SPARE
    return replace(message, body=f"{cut(quiet(message.body), left).rstrip()}\n{note}")


_SPARE: Final = 82
"""UTF-16 units kept free for a mentioned name and line breaks."""


def _within_limits(message: Message) -> tuple[Message, tuple[Picture, ...]]:
    """Return the message without its picture if that is too large to upload, and those of its files that are not. The
    message's text then names everything that is left out.
    """
    kept = tuple(file for file in message.files if len(file.data) <= limits.FILE_BYTES)
    lost = [file.name for file in message.files if file not in kept]
    picture = message.picture
    if picture is not None and len(picture.data) > limits.FILE_BYTES:
        lost, picture = [picture.name, *lost], None
    if not lost:
        return message, kept
    told = "\n".join(say("telegram.too_large", name=name, limit=limits.FILE_BYTES // _MEGABYTE) for name in lost)
    return replace(message, body=f"{message.body}\n{told}".strip("\n"), picture=picture), kept
