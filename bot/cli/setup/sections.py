"""What is asked, part by part, and how the answers of a part are tried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checks import chats, model
from bot.checks.finding import Finding
from bot.cli.doctor import phones
from bot.settings import Settings

INVITE: Final = (
    "https://discord.com/oauth2/authorize?client_id={client}&scope=bot+applications.commands&permissions={permissions}"
)
PERMISSIONS: Final = 309237754880
"""View Channel, Send Messages (also in threads), Create Public Threads, Attach Files, Read Message History, Manage
Messages: the bits of Discord's permission number."""


@dataclass(frozen=True, slots=True)
class Asked:
    """One setting. `field` is its name in Settings; the first one of a part decides whether the rest is asked."""

    field: str
    prompt: str
    secret: bool = False


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the way. `check` tries the answers as they would be used."""

    title: str
    about: str
    asked: Sequence[Asked]
    check: Callable[[Settings], Awaitable[list[Finding]]]
    closing: Callable[[Settings], str]


async def _discord(settings: Settings) -> list[Finding]:
    return [found for found in await chats.findings(settings) if "Discord" in found.text]


async def _telegram(settings: Settings) -> list[Finding]:
    return [found for found in await chats.findings(settings) if "Telegram" in found.text]


async def _phones(settings: Settings) -> list[Finding]:
    return [found async for found in phones.findings(settings, running=False, mend=False)]


def invite_of(settings: Settings) -> str:
    """Where the bot is invited with the rights that it uses; "" without an application id."""
    if not settings.discord_client_id:
        return ""
    address = INVITE.format(client=settings.discord_client_id, permissions=PERMISSIONS)
    return f"Invite the bot: {address}\nSwitch on Bot → Message Content Intent in the developer portal."


SECTIONS: Final = (
    Section(
        "Model",
        "An OpenAI-compatible endpoint with a model that sees pictures. Without one the offline pilot works.",
        (
            Asked("vlm_base_url", "Address of the endpoint, such as http://127.0.0.1:8000/v1"),
            Asked("vlm_api_key", "Key", secret=True),
            Asked("vlm_model", "Name of the model"),
        ),
        model.findings,
        lambda _: "",
    ),
    Section(
        "Discord",
        "The token is made on discord.com/developers/applications → Bot → Reset Token.",
        (
            Asked("discord_bot_token", "Token of the bot", secret=True),
            Asked("discord_client_id", "Application id"),
            Asked("discord_allowed_user_ids", "Ids of the people who may use it, separated by commas"),
            Asked("discord_admin_user_ids", "Ids of the people who may steer everything"),
        ),
        _discord,
        invite_of,
    ),
    Section(
        "Telegram",
        "The token is given by @BotFather with /newbot; @userinfobot tells people their ids.",
        (
            Asked("telegram_bot_token", "Token of the bot", secret=True),
            Asked("telegram_allowed_user_ids", "Ids of the people who may use it, separated by commas"),
            Asked("telegram_admin_user_ids", "Ids of the people who may steer everything"),
        ),
        _telegram,
        lambda _: "",
    ),
    Section(
        "Phones",
        "Every phone with USB debugging on is used, unless serials are named. Without any a virtual one is there.",
        (Asked("android_serials", "Serials to use, separated by commas"),),
        _phones,
        lambda _: "",
    ),
)
