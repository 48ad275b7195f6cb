"""The forms of the *Connect* pages: one for each model role, and one for each chat platform, from its manifest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from pydantic import SecretStr

from bot.checks import chats, model
from bot.config.endpoints import model_settings
from bot.config.settings import Settings
from bot.config.settings_file import ADDRESS, HOW, KEY, ROLES
from bot.domain.finding import Finding
from bot.platform import Asked, Platform
from bot.texts import say

MODEL: Final = "model"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The names of the settings for a model's address, key and name."""

    address: str
    key: str
    model: str


def _endpoint(prefix: str) -> Endpoint:
    return Endpoint(f"{prefix}_base_url", f"{prefix}_api_key", f"{prefix}_model")


@dataclass(frozen=True, slots=True)
class Preset:
    """A well-known model endpoint, offered when a model is set up."""

    title: str
    address: str
    model: str = ""
    keys: str = ""


PRESETS: Final = (
    Preset("OpenAI", "https://api.openai.com/v1", "gpt-5", "https://platform.openai.com/api-keys"),
    Preset(
        "OpenRouter",
        "https://openrouter.ai/api/v1",
        "qwen/qwen3-vl-235b-a22b-instruct",
        "https://openrouter.ai/settings/keys",
    ),
    Preset(
        "Alibaba Cloud Model Studio (Qwen)",
        "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
        "qwen3-vl-plus",
        "https://modelstudio.console.alibabacloud.com/?tab=model#/api-key",
    ),
    Preset(
        "阿里云百炼 (Qwen)",
        "https://dashscope.aliyuncs.com/compatible-mode/v1",
        "qwen3-vl-plus",
        "https://bailian.console.aliyun.com/?tab=model#/api-key",
    ),
    Preset(
        "智谱 BigModel (AutoGLM)",
        "https://open.bigmodel.cn/api/paas/v4",
        "autoglm-phone",
        "https://open.bigmodel.cn/usercenter/apikeys",
    ),
    Preset(
        "火山方舟 (UI-TARS)",
        "https://ark.cn-beijing.volces.com/api/v3",
        "doubao-1-5-ui-tars-250428",
        "https://console.volcengine.com/ark/region:ark+cn-beijing/apiKey",
    ),
    Preset("Ollama", "http://127.0.0.1:11434/v1", "qwen3-vl:8b"),
    Preset("LM Studio", "http://127.0.0.1:1234/v1"),
    Preset("vLLM", "http://127.0.0.1:8000/v1"),
)


@dataclass(frozen=True, slots=True)
class Form:
    """One form of the *Connect* pages: for a chat platform, or for a model's endpoint."""

    name: str
    title: Callable[[], str]
    """Returns the title in the current language; `about` the explanation."""
    about: Callable[[], str]
    asked: Sequence[Asked]
    """The settings that the form asks for."""
    check: Callable[[Settings], Awaitable[list[Finding]]]
    """Tries the settings. The first finding decides whether a chat can be connected."""
    is_set: Callable[[Settings], bool]
    """Returns whether the settings for it are complete."""
    platform: Platform[Any] | None = None
    endpoint: Endpoint | None = None
    more: Sequence[Asked] = ()
    """Settings that are rarely needed; shown on demand."""

    @property
    def fields(self) -> tuple[Asked, ...]:
        """All settings of the form, including the rarely needed ones."""
        return (*self.asked, *self.more)


def forms(platforms: Sequence[Platform[Any]]) -> dict[str, Form]:
    """Return the forms of the *Connect* pages by name: those of the models, then one for each platform."""
    models = {form.name: form for form in (_model(), *map(_role, ROLES))}
    return {**models, **{platform.name: _chat(platform) for platform in platforms}}


def has_secret(settings: Settings, field: str) -> bool:
    """Return whether the secret setting with this name is set."""
    value = getattr(settings, field)
    return isinstance(value, SecretStr) and bool(value.get_secret_value())


def typed(settings: Settings, field: str) -> str:
    """Return the value of a setting as it would be typed; "" for a secret, or if it is not set."""
    value = getattr(settings, field)
    if isinstance(value, SecretStr) or value is None:
        return ""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)


def kind_of(settings: Settings, field: str) -> str:
    """Return the kind of input for a setting: "secret", "switch", "list" or "text"."""
    value = getattr(settings, field)
    kinds = ((SecretStr, "secret"), (bool, "switch"), (tuple, "list"))
    return next((kind for form, kind in kinds if isinstance(value, form)), "text")


def _model() -> Form:
    return Form(
        MODEL,
        lambda: say("setup.title.model"),
        lambda: say("setup.about.model"),
        (
            Asked(ADDRESS, lambda: say("setup.ask.vlm_base_url")),
            Asked(KEY, lambda: say("setup.ask.vlm_api_key"), secret=True),
            Asked("vlm_model", lambda: say("setup.ask.vlm_model")),
        ),
        model.findings,
        lambda settings: not model_settings(settings).offline,
        endpoint=_endpoint("vlm"),
        more=tuple(map(_how, HOW)),
    )


def _how(field: str) -> Asked:
    return Asked(field, lambda: say(f"connect.how.{field}"))


_CHECKS: Final[Mapping[str, Callable[[Settings], Awaitable[list[Finding]]]]] = {
    "vlm_fallback": partial(model.of_role, role="fallback"),
    "basic": partial(model.of_role, role="basic"),
    "reasoning": partial(model.of_role, role="reasoning"),
    "embed": model.embedding,
    "transcribe": model.transcription,
}
"""The check for each of ROLES."""


def _role(name: str) -> Form:
    """Return the form for a role that can have an endpoint of its own."""
    of = _endpoint(name)
    needed = (of.address, of.model) if name in {"vlm_fallback", "basic", "reasoning"} else (of.address, of.key)

    def is_set(settings: Settings) -> bool:
        return any(has_secret(settings, field) or typed(settings, field) for field in needed)

    return Form(
        name,
        lambda: say(f"connect.role.{name}"),
        lambda: say(f"connect.role.{name}_about"),
        (
            Asked(of.address, lambda: say("setup.ask.vlm_base_url")),
            Asked(of.key, lambda: say("setup.ask.vlm_api_key"), secret=True),
            Asked(of.model, lambda: say("setup.ask.vlm_model")),
        ),
        _CHECKS[name],
        is_set,
        endpoint=of,
    )


def _chat(platform: Platform[Any]) -> Form:
    lists = (
        (platform.lists.guilds, lambda: say("connect.list.guilds")),
        (platform.lists.chats, lambda: say("connect.list.chats")),
    )
    known = {one.field for one in platform.asked}
    more = [Asked(field, prompt) for field, prompt in lists if field and field not in known]
    return Form(
        platform.name,
        lambda: platform.title,
        platform.about,
        (*platform.asked, *more, Asked("pairing", lambda: say("connect.pairing"))),
        partial(chats.of_one, platform=platform),
        platform.is_set,
        platform,
    )
