"""Converts a message in plain text to Discord messages: markdown of allowed length, with files, buttons and menus. A
press is recognised by the button's id alone, so that buttons of an earlier process still work.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any, Final

import discord

from bot.chats.discord import limits
from bot.chats.plain_text import FOOTER, HEADING, NOTHING, WHOLE_TEXT, Block, lines_of, short, size
from bot.domain.outgoing import Button, Menu, Message, Picture, Tone
from bot.texts import say

logger = logging.getLogger(__name__)

_STYLES = {
    "primary": discord.ButtonStyle.primary,
    "secondary": discord.ButtonStyle.secondary,
    "success": discord.ButtonStyle.success,
    "danger": discord.ButtonStyle.danger,
}


_MENU = "menu:1"
"""Prefix of a menu's id, with the version. The chosen item is in the menu's value, in the form of a button's data."""


class TaskButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"(?s)1:.+"):
    """A button whose id begins with our versioned prefix, "1:". discord.py matches presses by the id, so no message
    needs to be remembered.
    """

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> TaskButton:
        """Create the pressed button from the id that Discord sent."""
        del interaction
        label = item.label if isinstance(item, discord.ui.Button) else None
        return cls(discord.ui.Button(label=label, custom_id=match.string))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Pass the press to the client that received it."""
        await interaction.client.pressed(interaction)

    @classmethod
    def knows(cls, custom_id: str) -> bool:
        """Return whether discord.py passes a press of this id to this class."""
        return cls.__discord_ui_compiled_template__.fullmatch(custom_id) is not None


def custom_id_of(interaction: discord.Interaction[Any]) -> str:
    """Return the id of the pressed button or menu; "" if the interaction is something else."""
    data: Mapping[str, Any] = interaction.data or {}
    return str(data.get("custom_id", ""))


def pressed_data(interaction: discord.Interaction[Any]) -> str:
    """Return the data of the pressed button, or of the chosen menu item."""
    data: Mapping[str, Any] = interaction.data or {}
    if data.get("component_type") == discord.ComponentType.select.value:
        return str(next(iter(data.get("values") or ()), ""))
    return custom_id_of(interaction)


def _selects(menu: Menu | None) -> list[discord.ui.Select[Any]]:
    """Return a menu as as many select lists as it needs, one below the other. So no page number has to be
    remembered.
    """
    if menu is None:
        return []
    choices, selects = menu.choices, []
    for start in range(0, len(choices), limits.SELECT_OPTIONS):
        part = choices[start : start + limits.SELECT_OPTIONS]
        pages = f" · {start + 1}–{start + len(part)}" if len(choices) > limits.SELECT_OPTIONS else ""
        select: discord.ui.Select[Any] = discord.ui.Select(
            custom_id=f"{_MENU}:{start}",
            placeholder=f"{menu.prompt[: limits.PLACEHOLDER - len(pages)]}{pages}" or None,
            options=[
                discord.SelectOption(label=_label(choice.label, limits.CHOICE), value=choice.data[: limits.CUSTOM_ID])
                for choice in part
            ],
        )
        selects.append(select)
    return selects


def _made(button: Button) -> discord.ui.Item[Any]:
    made: discord.ui.Button[Any] = discord.ui.Button(
        label=_label(button.label, limits.BUTTON_LABEL),
        custom_id=button.data[: limits.CUSTOM_ID],
        style=_STYLES.get(button.style, discord.ButtonStyle.secondary),
    )
    return TaskButton(made) if TaskButton.knows(button.data) else made


def _label(text: str, room: int) -> str:
    """Return a label; Discord does not accept a blank one."""
    text = " ".join(text.split()) or "…"
    return text if len(text) <= room else text[: room - 1] + "…"


_TOKEN = re.compile(r"(?P<url>https?://[^\s<>*~|`\\]+)|(?P<special>[\\*_~|`\[\]<])", re.IGNORECASE)
_LINE_START = re.compile(r"^(?P<blank>\s*)(?P<number>\d*)(?P<mark>#{1,3}|-#?|>{1,3}|\+|\.)(?=\s|$)")
_ATOM = re.compile(r"<https?://[^>]*>|\\?.", re.DOTALL | re.IGNORECASE)
_ADDRESS_END = ".,:;!?'\")"
"""Characters after an address that rarely belong to it."""
_ADDRESS_ROOM = 300
"""Maximum characters of an address that is never split; our choice."""
_ZERO_WIDTH = "\u200b"
_FENCE_ROOM = 40
"""Characters kept free in each part to close a code block and to open it again."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """A message as Discord texts."""

    parts: tuple[str, ...]
    whole: str = ""
    """The whole text, to be sent as a file, if it was too long to be shown; else ""."""


def render(
    message: Message, *, mention: str = "", most: int = limits.PARTS, unseen: bool = False, foot: bool = True
) -> Rendered:
    """Convert the message's heading, body and footer to markdown, split into parts where it is too long.

    An empty message becomes one empty part. The last part carries the footer.

    - `mention` is the id of the only person to mention; "" for nobody.
    - `most` is the maximum of parts. If the body needs more, only its first part is returned, with the body as `whole`.
    - `unseen` prevents previews of the links in the text.
    - `foot` says whether to include the footer.
    """
    head = f"<@{mention}> " if mention else ""
    if message.heading:
        head += f"**{escape(short(message.heading, HEADING), unseen=unseen)}**"
    small = short(message.footer, FOOTER).splitlines() if foot else []
    below = "".join(f"\n-# {escape(line, unseen=unseen)}" for line in small if line.strip())
    room = limits.TEXT - size(head) - size(below) - 1
    parts = split(message.body, room, unseen=unseen)
    whole = ""
    if len(parts) > most:
        parts, whole = [*parts[:1]], message.body
    last = len(parts) - 1
    texts = []
    for index, part in enumerate(parts):
        above = head if index == 0 else ""
        gap = "\n" if above.strip() and message.heading and part else ""
        texts.append((above + gap + part + (below if index == last else "")).strip("\n"))
    return Rendered(tuple(texts), whole)


def escape(text: str, *, unseen: bool = False) -> str:
    """Escape one line of plain text so that Discord shows exactly it: no styles, no masked links, no mentions.

    `discord.utils.escape_markdown` is not enough: of two masked links in a line it leaves the second one active.
    Addresses are not escaped, because a backslash would break them. With `unseen` they are put into <…>, which tells
    Discord to show no preview.
    """
    start = _LINE_START.match(text)
    lead = ""
    if start is not None:
        lead = f"{start['blank']}{start['number']}\\{start['mark']}"
        text = text[start.end() :]
    address = _unseen if unseen else str
    return lead + _TOKEN.sub(lambda found: address(found["url"]) if found["url"] else f"\\{found['special']}", text)


def _unseen(address: str) -> str:
    """Return the address in the form without a preview. A very long one is no link any more, because it might
    be split.
    """
    bare = address.rstrip(_ADDRESS_END)
    if len(bare) > _ADDRESS_ROOM:
        return address.replace("://", "\\://")
    return f"<{bare}>{address[len(bare) :]}"


def split(body: str, room: int, *, unseen: bool = False) -> list[str]:
    """Split plain text into escaped parts of at most `room` UTF-16 units. A code block that is split is closed and
    opened again.

    Parts end between lines where possible, else between words. There is always at least one part. `unseen` is that of
    `escape`.
    """
    packer = _Packer(room)
    for line, block in lines_of(body):
        shown = line.replace("```", f"`{_ZERO_WIDTH}``") if block is not None else escape(line, unseen=unseen)
        for piece in _pieces(shown, room - _FENCE_ROOM, atoms=block is None):
            packer.add(piece, block)
    return packer.finish()


class _Packer:
    """Fills parts line by line and keeps code blocks whole."""

    def __init__(self, room: int) -> None:
        self._room = room
        self._parts: list[str] = []
        self._lines: list[str] = []
        self._used = 0
        self._block: Block = None

    def add(self, piece: str, block: Block) -> None:
        closing = 4 if self._block is not None or block is not None else 0
        opening = len(f"```{block[1]}") + 1 if block is not None and block != self._block else 0
        if self._lines and self._used + opening + size(piece) + 1 + closing > self._room:
            self._flush()
        if block != self._block:
            self._close()
            if block is not None:
                self._put(f"```{block[1]}")
            self._block = block
        elif not self._lines and block is not None:
            self._put(f"```{block[1]}")
        self._put(piece)

    def finish(self) -> list[str]:
        self._flush()
        return self._parts or [""]

    def _put(self, line: str) -> None:
        self._lines.append(line)
        self._used += size(line) + 1

    def _close(self) -> None:
        if self._block is not None and self._lines:
            self._put("```")

    def _flush(self) -> None:
        self._close()
        text = "\n".join(self._lines).strip("\n")
        if text:
            self._parts.append(text)
        self._lines, self._used = [], 0


def _pieces(line: str, room: int, *, atoms: bool) -> Iterator[str]:
    """Split a displayed line into pieces of at most `room` units. With `atoms`, a backslash stays with its
    character.
    """
    while size(line) > room:
        end = used = blank = 0
        for atom in (match.group() for match in (_ATOM.finditer(line) if atoms else re.finditer("(?s:.)", line))):
            used += size(atom)
            if used > room:
                break
            end += len(atom)
            if atom == " ":
                blank = end
        end = blank if blank > end // 2 else end
        yield line[:end].rstrip(" ") if blank == end else line[:end]
        line = line[end:]
    yield line


_COLOURS: Final = {
    Tone.WORKING: 0x5865F2,
    Tone.WAITING: 0xF0B232,
    Tone.DONE: 0x23A55A,
    Tone.ANSWERED: 0x3BA5C4,
    Tone.UNVERIFIED: 0x9BC59D,
    Tone.DECLINED: 0x8E7CC3,
    Tone.FAILED: 0xDA373C,
    Tone.CANCELLED: 0x80848E,
}


@dataclass(frozen=True, slots=True)
class Draft:
    """One Discord message, ready to be sent. Its upload objects are created for each attempt, because sending uses them
    up.
    """

    content: str
    pictures: tuple[Picture, ...] = ()
    rows: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    embed: discord.Embed | None = None
    """The embed: a coloured bar that shows the message's tone, with the picture and the footer."""
    previews: bool = True
    """Whether Discord would show link previews, so that it has to be told not to."""

    def view(self) -> discord.ui.View | None:
        """Return a discord.py view with the menu and the button rows below it; None if there are neither. A row that is
        too long continues in the next one.

        The view is stopped immediately: presses are recognised by their id, so discord.py does not have to keep every
        view in memory.
        """
        lines: list[list[discord.ui.Item[Any]]] = [[select] for select in _selects(self.menu)]
        for row in self.rows:
            made = [_made(button) for button in row]
            lines.extend(
                made[start : start + limits.BUTTONS_IN_ROW] for start in range(0, len(made), limits.BUTTONS_IN_ROW)
            )
        if len(lines) > limits.ROWS:
            logger.error("A message has more than %d rows of buttons; the rest was left out.", limits.ROWS)
        view = discord.ui.View(timeout=None)
        for number, line in enumerate(lines[: limits.ROWS]):
            for item in line:
                item.row = number
                view.add_item(item)
        view.stop()
        return view if lines else None

    def files(self) -> list[discord.File]:
        """Return new upload objects for the pictures."""
        return [discord.File(BytesIO(picture.data), filename=picture.name) for picture in self.pictures]


