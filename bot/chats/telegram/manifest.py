"""Registers Telegram as a platform: its settings, setup, checks and start."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from bot.chats.telegram.limits import API
from bot.checks.chats import accepted, ask, refused
from bot.config.forms import Host, Url, listed
from bot.config.settings import Settings
from bot.domain.chat import Connected
from bot.domain.finding import Finding
from bot.platform import Asked, ChatContext, ListFields, Platform
from bot.texts import say

Id = Annotated[str, Field(pattern=r"^-?[0-9]{1,20}$")]
"""A signed number; groups and channels are negative."""
Ids = Annotated[tuple[Id, ...], NoDecode, BeforeValidator(listed)]


class TelegramSettings(Settings):
    """The settings for Telegram."""

    EXPECTED: ClassVar[Mapping[str, str]] = {
        "telegram_allowed_chat_ids": "signed_ids",
        "telegram_allowed_user_ids": "signed_ids",
        "telegram_admin_user_ids": "signed_ids",
        "telegram_base_url": "url",
        "telegram_webhook_url": "url",
        "telegram_webhook_port": "port",
    }

    telegram_bot_token: SecretStr = SecretStr("")
    telegram_allowed_chat_ids: Ids = ()
    telegram_allowed_user_ids: Ids = ()
    telegram_admin_user_ids: Ids = ()
    telegram_base_url: Url = ""
    telegram_webhook_url: Url = ""
    telegram_webhook_host: Host = "127.0.0.1"
    telegram_webhook_port: Annotated[int, Field(ge=1, le=65535)] = 8766


def _connect(settings: TelegramSettings, context: ChatContext) -> Connected:
    # Here and not above: a service without Telegram does not load its library.
    from bot.chats.telegram.chat import TelegramChat  # noqa: PLC0415 - see above
    from bot.chats.telegram.updates import Hook  # noqa: PLC0415 - see above

    url = settings.telegram_webhook_url
    return TelegramChat(
        settings.telegram_bot_token.get_secret_value(),
        context.intake,
        base_url=settings.telegram_base_url,
        language=settings.language,
        hook=Hook(url, settings.telegram_webhook_host, settings.telegram_webhook_port) if url else None,
        audiences=context.audiences,
        directory=settings.data_dir,
        welcome=context.is_allowed,
        moved=context.on_moved,
        record=context.record,
    )


async def _check(settings: TelegramSettings) -> list[Finding]:
    base = settings.telegram_base_url or API
    root = f"{base.rstrip('/')}/bot{settings.telegram_bot_token.get_secret_value()}"
    status, answer = await ask(f"{root}/getMe", {})
    if status != HTTPStatus.OK:
        return [refused(TELEGRAM.title, TELEGRAM.token, status)]
    found = answer.get("result")
    name = found.get("username") if isinstance(found, dict) else ""
    known = accepted(TELEGRAM.title, f"@{name}")
    status, answer = await ask(f"{root}/getWebhookInfo", {})
    info = answer.get("result")
    return [known, *_webhook(info, settings.telegram_webhook_url)] if isinstance(info, dict) else [known]


def _webhook(info: dict[str, Any], wanted: str) -> list[Finding]:
    """Check whether the updates arrive in the way that is set. The addresses in the findings are the operator's own and
    contain no secret of ours.
    """
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


TELEGRAM: Final = Platform(
    name="telegram",
    title="Telegram",
    settings=TelegramSettings,
    token="telegram_bot_token",  # noqa: S106 - the name of a setting
    lists=ListFields(
        chats="telegram_allowed_chat_ids", users="telegram_allowed_user_ids", admins="telegram_admin_user_ids"
    ),
    connect=_connect,
    loads=("bot.chats.telegram.chat",),
    check=_check,
    asked=(
        Asked("telegram_bot_token", lambda: say("setup.ask.bot_token"), secret=True),
        Asked("telegram_allowed_user_ids", lambda: say("setup.ask.allowed_user_ids")),
        Asked("telegram_admin_user_ids", lambda: say("setup.ask.admin_user_ids")),
    ),
    about=lambda: say("setup.about.telegram"),
    secrets=(
        r"bot\d{5,}:[\w-]{20,}",  # as it stands in every URL of the Bot API
        r"(?<!\d)\d{8,}:[\w-]{30,}",  # from the first digit alone: else a long number takes for ever
    ),
    # python-telegram-bot tells every message with its text, which may be a secret.
    chatty=("telegram",),
)
