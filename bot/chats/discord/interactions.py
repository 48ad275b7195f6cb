"""Discord's interactions: registers the slash commands, and answers slash commands and button presses within Discord's
time limit.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import discord
from discord.enums import AppCommandOptionType

from bot.chats.discord import limits
from bot.chats.discord.formatting import card_of, drafts_of, pressed_data
from bot.chats.discord.hosts import Fetcher
from bot.chats.discord.permissions import Abilities, Permissions
from bot.chats.discord.places import parent_at, person_of, place_of
from bot.chats.fetching import Attached
from bot.chats.incoming import message_of
from bot.chats.sending import TextStore
from bot.commands.parser import Form, forms_of
from bot.commands.spec import CommandSpec, OptionKind
from bot.domain.address import MessageRef
from bot.domain.chat import Intake
from bot.domain.incoming import Invocation, Press
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.texts import LANGUAGES, say, speaking

logger = logging.getLogger(__name__)


async def whisper(interaction: discord.Interaction[Any], reply: Reply) -> None:
    """Show the reply to this person only. If there is nothing to say, the interaction is only acknowledged."""
    message = message_of(reply)
    if message is None:
        if not interaction.response.is_done():
            await interaction.response.defer()
        return
    for draft in drafts_of(message):
        view = draft.view() or discord.utils.MISSING
        send = interaction.followup.send if interaction.response.is_done() else interaction.response.send_message
        await send(
            draft.content,
            files=draft.files(),
            view=view,
            ephemeral=True,
            suppress_embeds=True,
            allowed_mentions=discord.AllowedMentions.none(),
        )


async def change(interaction: discord.Interaction[Any], reply: Reply, abilities: Abilities) -> bool:
    """Edit the pressed message as the reply says. Returns whether Discord accepted the edit. It is sent as the answer
    to the press, so no rate limit counts it.
    """
    options: dict[str, Any] = {"view": None}
    if reply.shown is not None:
        draft = card_of(reply.shown, files=abilities.files, embeds=abilities.embeds)
        options = {
            "content": draft.content,
            "attachments": draft.files(),
            "embeds": [] if draft.embed is None else [draft.embed],
            "view": draft.view(),
            "allowed_mentions": discord.AllowedMentions.none(),
        }
    edit = interaction.edit_original_response if interaction.response.is_done() else interaction.response.edit_message
    try:
        await edit(**options)
    except discord.HTTPException as refused:
        logger.info("A pressed message stays as it is for now: %s", refused)
        return False
    return True


class Presses:
    """Answers every press of every button, known or not, within Discord's limit of three seconds."""

    def __init__(self, intake: Intake, permissions: Permissions) -> None:
        self._intake = intake
        self._permissions = permissions

    async def handle(self, interaction: discord.Interaction[Any]) -> None:
        """Pass a press to the intake (the handler of everything that people do in chats), update the pressed message,
        and show the person what the message does not say. If the intake takes long, the press is acknowledged silently
        first.
        """
        channel, message = interaction.channel, interaction.message
        if channel is None or message is None:
            await interaction.response.defer()
            return
        place = place_of(interaction.client.user.id, channel, interaction.guild_id)
        press = Press(
            person_of(interaction.user, interaction.locale),
            place,
            str(interaction.id),
            pressed_data(interaction),
            MessageRef(place.address, str(message.id)),
        )
        work = asyncio.ensure_future(self._intake.press(press))
        try:
            done, _ = await asyncio.wait({work}, timeout=limits.ACKNOWLEDGE_SECONDS)
            if not done:
                await interaction.response.defer()
            reply = await work
            changes = reply.shown is not None or reply.dead
            if changes:
                parent = parent_at(interaction.client, place.address)
                changes = await change(interaction, reply, self._permissions.abilities(parent))
            if not changes or reply.dead:
                await whisper(interaction, reply)
        finally:
            work.cancel()


GROUP: Final = "opengui"
FILE_OPTION: Final = "file"
FILE_COMMANDS: Final = frozenset({"do"})
"""Commands that accept files: a slash command has no message to which files could be attached."""

_LOCALES: Final[Mapping[str, Sequence[str]]] = {"zh": ("zh-CN", "zh-TW")}
"""Languages of the catalogue for which Discord has other names (developer docs, Locales)."""

_COMPLETED: Final = frozenset(
    {OptionKind.PHONE, OptionKind.TASK, OptionKind.COMMAND, OptionKind.TIER, OptionKind.SETTING}
)
_TYPES: Final = {
    OptionKind.FLAG: AppCommandOptionType.boolean,
    OptionKind.PERSON: AppCommandOptionType.user,
    OptionKind.SUBJECT: AppCommandOptionType.mentionable,
}
"""Discord's types for kinds of options; all others are text."""


