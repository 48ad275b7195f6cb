"""From plain text to Telegram's HTML, and into texts that are short enough."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from bot.chats.telegram import limits
from bot.domain.address import Person
from bot.domain.outgoing import Message

HEADING: Final = 200
FOOTER: Final = 300
NAME: Final = 64
"""UTF-16 units that heading, footer and a mentioned name may take; ours, so that most of a caption is for the body."""

NOTHING: Final = "…"
"""Telegram refuses a message without any content."""

JOINER: Final = "\u2060"
"""Word joiner: invisible, and no part of a username."""

_ADDRESS_OR_NAME = re.compile(r"(?P<url>https?://\S+)|(?<!\w)@(?=\w)")
_FENCE = re.compile(r"^```(?P<language>[\w+#.-]{0,20})\s*$")
_SURROGATE = re.compile("[\ud800-\udfff]")

Block = tuple[int, str] | None
"""Number and language of the code block that a line belongs to; None outside of blocks."""


@dataclass(frozen=True, slots=True)
class Part:
    """One text, as HTML and as what is sent when Telegram does not understand the HTML. Limits count `plain`."""

    html: str
    plain: str

    def __add__(self, other: Part) -> Part:
        return Part(self.html + other.html, self.plain + other.plain)


def render(message: Message, *, first_limit: int = limits.TEXT, mention: Person | None = None) -> list[Part]:
    """Heading, body and footer, split where they are too long. The last part carries the footer.

    `first_limit` is the room of the first part in UTF-16 units; later parts have a whole text. There is always one.
    """
    head = _head(message, mention)
    foot = _styled("i", _short(quiet(message.footer), FOOTER)) if message.footer.strip() else Part("", "")
    first = first_limit - size(head.plain) - size(foot.plain) - 2
    packer = _Packer(first, limits.TEXT - size(foot.plain) - 2)
    for line, block in _lines(quiet(message.body)):
        packer.add(line, block)
    bodies = packer.finish() or [Part("", "")]
    parts = []
    for index, body in enumerate(bodies):
        above = head if index == 0 else Part("", "")
        gap = _text("\n") if above.plain and message.heading and body.plain else Part("", "")
        below = foot if index == len(bodies) - 1 else Part("", "")
        turn = _text("\n") if below.plain and (above.plain or body.plain) else Part("", "")
        parts.append(above + gap + body + turn + below)
    return parts


def visible(part: Part) -> Part:
    """The part, or a sign in its place when nothing of it could be seen."""
    return part if part.plain.replace(JOINER, "").strip() else _text(NOTHING)


def room(message: Message, limit: int) -> int:
    """UTF-16 units that are left for the body when everything has to stand in one text of `limit` units."""
    foot = _short(quiet(message.footer), FOOTER)
    return limit - size(_head(message, None).plain) - size(foot) - 2


def quiet(text: str) -> str:
    """The same words, with no name in them that Telegram would ring for, and nothing that is no text.

    There is no switch for mentions in the Bot API: `@name` anywhere rings.
    """
    text = _SURROGATE.sub("\ufffd", text)
    return _ADDRESS_OR_NAME.sub(lambda found: found["url"] or f"@{JOINER}", text)


def size(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text) + sum(character > "\uffff" for character in text)


def cut(text: str, units: int) -> str:
    """The longest beginning of `text` of at most `units` UTF-16 units."""
    used = 0
    for index, character in enumerate(text):
        used += size(character)
        if used > units:
            return text[:index]
    return text


def _head(message: Message, mention: Person | None) -> Part:
    head = Part("", "")
    if mention is not None and mention.id.isdigit():
        name = _short(quiet(mention.name or mention.id), NAME)
        head = Part(f'<a href="tg://user?id={mention.id}">{html.escape(name)}</a> ', f"{name} ")
    if message.heading.strip():
        head += _styled("b", _short(quiet(message.heading), HEADING))
    return head


def _text(text: str) -> Part:
    return Part(html.escape(text, quote=False), text)


def _styled(tag: str, text: str) -> Part:
    return Part(f"<{tag}>{html.escape(text, quote=False)}</{tag}>", text)


def _short(text: str, units: int) -> str:
    text = text.strip()
    return text if size(text) <= units else cut(text, units - 1).rstrip() + "…"


class _Packer:
    """Fills parts line by line; a code block that is split is a code block in both parts."""

    def __init__(self, first: int, later: int) -> None:
        self._room = first
        self._later = later
        self._parts: list[Part] = []
        self._lines: list[tuple[str, Block]] = []
        self._used = 0

    def add(self, line: str, block: Block) -> None:
        """A line; one that is longer than a part is broken between words where possible."""
        while self._used + size(line) > self._room:
            if self._lines and size(line) <= self._later:
                self._flush()
                continue
            if self._room - self._used < min(_CRUMB, size(line)):
                self._flush()
                continue
            piece = _broken(line, self._room - self._used)
            self._put(piece.rstrip(" "), block)
            self._flush()
            line = line[len(piece) :]
        self._put(line, block)

    def finish(self) -> list[Part]:
        """All parts that hold anything."""
        self._flush()
        return self._parts

    def _put(self, line: str, block: Block) -> None:
        self._lines.append((line, block))
        self._used += size(line) + 1

    def _flush(self) -> None:
        while self._lines and not self._lines[0][0].strip():
            del self._lines[0]
        while self._lines and not self._lines[-1][0].strip():
            del self._lines[-1]
        if self._lines:
            self._parts.append(_joined(self._lines))
            self._room = self._later
        self._lines, self._used = [], 0


_CRUMB: Final = 40
"""UTF-16 units; a part that has less room left than this is not filled with the beginning of a long line."""


def _joined(lines: list[tuple[str, Block]]) -> Part:
    blocks = [(block, [line for line, _ in group]) for block, group in groupby(lines, key=lambda line: line[1])]
    shown = []
    for block, texts in blocks:
        text = html.escape("\n".join(texts), quote=False)
        if block is not None:
            language = f' class="language-{html.escape(block[1])}"' if block[1] else ""
            text = f"<pre><code{language}>{text}</code></pre>" if language else f"<pre>{text}</pre>"
        shown.append(text)
    return Part("\n".join(shown), "\n".join(line for line, _ in lines))


def _lines(body: str) -> Iterator[tuple[str, Block]]:
    """Each line with its code block. A fence that is never closed opens nothing."""
    lines = body.splitlines()
    ends = [number for number, line in enumerate(lines) if line.strip() == "```"]
    index = 0
    while index < len(lines):
        fence = _FENCE.match(lines[index])
        closes = next((number for number in ends if number > index), None) if fence else None
        if fence is None or closes is None:
            yield lines[index], None
            index += 1
            continue
        for line in lines[index + 1 : closes]:
            yield line, (index, fence["language"])
        index = closes + 1


def _broken(line: str, units: int) -> str:
    """The beginning of a line, up to a blank where there is one in its second half; at least one character."""
    piece = cut(line, units) or line[0]
    blank = piece.rfind(" ") + 1
    return piece[:blank] if blank > len(piece) // 2 else piece
