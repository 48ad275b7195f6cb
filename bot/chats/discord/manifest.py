"""Registers Discord as a platform: its settings, setup, checks and start."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from bot.checks.asking import json_at
from bot.checks.chats import PATIENCE_S, accepted, ask, refused
from bot.config.forms import listed
from bot.config.settings import Settings
from bot.domain.chat import Connected
from bot.domain.finding import Finding
from bot.people.subjects import Naming
from bot.platform import Asked, ChatContext, ListFields, Platform
from bot.texts import listed as names_listed
from bot.texts import paragraph, say
from devices.wording import said, sentence_of

API: Final = "https://discord.com/api/v10"
MESSAGE_CONTENT: Final = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED: either lets the bot read messages."""
INVITE: Final = (
    "https://discord.com/oauth2/authorize?client_id={client}&scope=bot+applications.commands&permissions={permissions}"
)
MOST_SERVERS: Final = 20
"""Maximum servers that are listed; the bot of one household or team is in a few."""
PORTAL: Final = "https://discord.com/developers/applications/{client}/bot"
"""The page where an application's bot is set up."""
PERMISSIONS: Final = 309237771264
"""View Channel, Send Messages (also in threads), Create Public Threads, Attach Files, Read Message History, Manage
Messages: the bits of Discord's permission number."""

Id = Annotated[str, Field(pattern=r"^[0-9]{1,20}$")]
"""A snowflake: an unsigned 64-bit number."""
Ids = Annotated[tuple[Id, ...], NoDecode, BeforeValidator(listed)]


class DiscordSettings(Settings):
    """The settings for Discord."""

    EXPECTED: ClassVar[Mapping[str, str]] = {
        "discord_client_id": "id",
        "discord_allowed_guild_ids": "ids",
        "discord_allowed_channel_ids": "ids",
        "discord_allowed_user_ids": "ids",
        "discord_admin_user_ids": "ids",
        "discord_command_prefix": "prefix",
        "discord_register_commands": "yes_no",
    }

    discord_bot_token: SecretStr = SecretStr("")
    discord_client_id: Annotated[str, Field(pattern=r"^[0-9]{0,20}$")] = ""
    discord_allowed_guild_ids: Ids = ()
    discord_allowed_channel_ids: Ids = ()
    discord_allowed_user_ids: Ids = ()
    discord_admin_user_ids: Ids = ()
    discord_command_prefix: Annotated[str, Field(max_length=32)] = "!opengui"
    discord_register_commands: bool = False


def _connect(settings: DiscordSettings, context: ChatContext) -> Connected:
    # Here and not above: a service without Discord does not load its library.
    from bot.chats.discord.chat import DiscordChat  # noqa: PLC0415 - see above

    return DiscordChat(
        settings.discord_bot_token.get_secret_value(),
        context.intake,
        prefix=settings.discord_command_prefix,
        client_id=settings.discord_client_id,
        guild_ids=settings.discord_allowed_guild_ids,
        register_commands=settings.discord_register_commands,
        state_directory=settings.data_dir,
        welcome=context.is_allowed,
        language=settings.language,
        lost=context.on_lost,
        record=context.record,
        api_base=os.environ.get("DISCORD_API_BASE"),
    )


async def _check(settings: DiscordSettings) -> list[Finding]:
    token = settings.discord_bot_token.get_secret_value()
    base = (os.environ.get("DISCORD_API_BASE") or API).rstrip("/")
    headers = {"Authorization": f"Bot {token}"}
    status, me = await ask(f"{base}/users/@me", headers)
    if status != HTTPStatus.OK:
        return [refused(DISCORD.title, DISCORD.token, status)]
    bot = me.get("username")
    status, application = await ask(f"{base}/applications/@me", headers)
    if status == HTTPStatus.OK and not int(application.get("flags") or 0) & MESSAGE_CONTENT:
        address = PORTAL.format(client=application.get("id") or _application(settings))
        read = Finding("chat", "note", say("check.chat.unread", bot=bot), say("check.chat.unread_fix", address=address))
    else:
        read = accepted(DISCORD.title, bot)
    if settings.discord_allowed_guild_ids or settings.discord_allowed_channel_ids:
        return [read, *await _places(settings, token)]
    return [read, *await _servers(settings, base, headers)]


