"""Converts a plain-text message to Slack blocks. Texts are sent as rich text, which has no markup, so they cannot
produce styles, links or mentions.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, Final

from bot.chats.plain_text import FOOTER, HEADING, NOTHING, WHOLE_TEXT, Line, cut, packed, short, size
from bot.chats.slack import limits
from bot.domain.outgoing import Button, Menu, Message, Picture
from bot.texts import say

Block = dict[str, Any]

_ADDRESS: Final = re.compile(r"https?://(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d{1,5})?(?:/[^\s<>\"]*)?", re.IGNORECASE)
"""Addresses that Slack accepts as links. Others stay text, or Slack would refuse the whole message."""
_ADDRESS_END: Final = ".,:;!?'\")"
"""Characters at the end that rarely belong to an address."""
_STYLES: Final = {"primary": "primary", "success": "primary", "danger": "danger"}
_SURROGATE: Final = re.compile("[\ud800-\udfff\0]")
"""Unpaired surrogates and NUL, which cannot be sent."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One Slack message, ready to be sent. The picture is placed between text and footer once it has been uploaded."""

    text: str
    """The text where blocks are not shown, such as in a notification; escaped."""
    blocks: tuple[Block, ...]
    below: tuple[Block, ...] = ()
    picture: Picture | None = None

    def with_picture(self, file: str) -> list[Block]:
        """Return all blocks, with the uploaded picture whose file id is `file`; "" leaves it out."""
        shown = []
        if file and self.picture is not None:
            shown = [{"type": "image", "slack_file": {"id": file}, "alt_text": self.picture.name}]
        return [*self.blocks, *shown, *self.below]


def escape(text: str) -> str:
    """Escape the text for a mrkdwn field, so that it cannot produce a mention or a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def drafts_of(message: Message, *, mention: str = "") -> tuple[list[Draft], tuple[Picture, ...]]:
    """Split the message into one or more Slack messages, and the files that are sent after them. Picture, menu and
    buttons stay with the first. `mention` is the id of the only person to mention, "" for nobody.
    """
    parts = _parts(message)
    files = message.files
    if len(parts) > limits.PARTS:
        files = (*files, Picture(WHOLE_TEXT, message.body.encode(errors="replace")))
        parts = _parts(_shortened(message, say("chats.whole_text", name=WHOLE_TEXT)))
    return _drafts(message, parts, mention), files


def card_of(message: Message) -> Draft:
    """Return the message as one draft for an edit, cut if it is too long, because an edit cannot become two."""
    parts = _parts(message)
    if len(parts) > 1:
        parts = _parts(_shortened(message, say("chats.cut")))
    return _drafts(message, parts, "")[0]


def without_buttons(blocks: Sequence[Block]) -> list[Block]:
    """Return the blocks of a received message without its controls, in a form that can be sent again: Slack adds fields
    that it does not accept.
    """
    return [one for block in blocks if block.get("type") != "actions" for one in _as_sent(block)]


def _as_sent(block: Block) -> list[Block]:
    """Convert a received block; empty for a picture whose file id Slack does not reveal."""
    if block.get("type") != "image":
        return [{key: value for key, value in block.items() if key != "block_id"}]
    file = (block.get("slack_file") or {}).get("id")
    return [{"type": "image", "slack_file": {"id": file}, "alt_text": block.get("alt_text") or NOTHING}] if file else []


def _parts(message: Message) -> list[list[Line]]:
    return packed(_clean(message.body), limits.TEXT - HEADING, limits.TEXT) or [[]]


def _clean(text: str) -> str:
    """Replace characters that cannot be sent."""
    return _SURROGATE.sub("\ufffd", text)


def _shortened(message: Message, note: str) -> Message:
    """Shorten the body so that it fits into one piece together with the note."""
    room = limits.TEXT - HEADING - size(note) - 2
    return replace(message, body=f"{cut(message.body, room).rstrip()}\n{note}")


def _drafts(message: Message, parts: Sequence[list[Line]], mention: str) -> list[Draft]:
    heading, footer = short(_clean(message.heading), HEADING), short(_clean(message.footer), FOOTER)
    controls = tuple(_controls(message.menu, message.buttons))
    drafts = []
    for index, lines in enumerate(parts):
        first, last = index == 0, index == len(parts) - 1
        text = "\n".join(filter(None, [heading if first else "", "\n".join(line for line, _ in lines)]))
        above = _rich(heading if first else "", lines, mention if first else "")
        small = {"type": "context", "elements": [_plain(footer)]} if footer and last else None
        below = (*([small] if small else []), *(controls if first else ()))
        picture = message.picture if first else None
        if not above and picture is None and small is None:
            above = _rich("", [(NOTHING, None)], "")
        drafts.append(Draft(escape(cut(text or footer or NOTHING, limits.TEXT)), above, below, picture))
    return drafts


def _rich(heading: str, lines: Sequence[Line], mention: str) -> tuple[Block, ...]:
    """Make one rich text block of heading and lines; empty without either."""
    head: list[Block] = [{"type": "user", "user_id": mention}, _text(" ")] if mention else []
    if heading:
        head.append(_text(heading) | {"style": {"bold": True}})
    elements: list[Block] = []
    for block, group in groupby(lines, key=lambda line: line[1]):
        text = "\n".join(line for line, _ in group)
        if block is not None:
            elements.append({"type": "rich_text_preformatted", "elements": [_text(text or " ")]})
        elif text:
            elements.append({"type": "rich_text_section", "elements": _linked(text)})
    if head and elements and elements[0]["type"] == "rich_text_section":
        gap = [_text("\n")] if heading else []
        elements[0]["elements"] = [*head, *gap, *elements[0]["elements"]]
    elif head:
        elements.insert(0, {"type": "rich_text_section", "elements": head})
    return ({"type": "rich_text", "elements": elements},) if elements else ()


def _linked(text: str) -> list[Block]:
    made, end = [], 0
    for found in _ADDRESS.finditer(text):
        address = found.group().rstrip(_ADDRESS_END)
        if found.start() > end:
            made.append(_text(text[end : found.start()]))
        made.append({"type": "link", "url": address})
        end = found.start() + len(address)
    return [*made, _text(text[end:])] if end < len(text) else made


def _text(text: str) -> Block:
    return {"type": "text", "text": text}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text, "emoji": False}


def _controls(menu: Menu | None, rows: Sequence[Sequence[Button]]) -> list[Block]:
    """Make blocks for the menu and the button rows. Presses are identified by their values, not by ids."""
    made: list[Block] = []
    if menu is not None and menu.choices:
        options = [{"text": _label(one.label), "value": one.data} for one in menu.choices[: limits.MENU_CHOICES]]
        select: Block = {"type": "static_select", "action_id": "menu", "options": options}
        if menu.prompt:
            select["placeholder"] = _plain(menu.prompt[: limits.PLACEHOLDER])
        made.append({"type": "actions", "elements": [select]})
    for number, row in enumerate(rows):
        buttons = [_button(one, f"{number}.{index}") for index, one in enumerate(row)]
        made += [{"type": "actions", "elements": buttons}] if buttons else []
    return made


def _button(button: Button, number: str) -> Block:
    made = {"type": "button", "action_id": number, "text": _label(button.label), "value": button.data}
    return made | ({"style": _STYLES[button.style]} if button.style in _STYLES else {})


def _label(label: str) -> Block:
    """Make a label; Slack does not accept a blank one."""
    return _plain(short(" ".join(label.split()), limits.BUTTON_LABEL) or NOTHING)
