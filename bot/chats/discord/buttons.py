"""Discord buttons and menus. A press is recognised by the button's id alone, so that buttons of an earlier process
still work.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

import discord

from bot.chats.discord import limits
from bot.domain.outgoing import Button, Menu

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


def view_of(rows: tuple[tuple[Button, ...], ...], menu: Menu | None = None) -> discord.ui.View | None:
    """Return a discord.py view with the menu and the button rows below it; None if there are neither. A row that is too
    long continues in the next one.

    The view is stopped immediately: presses are recognised by their id, so discord.py does not have to keep every view
    in memory.
    """
    lines: list[list[discord.ui.Item[Any]]] = [[select] for select in _selects(menu)]
    for row in rows:
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


def _selects(menu: Menu | None) -> list[discord.ui.Select[Any]]:
    """Return a menu as as many select lists as it needs, one below the other. So no page number has to be
    remembered.
    """
    choices = () if menu is None else menu.choices
    prompt = "" if menu is None else menu.prompt
    selects = []
    for start in range(0, len(choices), limits.SELECT_OPTIONS):
        part = choices[start : start + limits.SELECT_OPTIONS]
        pages = f" · {start + 1}–{start + len(part)}" if len(choices) > limits.SELECT_OPTIONS else ""
        select: discord.ui.Select[Any] = discord.ui.Select(
            custom_id=f"{_MENU}:{start}",
            placeholder=f"{prompt[: limits.PLACEHOLDER - len(pages)]}{pages}" or None,
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