def drafts_of(
    message: Message, *, mention: str = "", files: bool = True, embeds: bool = False, edit: bool = False
) -> list[Draft]:
    """Convert the message to one or more Discord messages. Picture, files, menu and buttons are in the first one; more
    files than one message takes follow in further ones.

    - `mention` is the id of the only person to mention; "" for nobody.
    - `files` says whether the bot may attach files. If not, pictures are left out, and a long text is split into more
      messages before it is cut.
    - `embeds` says whether a message with a tone may show it as a coloured bar, with the picture and, for a card or a
      final message, the footer.
    - `edit` says that this replaces a message. An edit cannot set Discord's flag against link previews, so the links
      themselves are marked instead.
    """
    bar = embeds and message.tone is not None
    apart = bar and (message.card or message.final)
    most = limits.PARTS if files else limits.PARTS_WITHOUT_FILES
    rendered = render(message, mention=mention, most=most, unseen=bar or edit, foot=not apart)
    first, *others = rendered.parts
    pictures: tuple[Picture, ...] = ()
    if files:
        pictures = ((message.picture,) if message.picture else ()) + message.files
        if rendered.whole:
            pictures = (*pictures[: limits.FILES - 1], Picture(WHOLE_TEXT, rendered.whole.encode()))
    if rendered.whole:
        first = _noted(first, say("chats.whole_text", name=WHOLE_TEXT) if files else say("chats.cut"))
    if not first and not pictures:
        first = NOTHING
    embed = _embed(message, picture=files, footer=apart) if bar else None
    drafts = [
        Draft(first, pictures[: limits.FILES], message.buttons, message.menu, embed, previews=not bar),
        *(Draft(text) for text in others),
    ]
    rest = pictures[limits.FILES :]
    drafts.extend(Draft("", rest[i : i + limits.FILES]) for i in range(0, len(rest), limits.FILES))
    return drafts


def _embed(message: Message, *, picture: bool, footer: bool) -> discord.Embed | None:
    """Return the embed; None if it would be empty, because Discord refuses an empty one."""
    image = message.picture if picture else None
    small = short(message.footer, FOOTER) if footer else ""
    if message.tone is None or (image is None and not small):
        return None
    embed = discord.Embed(colour=_COLOURS[message.tone])
    if image is not None:
        embed.set_image(url=f"attachment://{image.name}")
    if small:
        embed.set_footer(text=small)
    return embed


def card_of(message: Message, *, files: bool = True, embeds: bool = False) -> Draft:
    """Convert the message to exactly one Discord message, for an edit. Text that does not fit is cut."""
    first, *others = drafts_of(message, files=files, embeds=embeds, edit=True)
    if not any(draft.content for draft in others):
        return first
    return replace(first, content=_noted(first.content, say("chats.cut")))


def _noted(text: str, note: str) -> str:
    """Return the text with a small line below it, cut if both are too long."""
    below = f"\n-# {note}"
    return text[: limits.TEXT - len(below)] + below
