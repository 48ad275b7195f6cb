"""Registers Feishu and Lark as a platform: the settings, setup, checks and start."""

from __future__ import annotations

import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode

from bot.checks.chats import accepted, refused
from bot.config.forms import listed
from bot.config.settings import Settings
from bot.domain.chat import ChatError, Connected, FloodWait
from bot.domain.finding import Finding
from bot.people.subjects import Naming
from bot.platform import Asked, ChatContext, ListFields, Platform
from bot.texts import listed as names_listed
from bot.texts import say
from devices.extras import Extra
from devices.wording import said, sentence_of

if TYPE_CHECKING:
    from bot.chats.feishu.api import Api

GRANTED: Final = 1
"""`grant_status` of a scope that the app has (List the scopes of a tenant)."""
SCOPES: Final[Mapping[str, frozenset[str]]] = {
    "im:message:send_as_bot": frozenset({"im:message", "im:message:send"}),
    "im:message.p2p_msg:readonly": frozenset({"im:message.p2p_msg"}),
    "im:message.group_at_msg:readonly": frozenset({"im:message.group_at_msg", "im:message.group_msg"}),
    "im:message:readonly": frozenset({"im:message", "im:message.history:readonly"}),
    "im:resource": frozenset(),
}
"""Scopes that the app needs, each with others that include it."""
EVENT: Final = "im.message.receive_v1"
CALLBACK: Final = "card.action.trigger"
"""Required subscriptions: without the first no message arrives, without the second no button works."""

# Every service loads these: with a repetition count, pydantic's Unicode \w takes megabytes.
Person = Annotated[str, Field(pattern=r"^ou_[0-9A-Za-z_]{1,64}$")]
Group = Annotated[str, Field(pattern=r"^oc_[0-9A-Za-z_]{1,64}$")]
Tenant = Annotated[str, Field(pattern=r"^[0-9A-Za-z_]{1,64}$")]
People = Annotated[tuple[Person, ...], NoDecode, BeforeValidator(listed)]
"""Open ids of people."""
Groups = Annotated[tuple[Group, ...], NoDecode, BeforeValidator(listed)]
Tenants = Annotated[tuple[Tenant, ...], NoDecode, BeforeValidator(listed)]
Domain = Annotated[
    str, Field(pattern=r"^(feishu\.cn|larksuite\.com|https://[^\s/]+/?|http://(127\.0\.0\.1|localhost)(:\d+)?/?)$")
]


class FeishuSettings(Settings):
    """The settings for Feishu and Lark."""

    EXPECTED: ClassVar[Mapping[str, str]] = {
        "feishu_app_id": "feishu_id",
        "feishu_domain": "feishu_domain",
        "feishu_allowed_tenant_keys": "feishu_ids",
        "feishu_allowed_chat_ids": "feishu_ids",
        "feishu_allowed_user_ids": "feishu_ids",
        "feishu_admin_user_ids": "feishu_ids",
    }

    feishu_app_secret: SecretStr = SecretStr("")
    feishu_app_id: Annotated[str, Field(pattern=r"^(cli_[0-9A-Za-z_]{1,64})?$")] = ""
    feishu_domain: Domain = "feishu.cn"
    feishu_allowed_tenant_keys: Tenants = ()
    feishu_allowed_chat_ids: Groups = ()
    feishu_allowed_user_ids: People = ()
    feishu_admin_user_ids: People = ()

    @property
    def feishu_root(self) -> str:
        """The address of the API, which is different for Feishu and Lark."""
        domain = self.feishu_domain.rstrip("/")
        return domain if "://" in domain else f"https://open.{domain}"


def _connect(settings: FeishuSettings, context: ChatContext) -> Connected:
    from bot.chats.feishu.chat import FeishuChat  # noqa: PLC0415 - nothing of it is loaded in a service without Feishu

    return FeishuChat(
        settings.feishu_app_id,
        settings.feishu_app_secret.get_secret_value(),
        context.intake,
        root=settings.feishu_root,
        tenants=settings.feishu_allowed_tenant_keys,
        language=settings.language,
        locale="en" if settings.feishu_domain == "larksuite.com" else "zh-CN",
        welcome=context.is_allowed,
        lost=context.on_lost,
        record=context.record,
    )


