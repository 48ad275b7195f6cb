"""Checks whether the chat platforms accept their tokens, and provides what the checks of all platforms share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from bot.checks.asking import json_at
from bot.config.settings import Settings
from bot.domain.finding import Finding
from bot.platform import Platform
from bot.texts import say
from devices.wording import said

PATIENCE_S = 10.0


async def findings(settings: Settings, platforms: Iterable[Platform[Any]]) -> list[Finding]:
    """Check all chats, by using their tokens. The findings never contain a token."""
    found: list[Finding] = []
    for platform in platforms:
        found += await of_one(settings, platform)
    return found


async def of_one(settings: Settings, platform: Platform[Any]) -> list[Finding]:
    """Check the settings and the token of one platform, and return the findings."""
    unused = _unused(settings, platform)
    return [unused] if unused else await platform.check(settings)


def set_up(settings: Settings, platforms: Iterable[Platform[Any]]) -> list[Finding]:
    """Check the platforms' settings without sending a request, and return a finding for each platform."""
    return [
        _unused(settings, platform) or Finding("chat", "good", say("check.chat.set", name=platform.title))
        for platform in platforms
    ]


def accepted(title: str, bot: object) -> Finding:
    """Return the finding for a token that the platform accepted. `title` is the platform's name, `bot` the bot's."""
    return Finding("chat", "good", say("check.chat.accepted", name=title, bot=bot))


def refused(title: str, setting: str, status: int) -> Finding:
    """Return the finding for a token that got an error status, or no answer (status 0). `setting` is the name of the
    setting that contains the token.
    """
    if status == 0:
        return Finding("chat", "bad", say("check.chat.unreachable", name=title), say("check.chat.unreachable_fix"))
    # 404 is the answer to a malformed token that is part of the address.
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
        text = say("check.chat.token", name=title)
        return Finding("chat", "bad", text, say("check.chat.token_fix", setting=setting.upper()))
    text = say("check.chat.status", name=title, status=status)
    return Finding("chat", "bad", text, say("check.chat.later_fix"))


async def ask(url: str, headers: Mapping[str, str]) -> tuple[int, dict[str, Any]]:
    """Send a GET request. Returns the HTTP status and the JSON object of the answer; status 0 if there is no answer, or
    if it is not JSON or too long.
    """
    status, body = await json_at(url, headers, seconds=PATIENCE_S)
    return (0, {}) if body is None else (status, body if isinstance(body, dict) else {})


def _unused(settings: Settings, platform: Platform[Any]) -> Finding | None:
    if not platform.is_set(settings):
        fix = say("check.chat.unset_fix", setting=platform.token.upper())
        return Finding("chat", "note", say("check.chat.unset", name=platform.title), fix)
    if refusal := platform.refusal(settings):
        return Finding("chat", "bad", say("check.chat.closed", name=platform.title), said(refusal))
    return None
