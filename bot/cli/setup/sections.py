"""What is asked, part by part, and how the answers of a part are tried."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

from bot.checks import chats, model
from bot.checks.finding import Finding
from bot.cli.doctor import phones
from bot.config.settings import Settings
from bot.texts import say

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
    secret: bool = False

    @property
    def prompt(self) -> str:
        """What is asked."""
        return say(f"setup.ask.{self.field}")


@dataclass(frozen=True, slots=True)
class Section:
    """One part of the way. `check` tries the answers as they would be used."""

    name: str
    asked: Sequence[Asked]
    check: Callable[[Settings], Awaitable[list[Finding]]]
    closing: Callable[[Settings], str]

    @property
    def heading(self) -> str:
        """Its title, and what it is about."""
        return f"{say(f'setup.title.{self.name}')}\n{say(f'setup.about.{self.name}')}"


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
    return say("setup.invite", address=address)


SECTIONS: Final = (
    Section(
        "model",
        (
            Asked("vlm_base_url"),
            Asked("vlm_api_key", secret=True),
            Asked("vlm_model"),
        ),
        model.findings,
        lambda _: "",
    ),
    Section(
        "discord",
        (
            Asked("discord_bot_token", secret=True),
            Asked("discord_client_id"),
            Asked("discord_allowed_user_ids"),
            Asked("discord_admin_user_ids"),
        ),
        _discord,
        invite_of,
    ),
    Section(
        "telegram",
        (
            Asked("telegram_bot_token", secret=True),
            Asked("telegram_allowed_user_ids"),
            Asked("telegram_admin_user_ids"),
        ),
        _telegram,
        lambda _: "",
    ),
    Section(
        "phones",
        (Asked("android_serials"),),
        _phones,
        lambda _: "",
    ),
)
