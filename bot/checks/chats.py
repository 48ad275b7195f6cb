"""Whether the chats' tokens are accepted, and what else has to be switched on there."""

from __future__ import annotations

import os
from http import HTTPStatus
from typing import Any

from bot.checks.finding import Finding, json_at
from bot.config.settings import Settings
from bot.texts import paragraph, say
from devices.wording import said, sentence_of

PATIENCE_S = 10.0
DISCORD_API = "https://discord.com/api/v10"
TELEGRAM_API = "https://api.telegram.org"
MESSAGE_CONTENT = 1 << 18 | 1 << 19
"""Application flags GATEWAY_MESSAGE_CONTENT and GATEWAY_MESSAGE_CONTENT_LIMITED: either lets the bot read messages."""


async def findings(settings: Settings) -> list[Finding]:
    """Both chats; a token is tried, and never shown."""
    discord = settings.discord_bot_token.get_secret_value()
    telegram = settings.telegram_bot_token.get_secret_value()
    base = settings.telegram_base_url or TELEGRAM_API
    not_discord = _unused("Discord", bool(discord), settings.discord_refusal())
    not_telegram = _unused("Telegram", bool(telegram), settings.telegram_refusal())
    return [
        *([not_discord] if not_discord else await _discord(settings, discord)),
        *([not_telegram] if not_telegram else await _telegram(telegram, base, settings.telegram_webhook_url)),
    ]


def set_up(settings: Settings) -> list[Finding]:
    """What can be said without asking the platforms."""
    parts = (
        ("Discord", bool(settings.discord_bot_token.get_secret_value()), settings.discord_refusal()),
        ("Telegram", bool(settings.telegram_bot_token.get_secret_value()), settings.telegram_refusal()),
    )
    return [_unused(*part) or Finding("chat", "good", say("check.chat.set", name=part[0])) for part in parts]


def _unused(name: str, token: bool, refusal: str) -> Finding | None:
    if not token:
        fix = say("check.chat.unset_fix", setting=f"{name.upper()}_BOT_TOKEN")
        return Finding("chat", "note", say("check.chat.unset", name=name), fix)
    if refusal:
        return Finding("chat", "bad", say("check.chat.closed", name=name), said(refusal))
    return None


async def _discord(settings: Settings, token: str) -> list[Finding]:
    base = (os.environ.get("DISCORD_API_BASE") or DISCORD_API).rstrip("/")
    headers = {"Authorization": f"Bot {token}"}
    status, me = await _asked(f"{base}/users/@me", headers)
    if status != HTTPStatus.OK:
        return [_refused("Discord", "DISCORD_BOT_TOKEN", status)]
    status, application = await _asked(f"{base}/applications/@me", headers)
    if status == HTTPStatus.OK and not int(application.get("flags") or 0) & MESSAGE_CONTENT:
        text = say("check.chat.unread", bot=me.get("username"))
        accepted = Finding("chat", "note", text, say("check.chat.unread_fix"))
    else:
        accepted = Finding("chat", "good", say("check.chat.accepted", name="Discord", bot=me.get("username")))
    return [accepted, *await _discord_places(settings, token)]


async def _discord_places(settings: Settings, token: str) -> list[Finding]:
    """What the bot lacks in each channel of the list, else in each server of the list."""
    from bot.chats.discord.diagnostics import survey  # noqa: PLC0415 - loads Discord's library only where it is used

    guilds, channels = settings.discord_allowed_guild_ids, settings.discord_allowed_channel_ids
    if not guilds and not channels:
        return []
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


async def _telegram(token: str, base: str, webhook: str) -> list[Finding]:
    root = f"{base.rstrip('/')}/bot{token}"
    status, answer = await _asked(f"{root}/getMe", {})
    if status != HTTPStatus.OK:
        return [_refused("Telegram", "TELEGRAM_BOT_TOKEN", status)]
    found = answer.get("result")
    name = found.get("username") if isinstance(found, dict) else ""
    accepted = Finding("chat", "good", say("check.chat.accepted", name="Telegram", bot=f"@{name}"))
    status, answer = await _asked(f"{root}/getWebhookInfo", {})
    info = answer.get("result")
    return [accepted, *_webhook(info, webhook)] if isinstance(info, dict) else [accepted]


def _webhook(info: dict[str, Any], wanted: str) -> list[Finding]:
    """Whether updates come the way that is set. The addresses are the operator's own; they hold no secret of ours."""
    there, why, waiting = str(info.get("url") or ""), info.get("last_error_message"), info.get("pending_update_count")
    if not wanted:
        foreign = Finding("chat", "note", say("check.webhook.foreign"), say("check.webhook.foreign_fix"))
        return [foreign] if there else []
    if there != wanted:
        return [Finding("chat", "note", say("check.webhook.unset"), say("check.webhook.unset_fix"))]
    if why:
        text = say("check.webhook.failed", why=why, waiting=waiting)
        fix = say("check.webhook.failed_fix")
        # The last failure stays there for ever: it counts while something waits.
        return [Finding("chat", "bad" if waiting else "note", text, fix)]
    return [Finding("chat", "good", say("check.webhook.good"))]


def _refused(name: str, setting: str, status: int) -> Finding:
    if status == 0:
        return Finding("chat", "bad", say("check.chat.unreachable", name=name), say("check.chat.unreachable_fix"))
    # Telegram says 404 to a token that has not even the form of one.
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
        text = say("check.chat.token", name=name)
        return Finding("chat", "bad", text, say("check.chat.token_fix", setting=setting))
    text = say("check.chat.status", name=name, status=status)
    return Finding("chat", "bad", text, say("check.chat.later_fix"))


async def _asked(url: str, headers: dict[str, str]) -> tuple[int, dict[str, Any]]:
    """Status and JSON object of the answer; 0 when there is none."""
    status, body = await json_at(url, headers, seconds=PATIENCE_S)
    return (0, {}) if body is None else (status, body if isinstance(body, dict) else {})