def payload(commands: Sequence[CommandSpec], language: str = "auto") -> dict[str, Any]:
    """Return the group of slash commands in the form of Discord's API. Raises ValueError for too many commands.

    Command names are the same in every language, so that people can tell each other what to type. The descriptions are
    in `language` or, with "auto", in each person's own.
    """
    paths = {(form.group, form.name) for form in _forms(commands)}
    sizes = [len({group or name for group, name in paths}), *Counter(group for group, _ in paths if group).values()]
    if max(sizes, default=0) > limits.SUBCOMMANDS:
        raise ValueError(f"Discord allows {limits.SUBCOMMANDS} subcommands, there are {max(sizes)}")
    with speaking(language):
        made = _group(commands)
    if language not in LANGUAGES:
        for other in LANGUAGES[1:]:
            with speaking(other):
                _localize(made, _group(commands), _LOCALES.get(other, (other,)))
    return made


def _group(commands: Sequence[CommandSpec]) -> dict[str, Any]:
    options: dict[str, dict[str, Any]] = {}
    for form in _forms(commands):
        if not form.group:
            options[form.name] = _subcommand(form)
            continue
        group = options.setdefault(
            form.group,
            {
                "name": form.group,
                "type": AppCommandOptionType.subcommand_group.value,
                "description": say(f"form.group.{form.group}")[: limits.DESCRIPTION],
                "options": [],
            },
        )
        group["options"].append(_subcommand(form))
    return {
        "name": GROUP,
        "type": discord.AppCommandType.chat_input.value,
        "description": say("discord.group")[: limits.DESCRIPTION],
        "options": list(options.values()),
    }


def _forms(commands: Sequence[CommandSpec]) -> list[Form]:
    return [form for command in commands for form in forms_of(command)]


def _localize(made: dict[str, Any], translated: Mapping[str, Any], locales: Sequence[str]) -> None:
    """Add the translated descriptions, down to the last option."""
    described = made.setdefault("description_localizations", {})
    described.update(dict.fromkeys(locales, translated["description"]))
    for option, other in zip(made.get("options", ()), translated.get("options", ()), strict=True):
        _localize(option, other, locales)


def _subcommand(form: Form) -> dict[str, Any]:
    command = form.command
    options = [_option(field.name, field.help, field.kind, required=field.required) for field in form.fields]
    if command.text is not None and form.words is None:
        options.append(_option(command.text.name, command.text.help, required=command.text.required))
    options += [
        _option(option.name, option.help, option.kind) for option in command.options if option.name in form.options
    ]
    if command.name in FILE_COMMANDS:
        options.append(_made(FILE_OPTION, say("discord.file"), AppCommandOptionType.attachment))
    return {
        "name": form.name,
        "type": AppCommandOptionType.subcommand.value,
        "description": form.help[: limits.DESCRIPTION],
        "options": sorted(options, key=lambda option: not option["required"]),
    }


def _option(name: str, text: str, kind: OptionKind = OptionKind.TEXT, *, required: bool = False) -> dict[str, Any]:
    made = _made(name, text, _TYPES.get(kind, AppCommandOptionType.string), required=required)
    if kind in _COMPLETED:
        made["autocomplete"] = True
    if kind is OptionKind.RIGHT:
        made["choices"] = [{"name": right.value, "value": right.value} for right in Right]
    return made


def _made(name: str, text: str, kind: AppCommandOptionType, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "type": kind.value, "description": text[: limits.DESCRIPTION], "required": required}


class SlashCommands:
    """Handles slash commands and their autocompletions."""

    def __init__(self, intake: Intake, commands: Sequence[CommandSpec], fetcher: Fetcher) -> None:
        self._intake = intake
        self._forms = {(form.group, form.name): form for form in _forms(commands)}
        self._fetcher = fetcher

    async def handle(self, interaction: discord.Interaction[Any]) -> None:
        """Run a slash command and show its reply only to the person. The command is deferred immediately, so that it
        may take longer than Discord's three seconds.
        """
        await interaction.response.defer(ephemeral=True, thinking=True)
        path, given = _chosen(interaction)
        form = self._forms.get(path)
        if form is None or interaction.channel is None:
            await whisper(interaction, Reply(Message(body=say("discord.gone"))))
            return
        person = person_of(interaction.user, interaction.locale)
        place = place_of(interaction.client.user.id, interaction.channel, interaction.guild_id)
        files, lost = await self._fetcher.fetch(person, place, _attached(interaction, given))
        roles = _resolved(interaction, "roles")
        call = form.call({key: f"role:{value}" if value in roles else _text(value) for key, value in given.items()})
        reply = await self._intake.invoke(Invocation(person, place, str(interaction.id), call, files))
        if lost:
            await whisper(interaction, Reply(Message(body=lost)))
        if reply.message is not None or reply.toast:
            await whisper(interaction, reply)
        elif not lost:
            await interaction.delete_original_response()

    async def complete(self, interaction: discord.Interaction[Any]) -> None:
        """Answer an autocompletion from data in memory."""
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


