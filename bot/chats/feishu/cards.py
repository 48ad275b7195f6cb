"""Converts a message to Feishu cards (message card JSON 1.0): plain text, one picture, a menu and buttons.

All texts are `plain_text`, which has no markup or mentions; the one mention is an element of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from bot.chats.feishu import limits
from bot.chats.plain_text import NOTHING, WHOLE_TEXT
from bot.domain.address import Address
from bot.domain.outgoing import Button, Message, Picture, Tone
from bot.texts import say

PLATFORM: Final = "feishu"
PERSON: Final = re.compile(r"ou_[0-9A-Za-z]{1,64}")
MESSAGE: Final = re.compile(r"om_[0-9A-Za-z_-]{1,96}")

_STYLES: Final = {"primary": "primary", "success": "primary", "danger": "danger"}
_COLOURS: Final[Mapping[Tone, str]] = {
    Tone.WORKING: "blue",
    Tone.WAITING: "orange",
    Tone.DONE: "green",
    Tone.ANSWERED: "green",
    Tone.UNVERIFIED: "yellow",
    Tone.DECLINED: "grey",
    Tone.FAILED: "red",
    Tone.CANCELLED: "grey",
}
_FENCED: Final = re.compile(r"^```[\w+#.-]{0,20}[ \t]*\n(.*?)^```[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_NO_TEXT: Final = re.compile("[\ud800-\udfff\x00-\x08\x0b-\x1f]")


def cards_of(message: Message) -> tuple[list[Message], tuple[Picture, ...]]:
    """Split the message into parts that fit into one card each, and the files that are sent after them. Picture, menu
    and buttons stay with the first part, the footer with the last.
    """
    kept = tuple(file for file in message.files if 0 < len(file.data) <= limits.FILE_BYTES)
    lost = [file.name for file in message.files if file not in kept]
    if message.picture is not None and len(message.picture.data) > limits.IMAGE_BYTES:
        lost, message = [*lost, message.picture.name], replace(message, picture=None)
    told = "".join(f"\n{say('feishu.too_large', name=name, limit=limits.FILE_BYTES >> 20)}" for name in lost)
    parts = _pieces(_plain(message.body + told))
    if len(parts) > limits.PARTS:
        kept = (*kept, Picture(WHOLE_TEXT, message.body.encode(errors="replace")))
        parts = [f"{parts[0]}\n{say('chats.whole_text', name=WHOLE_TEXT)}"]
    first, *others = parts
    cards = [replace(message, body=first), *(Message(body=part) for part in others)]
    if others:
        cards[0], cards[-1] = replace(cards[0], footer=""), replace(cards[-1], footer=message.footer)
    return cards, kept


def card_of(message: Message, place: Address, image: str) -> str:
    """Return one card as JSON; excess text is cut. `image` is the key of the uploaded picture, "" for none.

    Feishu reports only the chat and message of a press, so the card also stores its thread, or the person of a private
    chat.
    """
    at = place.thread or (place.chat if PERSON.fullmatch(place.chat) else "")
    elements: list[dict[str, Any]] = []
    who = message.mention
    if who is not None and who.platform == PLATFORM and PERSON.fullmatch(who.id):
        elements.append({"tag": "div", "text": {"tag": "lark_md", "content": f"<at id={who.id}></at>"}})
    body = _plain(message.body)
    if len(body) > limits.TEXT + 200:
        body = f"{body[: limits.TEXT]}\n{say('chats.cut')}"
    if body.strip():
        elements.append(text_of(body))
    if image:
        elements.append({"tag": "img", "img_key": image, "alt": _text("")})
    if message.footer.strip():
        elements.append({"tag": "note", "elements": [_text(_short(_plain(message.footer), limits.FOOTER))]})
    if message.menu is not None:
        options = [{"text": _label(one), "value": one.data} for one in message.menu.choices[: limits.MENU_CHOICES]]
        select = {"tag": "select_static", "placeholder": _text(message.menu.prompt or NOTHING), "options": options}
        elements.append({"tag": "action", "actions": [{**select, "value": {"at": at}}]})
    elements += [
        {"tag": "action", "actions": [_button(one, at) for one in row[: limits.BUTTONS_IN_ROW]]}
        for row in message.buttons[: limits.BUTTON_ROWS]
    ]
    card: dict[str, Any] = {"config": {"update_multi": True, "enable_forward": False, "wide_screen_mode": True}}
    heading = _short(" ".join(_plain(message.heading).split()), limits.HEADING)
    if heading and elements:
        card["header"] = {"title": _text(heading)}
        if message.tone is not None:
            card["header"]["template"] = _COLOURS[message.tone]
    card["elements"] = elements or [text_of(heading or NOTHING)]
    return json.dumps(card, ensure_ascii=False)


def text_of(content: str) -> dict[str, Any]:
    """Return a card element that shows this text."""
    return {"tag": "div", "text": _text(content)}


def _text(content: str) -> dict[str, str]:
    return {"tag": "plain_text", "content": content}


def _label(button: Button) -> dict[str, str]:
    return _text(_short(" ".join(_plain(button.label).split()) or NOTHING, limits.LABEL))


def _button(button: Button, at: str) -> dict[str, Any]:
    style = _STYLES.get(button.style, "default")
    return {"tag": "button", "text": _label(button), "type": style, "value": {"data": button.data, "at": at}}


def _plain(text: str) -> str:
    """Remove characters that cannot be sent, and the lines that open and close a code block."""
    return _FENCED.sub(r"\1", _NO_TEXT.sub("\ufffd", text)).strip("\n")


def _short(text: str, most: int) -> str:
    text = text.strip()
    return text if len(text) <= most else f"{text[: most - 1].rstrip()}…"


def _pieces(text: str) -> list[str]:
    """Split the text into pieces of at most TEXT characters, between lines or else words if possible."""
    pieces, half = [], limits.TEXT // 2
    while len(text) > limits.TEXT:
        ends = (text.rfind(mark, half, limits.TEXT) + 1 for mark in "\n ")
        end = next(filter(None, ends), limits.TEXT)
        pieces.append(text[:end].rstrip())
        text = text[end:]
    return [*pieces, text]
