"""Converts plain text to Telegram's HTML, split into texts of allowed length."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from bot.chats.plain_text import FOOTER, HEADING, NOTHING, Line, packed, short, size
from bot.chats.telegram import limits
from bot.domain.address import Person
from bot.domain.outgoing import Message

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
    bodies = [_joined(lines) for lines in packed(quiet(message.body), first, later)] or [Part("", "")]
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


def room(message: Message, limit: int) -> int:
    """Return how many UTF-16 units are left for the body if heading, body and footer must fit into one text of `limit`
    units.
    """
    foot = short(quiet(message.footer), FOOTER)
    return limit - size(_head(message, None).plain) - size(foot) - 2


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
