"""Slash commands: one group made from the command list, and what comes in through it."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import discord
from discord.enums import AppCommandOptionType

from bot.chats.base import Intake
from bot.chats.discord import limits
from bot.chats.discord.answers import whisper
from bot.chats.discord.fetching import Fetcher
from bot.chats.discord.places import person_of, place_of
from bot.chats.incoming import CommandCall, Invocation
from bot.chats.outgoing import Message, Reply
from bot.commands.spec import CommandSpec, OptionKind
from bot.texts import LANGUAGES, say, speaking

logger = logging.getLogger(__name__)

GROUP: Final = "opengui"
FILE_OPTION: Final = "file"
FILE_COMMANDS: Final = frozenset({"do"})
"""Commands that take files along: a slash command has no message that files could be attached to."""

_LOCALES: Final[Mapping[str, Sequence[str]]] = {"zh": ("zh-CN", "zh-TW")}
"""Languages of the catalogue that Discord names otherwise (developer docs, Locales)."""

_COMPLETED: Final = frozenset({OptionKind.PHONE, OptionKind.TASK, OptionKind.COMMAND})


def payload(commands: Sequence[CommandSpec], language: str = "auto") -> dict[str, Any]:
    """The group as Discord's API wants it. Raises ValueError when there are more commands than a group holds.

    Names are the same in every language, so that everybody can tell everybody what to type; what explains them is in
    `language`, or with "auto" in each person's own.
    """
    if len(commands) > limits.SUBCOMMANDS:
        raise ValueError(f"Discord allows {limits.SUBCOMMANDS} subcommands, there are {len(commands)}")
    with speaking(language):
        made = _group(commands)
    if language not in LANGUAGES:
        for other in LANGUAGES[1:]:
            with speaking(other):
                _localize(made, _group(commands), _LOCALES.get(other, (other,)))
    return made


def _group(commands: Sequence[CommandSpec]) -> dict[str, Any]:
    return {
        "name": GROUP,
        "type": discord.AppCommandType.chat_input.value,
        "description": say("discord.group")[: limits.DESCRIPTION],
        "options": [_subcommand(command) for command in commands],
    }


def _localize(made: dict[str, Any], translated: Mapping[str, Any], locales: Sequence[str]) -> None:
    """Add the translated descriptions, down to the last option."""
    described = made.setdefault("description_localizations", {})
    described.update(dict.fromkeys(locales, translated["description"]))
    for option, other in zip(made.get("options", ()), translated.get("options", ()), strict=True):
        _localize(option, other, locales)


def _subcommand(command: CommandSpec) -> dict[str, Any]:
    options: list[dict[str, Any]] = []
    if command.text is not None:
        options.append(_option(command.text.name, command.text.help, required=command.text.required))
    for option in command.options:
        flag = option.kind is OptionKind.FLAG
        kind = AppCommandOptionType.boolean if flag else AppCommandOptionType.string
        made = _option(option.name, option.help, kind)
        if option.kind in _COMPLETED:
            made["autocomplete"] = True
        options.append(made)
    if command.name in FILE_COMMANDS:
        options.append(_option(FILE_OPTION, say("discord.file"), AppCommandOptionType.attachment))
    return {
        "name": command.name,
        "type": AppCommandOptionType.subcommand.value,
        "description": command.help[: limits.DESCRIPTION],
        "options": sorted(options, key=lambda option: not option["required"]),
    }


def _option(
    name: str, text: str, kind: AppCommandOptionType = AppCommandOptionType.string, *, required: bool = False
) -> dict[str, Any]:
    return {"name": name, "type": kind.value, "description": text[: limits.DESCRIPTION], "required": required}


class SlashCommands:
    """Receives slash commands and autocompletions."""

    def __init__(self, intake: Intake, commands: Sequence[CommandSpec], fetcher: Fetcher) -> None:
        self._intake = intake
        self._commands = {command.name: command for command in commands}
        self._fetcher = fetcher

    async def handle(self, interaction: discord.Interaction[Any]) -> None:
        """Defer at once, so that Discord's three seconds never matter, then run the command and whisper its reply."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        name, given = _chosen(interaction)
        command = self._commands.get(name)
        if command is None or interaction.channel is None:
            await whisper(interaction, Reply(Message(body=say("discord.gone"))))
            return
        person = person_of(interaction.user, interaction.locale)
        place = place_of(interaction.client.user.id, interaction.channel, interaction.guild_id)
        files, lost = await self._fetcher.fetch(person, place, _attached(interaction, given))
        rest = command.text.name if command.text is not None else None
        options = {key: _text(value) for key, value in given.items() if key not in (rest, FILE_OPTION)}
        text = _text(given[rest]) if rest is not None and rest in given else ""
        reply = await self._intake.invoke(
            Invocation(
                person,
                place,
                str(interaction.id),
                CommandCall(name, options, text),
                files,
            )
        )
        if lost:
            await whisper(interaction, Reply(Message(body="\n".join(lost))))
        if reply.message is not None or reply.toast:
            await whisper(interaction, reply)
        elif not lost:
            await interaction.delete_original_response()

    async def complete(self, interaction: discord.Interaction[Any]) -> None:
        """Answer an autocompletion from memory."""
        _, given = _chosen(interaction)
        focused = _focused(interaction)
        choices: tuple[tuple[str, str], ...] = ()
        if focused is not None and interaction.channel is not None:
            place = place_of(interaction.client.user.id, interaction.channel, interaction.guild_id)
            typed = _text(given.get(focused, ""))
            person = person_of(interaction.user, interaction.locale)
            choices = self._intake.suggestions(person, place, focused, typed)
        await interaction.response.autocomplete(
            [
                discord.app_commands.Choice(name=label[: limits.CHOICE], value=value)
                for label, value in choices[: limits.CHOICES]
                if label and 0 < len(value) <= limits.CHOICE
            ]
        )


def _inner(interaction: discord.Interaction[Any]) -> Mapping[str, Any]:
    data: Mapping[str, Any] = interaction.data or {}
    options = data.get("options") or [{}]
    first: Mapping[str, Any] = options[0]
    return first


def _chosen(interaction: discord.Interaction[Any]) -> tuple[str, dict[str, Any]]:
    """The subcommand's name and its options by name."""
    inner = _inner(interaction)
    return str(inner.get("name", "")), {option["name"]: option.get("value") for option in inner.get("options") or ()}


def _focused(interaction: discord.Interaction[Any]) -> str | None:
    options = _inner(interaction).get("options") or ()
    return next((str(option["name"]) for option in options if option.get("focused")), None)


def _attached(interaction: discord.Interaction[Any], given: Mapping[str, Any]) -> list[_Upload]:
    data: Mapping[str, Any] = interaction.data or {}
    found = (data.get("resolved") or {}).get("attachments") or {}
    chosen = found.get(str(given.get(FILE_OPTION)))
    return [_Upload(str(chosen["filename"]), int(chosen["size"]), str(chosen["url"]))] if chosen else []


@dataclass(frozen=True, slots=True)
class _Upload:
    """A file of a slash command; discord.py makes such objects only for commands of its own tree."""

    filename: str
    size: int
    url: str


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
