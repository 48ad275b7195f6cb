"""Telegram's HTML: parsed into text and entities, refused in Telegram's words."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping

from tests.fakes.telegram.refusals import bad
from tests.fakes.telegram.world import Entity, User

TAGS = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "s": "strikethrough",
    "code": "code",
    "pre": "pre",
    "a": "text_link",
}
_PART = re.compile(r"<(?P<close>/?)(?P<tag>[a-zA-Z-]*)(?P<rest>[^>]*)>?|(?P<text>[^<]+)", re.DOTALL)
_LINK = re.compile(r'^\s+href="(?P<href>[^"]*)"$')
_LANGUAGE = re.compile(r'^\s+class="language-(?P<language>[^"]*)"$')
_USERNAME = re.compile(r"(?<!\w)@[A-Za-z0-9_]{2,32}\b")
_URL = re.compile(r"https?://\S+")


def units(text: str) -> int:
    """Length in UTF-16 units."""
    return len(text.encode("utf-16-le")) // 2


def parse(text: str, mode: str, users: Mapping[int, User]) -> tuple[str, list[Entity]]:
    """Text without markup, and its entities, those that Telegram finds by itself included."""
    plain, entities = _parse_html(text, users) if mode == "HTML" else (text, [])
    lead = units(plain) - units(plain.lstrip())
    for entity in entities:
        entity["offset"] = max(0, entity["offset"] - lead)
    plain = plain.strip()
    return plain, entities + _found(plain, entities)


def _parse_html(text: str, users: Mapping[int, User]) -> tuple[str, list[Entity]]:
    plain = ""
    entities: list[Entity] = []
    stack: list[tuple[str, int, Entity]] = []
    for part in _PART.finditer(text):
        if part["text"] is not None:
            plain += html.unescape(part["text"])
            continue
        tag = part["tag"].lower()
        if not part[0].endswith(">") or tag not in TAGS:
            raise bad(f'can\'t parse entities: Unsupported start tag "{tag}" at byte offset {part.start()}')
        if not part["close"]:
            stack.append((tag, units(plain), _entity(tag, part["rest"], users)))
            continue
        if not stack or stack[-1][0] != tag:
            raise bad(f"can't parse entities: Unexpected end tag at byte offset {part.start()}")
        _, start, entity = stack.pop()
        if units(plain) > start:
            entities.append(entity | {"offset": start, "length": units(plain) - start})
    if stack:
        raise bad(f"can't parse entities: Can't find end tag corresponding to start tag \"{stack[-1][0]}\"")
    return plain, [entity for entity in entities if entity["type"] != "nothing"]


def _entity(tag: str, rest: str, users: Mapping[int, User]) -> Entity:
    if tag == "a":
        link = _LINK.match(rest)
        href = html.unescape(link["href"]) if link else ""
        if href.startswith("tg://user?id="):
            user = users.get(int(href.removeprefix("tg://user?id=")))
            return {"type": "text_mention", "user": user.payload()} if user else {"type": "nothing"}
        return {"type": "text_link", "url": href}
    if tag == "code" and (language := _LANGUAGE.match(rest)):
        return {"type": "code", "language": language["language"]}
    if rest.strip():
        raise bad(f'can\'t parse entities: Tag "{tag}" has unsupported attributes')
    return {"type": TAGS[tag]}


def _found(plain: str, entities: list[Entity]) -> list[Entity]:
    """Mentions in plain text; code and addresses hold none."""
    covered = [(e["offset"], e["offset"] + e["length"]) for e in entities if e["type"] in {"code", "pre"}]
    covered += [(units(plain[: u.start()]), units(plain[: u.end()])) for u in _URL.finditer(plain)]
    found = []
    for name in _USERNAME.finditer(plain):
        offset = units(plain[: name.start()])
        if not any(start <= offset < end for start, end in covered):
            found.append({"type": "mention", "offset": offset, "length": units(name[0])})
    return found
