"""Checks the Slack app's rights without staying connected, for `opengui doctor`, the setup and the console."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from typing import Final

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.chats.slack import errors
from bot.chats.slack.places import API, refusing_redirects
from bot.checks.chats import PATIENCE_S, accepted, refused
from bot.domain.finding import Finding
from bot.texts import listed, say

SCOPES: Final = (
    "app_mentions:read",
    "channels:history",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "im:history",
    "im:write",
    "reactions:write",
    "users:read",
)
"""Scopes that the bot's token needs; docs/slack.md says what each is for."""


async def findings(token: str, app_token: str, base_url: str, channels: Sequence[str]) -> list[Finding]:
    """Check that Slack accepts both tokens, that the bot's token has all scopes, and that the bot is in the listed
    channels. Returns a finding for the accepted bot token, and one for each problem. If the bot's token is not
    accepted, nothing else is checked.
    """
    patience, tracing = aiohttp.ClientTimeout(PATIENCE_S), refusing_redirects()
    async with aiohttp.ClientSession(timeout=patience, trace_configs=[tracing]) as session:
        client = AsyncWebClient(token, base_url or API, session=session, retry_handlers=[])
        me = await _asked(client.auth_test())
        if isinstance(me, str):
            return [_refused("slack_bot_token", me)]
        found = [accepted("Slack", f"@{me.get('user')}")]
        opened = await _asked(client.apps_connections_open(app_token=app_token))
        if isinstance(opened, str):
            found.append(_refused("slack_app_token", opened))
        given = {scope.strip() for scope in str(me.headers.get("x-oauth-scopes", "")).split(",")} - {""}
        if given and (missing := [scope for scope in SCOPES if scope not in given]):
            text = say("slack.check.scopes", scopes=listed(missing))
            found.append(Finding("chat", "bad", text, say("slack.check.scopes_fix")))
        for channel in channels:
            seen = await _asked(client.conversations_history(channel=channel, limit=1))
            if seen in {"not_in_channel", "channel_not_found"}:
                text, fix = say("slack.check.channel", channel=channel), say("slack.check.channel_fix", bot=me["user"])
                found.append(Finding("chat", "bad", text, fix))
        return found


async def _asked(call: Awaitable[AsyncSlackResponse]) -> AsyncSlackResponse | str:
    """Return the answer, or why there is none: Slack's error code, or "" if Slack cannot be reached."""
    try:
        return await call
    except SlackApiError as refusal:
        return errors.code_of(refusal)
    except (OSError, TimeoutError, aiohttp.ClientError):
        return ""


def _refused(setting: str, code: str) -> Finding:
    if not code or code not in errors.REFUSED_TOKEN:
        return refused("Slack", setting, 0) if not code else Finding("chat", "bad", say("slack.check.odd", code=code))
    fix = say(f"slack.check.fix.{setting}")
    return Finding("chat", "bad", say("slack.check.token", setting=setting.upper(), code=code), fix)
