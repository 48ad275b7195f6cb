"""Whether the chats' tokens are accepted, and what else has to be switched on there."""

from __future__ import annotations

import os
from http import HTTPStatus
from typing import Any

import aiohttp

from bot.checks.finding import Finding
from bot.settings import Settings

PATIENCE_S = 10.0
DISCORD_API = "https://discord.com/api/v10"
TELEGRAM_API = "https://api.telegram.org"
MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED: either lets the bot read messages."""


async def findings(settings: Settings) -> list[Finding]:
    """Both chats; a token is tried, and never shown."""
    discord = settings.discord_bot_token.get_secret_value()
    telegram = settings.telegram_bot_token.get_secret_value()
    return [
        _unused("Discord", bool(discord), settings.discord_refusal()) or await _discord(discord),
        _unused("Telegram", bool(telegram), settings.telegram_refusal())
        or await _telegram(telegram, settings.telegram_base_url or TELEGRAM_API),
    ]


def _unused(name: str, token: bool, refusal: str) -> Finding | None:
    if not token:
        fix = f"Set {name.upper()}_BOT_TOKEN and its lists to use it."
        return Finding("chat", "note", f"{name} is not set up.", fix)
    if refusal:
        return Finding("chat", "bad", f"{name} has a token but will not start.", refusal)
    return None


async def _discord(token: str) -> Finding:
    base = (os.environ.get("DISCORD_API_BASE") or DISCORD_API).rstrip("/")
    headers = {"Authorization": f"Bot {token}"}
    status, me = await _asked(f"{base}/users/@me", headers)
    if status != HTTPStatus.OK:
        return _refused("Discord", "DISCORD_BOT_TOKEN", status)
    status, application = await _asked(f"{base}/applications/@me", headers)
    if status == HTTPStatus.OK and not int(application.get("flags") or 0) & MESSAGE_CONTENT:
        text = f"Discord accepts the token of {me.get('username')}, but typed commands cannot be read."
        fix = "Switch on Bot → Message Content Intent in the developer portal, or use slash commands and mentions only."
        return Finding("chat", "note", text, fix)
    return Finding("chat", "good", f"Discord accepts the token; the bot is {me.get('username')}.")


async def _telegram(token: str, base: str) -> Finding:
    status, answer = await _asked(f"{base.rstrip('/')}/bot{token}/getMe", {})
    if status != HTTPStatus.OK:
        return _refused("Telegram", "TELEGRAM_BOT_TOKEN", status)
    found = answer.get("result")
    name = found.get("username") if isinstance(found, dict) else ""
    return Finding("chat", "good", f"Telegram accepts the token; the bot is @{name}.")


def _refused(name: str, setting: str, status: int) -> Finding:
    if status == 0:
        return Finding("chat", "bad", f"{name} cannot be reached.", "Check this computer's way to the internet.")
    # Telegram says 404 to a token that has not even the form of one.
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
        return Finding("chat", "bad", f"{name} does not accept the token.", f"Make a new one and set {setting}.")
    return Finding("chat", "bad", f"{name} answered with HTTP status {status}.", "Try again in a few minutes.")


async def _asked(url: str, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Status and JSON object of the answer; 0 when there is none. The URL may hold a token: no error of it is told."""
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE_S)) as session,
            session.get(url, headers=headers) as response,
        ):
            body = await response.json(content_type=None)
            return response.status, body if isinstance(body, dict) else {}
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return 0, {}
