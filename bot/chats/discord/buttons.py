"""Buttons as Discord takes them, recognised by their id alone, also on messages of an earlier process."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from typing import Any

import discord

from bot.chats.base import Button
from bot.chats.discord import limits

logger = logging.getLogger(__name__)

_STYLES = {
    "primary": discord.ButtonStyle.primary,
    "secondary": discord.ButtonStyle.secondary,
    "success": discord.ButtonStyle.success,
    "danger": discord.ButtonStyle.danger,
}


class TaskButton(discord.ui.DynamicItem[discord.ui.Button[Any]], template=r"(?s)1:.+"):
    """A button with one of our versioned ids. discord.py matches the id alone, so no message needs to be remembered."""

    @classmethod
    async def from_custom_id(
        cls, interaction: discord.Interaction[Any], item: discord.ui.Item[Any], match: re.Match[str], /
    ) -> TaskButton:
        """The button that was pressed, made anew from what Discord sent."""
        del interaction
        label = item.label if isinstance(item, discord.ui.Button) else None
        return cls(discord.ui.Button(label=label, custom_id=match.string))

    async def callback(self, interaction: discord.Interaction[Any]) -> None:
        """Hand the press to the client that received it."""
        await interaction.client.pressed(interaction)

    @classmethod
    def knows(cls, custom_id: str) -> bool:
        """Whether discord.py itself brings a press of this id here."""
        return cls.__discord_ui_compiled_template__.fullmatch(custom_id) is not None


def custom_id_of(interaction: discord.Interaction[Any]) -> str:
    """The id of the component that was used, "" when it is no component."""
    data: Mapping[str, Any] = interaction.data or {}
    return str(data.get("custom_id", ""))


def view_of(rows: tuple[tuple[Button, ...], ...]) -> discord.ui.View | None:
    """The rows as a view, or None without buttons. Rows that are too long continue in the next one.

    The view is stopped at once: presses come by their id, so discord.py need not keep each view in memory for ever.
    """
    if not any(rows):
        return None
    view = discord.ui.View(timeout=None)
    line = 0
    for row in rows:
        for start in range(0, len(row), limits.BUTTONS_IN_ROW):
            if line == limits.ROWS:
                logger.error("A message has more than %d rows of buttons; the rest was left out.", limits.ROWS)
                break
            for button in row[start : start + limits.BUTTONS_IN_ROW]:
                view.add_item(_made(button, line))
            line += 1
    view.stop()
    return view


def _made(button: Button, row: int) -> discord.ui.Item[Any]:
    made: discord.ui.Button[Any] = discord.ui.Button(
        label=button.label[: limits.BUTTON_LABEL],
        custom_id=button.data[: limits.CUSTOM_ID],
        style=_STYLES.get(button.style, discord.ButtonStyle.secondary),
        row=row,
    )
    return TaskButton(made) if TaskButton.knows(button.data) else made
