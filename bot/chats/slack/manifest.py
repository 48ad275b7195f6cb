"""Registers Slack as a platform: its settings, setup, checks and start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from bot.config.forms import Url, listed
from bot.config.settings import Settings
from bot.domain.chat import Connected
from bot.domain.finding import Finding
from bot.people.subjects import Naming
from bot.platform import Asked, ChatContext, ListFields, Platform
from bot.texts import say
from devices.extras import Extra

Ids = Annotated[tuple[Annotated[str, Field(pattern=r"^[A-Z][A-Z0-9]{1,30}$")], ...], NoDecode, BeforeValidator(listed)]
"""Ids of workspaces (T…), channels (C…) or people (U…, W…)."""


class SlackSettings(Settings):
    """The settings for Slack."""

    EXPECTED: ClassVar[Mapping[str, str]] = {
        "slack_allowed_team_ids": "slack_ids",
        "slack_allowed_channel_ids": "slack_ids",
        "slack_allowed_user_ids": "slack_ids",
        "slack_admin_user_ids": "slack_ids",
        "slack_base_url": "url",
    }

    slack_bot_token: SecretStr = SecretStr("")
    slack_app_token: SecretStr = SecretStr("")
    slack_allowed_team_ids: Ids = ()
    slack_allowed_channel_ids: Ids = ()
    slack_allowed_user_ids: Ids = ()
    slack_admin_user_ids: Ids = ()
    slack_base_url: Url = ""


def _connect(settings: SlackSettings, context: ChatContext) -> Connected:
    # Imported here so that a service without Slack does not load its library.
    from bot.chats.slack.chat import SlackChat  # noqa: PLC0415 - see above

    return SlackChat(
        settings.slack_bot_token.get_secret_value(),
        settings.slack_app_token.get_secret_value(),
        context.intake,
        teams=settings.slack_allowed_team_ids,
        language=settings.language,
        welcome=context.is_allowed,
        record=context.record,
        base_url=settings.slack_base_url,
    )


async def _check(settings: SlackSettings) -> list[Finding]:
    from bot.chats.slack.diagnostics import findings  # noqa: PLC0415 - loads Slack's library only where it is used

    return await findings(
        settings.slack_bot_token.get_secret_value(),
        settings.slack_app_token.get_secret_value(),
        settings.slack_base_url,
        settings.slack_allowed_channel_ids,
    )


SLACK: Final = Platform(
    name="slack",
    title="Slack",
    settings=SlackSettings,
    token="slack_bot_token",  # noqa: S106 - the name of a setting
    lists=ListFields(
        guilds="slack_allowed_team_ids",
        chats="slack_allowed_channel_ids",
        users="slack_allowed_user_ids",
        admins="slack_admin_user_ids",
    ),
    connect=_connect,
    check=_check,
    asked=(
        Asked("slack_bot_token", lambda: say("slack.ask.bot_token"), secret=True),
        Asked("slack_app_token", lambda: say("slack.ask.app_token"), secret=True),
        Asked("slack_allowed_user_ids", lambda: say("setup.ask.allowed_user_ids")),
        Asked("slack_admin_user_ids", lambda: say("setup.ask.admin_user_ids")),
    ),
    about=lambda: say("slack.about"),
    closing=lambda _settings: say("slack.closing"),
    naming=Naming(person=re.compile(r"[UW][A-Z0-9]{1,30}"), mention=re.compile(r"<@(?P<id>[UW][A-Z0-9]{1,30})>")),
    secrets=(
        r"xox[a-z]-[\w-]{10,}",
        r"xapp-[\w-]{10,}",
        r"(?<=ticket=)[\w%.-]{10,}",  # opens a connection, once
        r"(?<=hooks\.slack\.com/)\S{10,}|(?<=hooks\.slack-gov\.com/)\S{10,}",  # answers a press
    ),
    extra=Extra.SLACK,
    # slack_sdk logs the text of every message, which may be a secret.
    chatty=("slack_sdk",),
    loads=("bot.chats.slack.chat",),
)