async def _servers(settings: DiscordSettings, base: str, headers: Mapping[str, str]) -> list[Finding]:
    """Report the servers that the bot is in, with the ids that the lists take, while no list names a place."""
    status, found = await json_at(f"{base}/users/@me/guilds?limit={MOST_SERVERS}", headers, seconds=PATIENCE_S)
    if status != HTTPStatus.OK or not isinstance(found, list):
        return []
    names = [f"{one['name']} ({one['id']})" for one in found]
    if names:
        text = say("check.chat.servers", names=names_listed(names))
        return [Finding("chat", "note", text, say("check.chat.servers_fix"))]
    return [Finding("chat", "note", say("check.chat.no_server"), _invite(settings))]


async def _places(settings: DiscordSettings, token: str) -> list[Finding]:
    """Report what the bot lacks in each channel of the lists, else on each server."""
    from bot.chats.discord.permissions import survey  # noqa: PLC0415 - loads Discord's library only where it is used

    guilds, channels = settings.discord_allowed_guild_ids, settings.discord_allowed_channel_ids
    try:
        seen = await survey(token, guilds, channels, os.environ.get("DISCORD_API_BASE"))
    except OSError as error:
        return [Finding("chat", "note", said(sentence_of(error)), say("check.chat.later_fix"))]
    findings = []
    for one in seen:
        if not one.found:
            text = say("check.chat.unseen", place=one.place)
            findings.append(Finding("chat", "bad", text, say("check.chat.unseen_fix")))
        elif one.lacks:
            text = say("check.chat.lacking", place=one.place)
            findings.append(Finding("chat", "note", text, paragraph(*one.lacks)))
        else:
            findings.append(Finding("chat", "good", say("check.chat.enough", place=one.place)))
    return findings


def _application(settings: DiscordSettings) -> str:
    """Return the id of the bot's application: the one that is set, else the one at the beginning of the token; "" if
    that is not an id.
    """
    if settings.discord_client_id:
        return settings.discord_client_id
    encoded = settings.discord_bot_token.get_secret_value().partition(".")[0]
    try:
        found = base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)).decode("ascii")
    except ValueError:
        return ""
    return found if re.fullmatch(r"[0-9]{1,20}", found) else ""


def _invite(settings: DiscordSettings) -> str:
    """Return a sentence with the address at which the bot is invited with the permissions that it uses; "" without an
    application id.
    """
    application = _application(settings)
    address = INVITE.format(client=application, permissions=PERMISSIONS)
    return say("setup.invite", address=address) if application else ""


DISCORD: Final = Platform(
    name="discord",
    title="Discord",
    settings=DiscordSettings,
    token="discord_bot_token",  # noqa: S106 - the name of a setting
    lists=ListFields(
        guilds="discord_allowed_guild_ids",
        chats="discord_allowed_channel_ids",
        users="discord_allowed_user_ids",
        admins="discord_admin_user_ids",
    ),
    connect=_connect,
    loads=("bot.chats.discord.chat",),
    check=_check,
    asked=(
        Asked("discord_bot_token", lambda: say("setup.ask.bot_token"), secret=True),
        Asked("discord_client_id", lambda: say("setup.ask.client_id")),
        Asked("discord_allowed_user_ids", lambda: say("setup.ask.allowed_user_ids")),
        Asked("discord_admin_user_ids", lambda: say("setup.ask.admin_user_ids")),
    ),
    about=lambda: say("setup.about.discord"),
    closing=_invite,
    naming=Naming(mention=re.compile(r"<@(?P<role>&)?!?(?P<id>\d{1,20})>"), roles=True),
    secrets=(r"[\w-]{23,28}\.[\w-]{6,7}\.[\w-]{27,}",),
    chatty=("discord.gateway",),
)
