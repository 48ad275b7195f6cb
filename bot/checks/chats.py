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
_ACCEPTED = "Discord accepts the token"
MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED: either lets the bot read messages."""


async def findings(settings: Settings) -> list[Finding]:
    """Both chats; a token is tried, and never shown."""
    discord = settings.discord_bot_token.get_secret_value()
    telegram = settings.telegram_bot_token.get_secret_value()
    in_discord = _unused("Discord", bool(discord), settings.discord_refusal()) or await _discord(discord)
    return [
        in_discord,
        *(await _discord_places(settings, discord) if in_discord.text.startswith(_ACCEPTED) else ()),
        *(
            [unused]
            if (unused := _unused("Telegram", bool(telegram), settings.telegram_refusal()))
            else await _telegram(telegram, settings.telegram_base_url or TELEGRAM_API, settings.telegram_webhook_url)
        ),
    ]


def set_up(settings: Settings) -> list[Finding]:
    """What can be said without asking the platforms."""
    parts = (
        ("Discord", bool(settings.discord_bot_token.get_secret_value()), settings.discord_refusal()),
        ("Telegram", bool(settings.telegram_bot_token.get_secret_value()), settings.telegram_refusal()),
    )
    return [_unused(*part) or Finding("chat", "good", f"{part[0]} has a token and may be used.") for part in parts]


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
        text = f"{_ACCEPTED} of {me.get('username')}, but typed commands cannot be read."
        fix = "Switch on Bot → Message Content Intent in the developer portal, or use slash commands and mentions only."
        return Finding("chat", "note", text, fix)
    return Finding("chat", "good", f"{_ACCEPTED}; the bot is {me.get('username')}.")


async def _discord_places(settings: Settings, token: str) -> list[Finding]:
    """What the bot lacks in each channel of the list, else in each server of the list."""
    from bot.chats.discord.survey import survey  # noqa: PLC0415 - loads Discord's library only where it is used

    guilds, channels = settings.discord_allowed_guild_ids, settings.discord_allowed_channel_ids
    if not guilds and not channels:
        return []
    try:
        seen = await survey(token, guilds, channels, os.environ.get("DISCORD_API_BASE"))
    except OSError as error:
        return [Finding("chat", "note", str(error), "Try again in a few minutes.")]
    findings = []
    for one in seen:
        if not one.found:
            fix = "Invite the bot there, let it view the channel, and check the number in the lists."
            findings.append(Finding("chat", "bad", f"Discord: the bot does not see {one.place}.", fix))
        elif one.lacks:
            text = f"Discord, {one.place}: the bot lacks permissions."
            findings.append(Finding("chat", "note", text, " ".join(one.lacks)))
        else:
            findings.append(Finding("chat", "good", f"Discord, {one.place}: the bot may do all that it needs."))
    return findings


async def _telegram(token: str, base: str, webhook: str) -> list[Finding]:
    root = f"{base.rstrip('/')}/bot{token}"
    status, answer = await _asked(f"{root}/getMe", {})
    if status != HTTPStatus.OK:
        return [_refused("Telegram", "TELEGRAM_BOT_TOKEN", status)]
    found = answer.get("result")
    name = found.get("username") if isinstance(found, dict) else ""
    accepted = Finding("chat", "good", f"Telegram accepts the token; the bot is @{name}.")
    status, answer = await _asked(f"{root}/getWebhookInfo", {})
    info = answer.get("result")
    return [accepted, *_webhook(info, webhook)] if isinstance(info, dict) else [accepted]


def _webhook(info: dict[str, Any], wanted: str) -> list[Finding]:
    """Whether updates come the way that is set. The addresses are the operator's own; they hold no secret of ours."""
    there, why, waiting = str(info.get("url") or ""), info.get("last_error_message"), info.get("pending_update_count")
    if not wanted:
        fix = "The service takes it away at its start. If another program uses this bot, make a bot of its own."
        return [Finding("chat", "note", "Telegram: a webhook is set for this bot.", fix)] if there else []
    if there != wanted:
        text = "Telegram: the webhook is not set, or it leads somewhere else."
        return [Finding("chat", "note", text, "The service sets it at its start. Is it running, and alone?")]
    if why:
        text = f"Telegram: the webhook failed last with “{why}”; {waiting} updates wait."
        fix = "Check the reverse proxy, its certificate, and TELEGRAM_WEBHOOK_HOST and _PORT."
        # The last failure stays there for ever: it counts while something waits.
        return [Finding("chat", "bad" if waiting else "note", text, fix)]
    return [Finding("chat", "good", "Telegram: the webhook is set and works.")]


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