def _inner(interaction: discord.Interaction[Any]) -> tuple[str, Mapping[str, Any]]:
    """Return the name of the subcommand's group, "" if it is in none, and the subcommand as Discord sent it; empty if
    there is none.
    """
    data: Mapping[str, Any] = interaction.data or {}
    first: Mapping[str, Any] = (data.get("options") or [{}])[0]
    if first.get("type") != AppCommandOptionType.subcommand_group.value:
        return "", first
    second: Mapping[str, Any] = (first.get("options") or [{}])[0]
    return str(first.get("name", "")), second


def _chosen(interaction: discord.Interaction[Any]) -> tuple[tuple[str, str], dict[str, Any]]:
    """Return the group and the subcommand's name, and its options by name."""
    group, inner = _inner(interaction)
    options = {option["name"]: option.get("value") for option in inner.get("options") or ()}
    return (group, str(inner.get("name", ""))), options


def _resolved(interaction: discord.Interaction[Any], kind: str) -> Mapping[str, Any]:
    """Return what was picked of this kind, such as roles, by id."""
    data: Mapping[str, Any] = interaction.data or {}
    found: Mapping[str, Any] = (data.get("resolved") or {}).get(kind) or {}
    return found


def _focused(interaction: discord.Interaction[Any]) -> str | None:
    options = _inner(interaction)[1].get("options") or ()
    return next((str(option["name"]) for option in options if option.get("focused")), None)


def _attached(interaction: discord.Interaction[Any], given: Mapping[str, Any]) -> list[Attached]:
    chosen = _resolved(interaction, "attachments").get(str(given.get(FILE_OPTION)))
    return [Attached(str(chosen["filename"]), int(chosen["size"]), str(chosen["url"]))] if chosen else []


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


FILE: Final = "discord_commands.json"
"""The file that stores what each server was told last. If it is lost, the commands are registered once more, which
Discord does not count.
"""


class CommandSync:
    """Registers the slash commands with each listed server, again only after they changed."""

    def __init__(self, directory: Path, guilds: Sequence[str], client_id: str) -> None:
        self._registered = TextStore(directory / FILE)
        self._guilds = guilds
        self._client_id = client_id

    async def run(self, client: discord.Client, group: Mapping[str, Any]) -> None:
        """Register `group`, the commands as returned by `payload`, on each server where they are not registered yet. A
        server that refuses is logged and skipped.
        """
        application = client.application_id
        if self._client_id and str(application) != self._client_id:
            logger.error(
                "Slash commands were not registered: DISCORD_CLIENT_ID is %s, but the token belongs to application %s.",
                self._client_id,
                application,
            )
            return
        if application is None or not self._guilds:
            logger.warning(
                "Slash commands were not registered: DISCORD_ALLOWED_GUILD_IDS names no server to register them in."
            )
            return
        print_ = hashlib.sha256(json.dumps(group, sort_keys=True).encode()).hexdigest()
        for guild in self._guilds:
            key = f"{application}/{guild}"
            if await self._registered.get(key) != print_ and await _register(client, application, int(guild), group):
                await self._registered.put(key, print_)


async def _register(client: discord.Client, application: int, guild: int, group: Mapping[str, Any]) -> bool:
    try:
        await client.http.bulk_upsert_guild_commands(application, guild, [dict(group)])
    except discord.Forbidden:
        logger.error(  # noqa: TRY400 - the cause is known; a traceback would hide the sentence
            "Slash commands were not registered in server %d: the bot is not there, or was invited without the scope "
            "applications.commands. Invite it again with that scope.",
            guild,
        )
    except (discord.HTTPException, discord.RateLimited, aiohttp.ClientError, OSError) as error:
        logger.warning("Slash commands were not registered in server %d: %s. The next start tries again.", guild, error)
    else:
        logger.info("Slash commands were registered in server %d.", guild)
        return True
    return False