async def _check(settings: FeishuSettings) -> list[Finding]:
    import aiohttp  # noqa: PLC0415 - every command reads the platforms, and few ask

    from bot.chats.feishu.api import Api, Refused, Unusable, meaning  # noqa: PLC0415 - as above

    if not settings.feishu_app_id:
        return [Finding("chat", "bad", say("feishu.app_id"), say("feishu.app_id_fix"))]
    async with aiohttp.ClientSession() as session:
        api = Api(session, settings.feishu_root, settings.feishu_app_id, settings.feishu_app_secret.get_secret_value())
        try:
            bot = (await api.call("GET", "bot/v3/info")).get("bot")
            name = bot.get("app_name") if isinstance(bot, dict) else ""
            return [accepted(FEISHU.title, name), *await _scopes(api, settings), *await _subscribed(api, settings)]
        except (FloodWait, ChatError, Refused) as error:
            why = meaning(error, "connect") if isinstance(error, Refused) else error
            if isinstance(why, FloodWait):
                return [refused(FEISHU.title, FEISHU.token, HTTPStatus.TOO_MANY_REQUESTS)]
            if isinstance(error, Refused | Unusable):
                return [Finding("chat", "bad", said(sentence_of(why)), _page(settings))]
            return [refused(FEISHU.title, FEISHU.token, 0)]


async def _scopes(api: Api, settings: FeishuSettings) -> list[Finding]:
    """Report the permissions that the app lacks."""
    found = (await api.call("GET", "application/v6/scopes")).get("data") or {}
    granted = {str(one.get("scope_name")) for one in found.get("scopes") or () if one.get("grant_status") == GRANTED}
    lacking = [name for name, others in SCOPES.items() if not granted & {name, *others}]
    if not lacking:
        return []
    return [Finding("chat", "bad", say("feishu.lacking", scopes=names_listed(lacking)), _page(settings))]


async def _subscribed(api: Api, settings: FeishuSettings) -> list[Finding]:
    """Report missing subscriptions for events and buttons, as far as the app can read them."""
    from bot.chats.feishu.api import Refused  # noqa: PLC0415 - as above

    try:
        answer = await api.call("GET", f"application/v6/applications/{api.app}?lang=zh_cn")
    except Refused:
        return [Finding("chat", "note", say("feishu.unseen"), _page(settings))]
    app = (answer.get("data") or {}).get("app") or {}
    events, callbacks = app.get("event") or {}, app.get("callback") or app.get("callback_info") or {}
    missing = [] if EVENT in (events.get("subscribed_events") or ()) else [EVENT]
    missing += [] if CALLBACK in (callbacks.get("subscribed_callbacks") or ()) else [CALLBACK]
    if not missing:
        return []
    return [Finding("chat", "bad", say("feishu.unsubscribed", names=names_listed(missing)), _page(settings))]


def _page(settings: FeishuSettings) -> str:
    return say("feishu.page", address=f"{settings.feishu_root}/app/{settings.feishu_app_id}")


FEISHU: Final = Platform(
    name="feishu",
    title="Feishu/Lark",
    settings=FeishuSettings,
    token="feishu_app_secret",  # noqa: S106 - the name of a setting
    lists=ListFields(
        guilds="feishu_allowed_tenant_keys",
        chats="feishu_allowed_chat_ids",
        users="feishu_allowed_user_ids",
        admins="feishu_admin_user_ids",
    ),
    connect=_connect,
    check=_check,
    asked=(
        Asked("feishu_app_id", lambda: say("feishu.ask.app_id")),
        Asked("feishu_app_secret", lambda: say("feishu.ask.app_secret"), secret=True),
        Asked("feishu_domain", lambda: say("feishu.ask.domain")),
        Asked("feishu_allowed_user_ids", lambda: say("feishu.ask.users")),
        Asked("feishu_admin_user_ids", lambda: say("feishu.ask.admins")),
    ),
    about=lambda: say("feishu.about"),
    naming=Naming(person=re.compile(r"ou_\w{1,64}"), mention=re.compile(r"<@(?P<id>ou_\w{1,64})>")),
    secrets=(
        r"\b[tua]-[\w.]{20,}",  # tokens of a tenant, a user and an app
        r"(?:access_key|ticket)=[\w%-]+",  # in the address of the long connection
    ),
    extra=Extra.FEISHU,
    loads=("bot.chats.feishu.chat", "bot.chats.feishu.connection"),
)
