"""The settings, read from the environment, systemd credentials and a `.env` file; `.env.example` lists them all. They
also say where the record (the service's stored data) is kept.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache, reduce
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal

from dotenv import dotenv_values
from pydantic import (
    Field,
    PrivateAttr,
    SecretStr,
    ValidationError,
    ValidationInfo,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from bot.config.forms import (
    BaseUrl,
    DatabaseUrl,
    Host,
    Names,
    Pairs,
    PhoneNames,
    Port,
    Prices,
    ProxyUrl,
    Servers,
    Tiers,
    Url,
    Zone,
    cleaned,
)
from bot.config.installation import lack_of, places
from bot.domain.limits import KEEP_DAYS, KEEP_GIGABYTES, KEEP_TASKS_DAYS
from bot.texts import say, words
from devices.extras import Extra, is_installed
from devices.wording import Words

_OURS: Final = frozenset({"", "auto", "en", "zh"})
_LOCALES: Final = re.compile(r"[A-Za-z]{2,3}([_-][A-Za-z0-9]+)*([.@][\w-]+)*(:[\w.@-]*)*")

logger = logging.getLogger(__name__)

LEAST_WINDOW: Final = 1_024
"""Least context window in tokens; no usable model has a smaller one."""
ADB_PORT: Final = 5037
"""Port of an adb server unless ANDROID_ADB_SERVER_PORT sets another."""


class Environment(EnvSettingsSource):
    """The environment as a source of settings. It ignores a LANGUAGE that is GNU gettext's list of locales, such as
    "en_US:en", because desktops set that for every program.

    https://www.gnu.org/software/gettext/manual/html_node/The-LANGUAGE-variable.html
    """

    def __call__(self) -> dict[str, Any]:
        """Return the settings in the environment."""
        found = super().__call__()
        value = str(found.get("language", "")).strip()
        if value.lower() not in _OURS and _LOCALES.fullmatch(value):
            del found["language"]
        return found


def readable(env_file: Path | None) -> Path | None:
    """Return the `.env` file, or None if this user may not read it. A system service gets its settings from its unit,
    and a `.env` may be private to its owner.
    """
    try:
        if env_file is not None:
            env_file.open("rb").close()
    except PermissionError:
        logger.warning("%s belongs to another user and is ignored; only the environment is used.", env_file)
        return None
    except OSError:
        pass  # there is none
    return env_file


def misspelt(env_file: Path, names: Iterable[str]) -> dict[str, str]:
    """Return the names in the file that are no settings but resemble one, each with the setting that it resembles most.

    A name that resembles none may belong to another program that reads the same file. Raises UnicodeDecodeError.
    """
    known = sorted(name.upper() for name in names)
    written = [name.upper() for name in dotenv_values(env_file, encoding="utf-8-sig", interpolate=False)]
    near = {name: get_close_matches(name, known, n=1, cutoff=0.75) for name in written if name not in known}
    return {name: found[0] for name, found in near.items() if found}


def credentials(names: Iterable[str]) -> dict[str, str]:
    """Return the systemd credentials with these names and their contents. Raises OSError or UnicodeDecodeError for an
    unreadable file.
    """
    folder = os.environ.get("CREDENTIALS_DIRECTORY", "")
    files = {name: Path(folder) / name for name in names} if folder else {}
    return {name: file.read_text(encoding="utf-8-sig") for name, file in files.items() if file.is_file()}


class SettingsError(Exception):
    """A setting or a settings file cannot be used. The text says which one and why, but never contains a secret."""


def _local_adb() -> tuple[tuple[str, int], ...]:
    port = str(cleaned(os.environ.get("ANDROID_ADB_SERVER_PORT", "")))
    if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise SettingsError(_bad("android_adb_server_port", "port"))
    return (("127.0.0.1", int(port) if port else ADB_PORT),)


_EXPECTED: Final[Mapping[str, str]] = {
    "vlm_base_url": "url",
    "vlm_fallback_base_url": "url",
    "basic_base_url": "url",
    "reasoning_base_url": "url",
    "embed_base_url": "url",
    "transcribe_base_url": "url",
    "transcribe_price": "zero_or_more",
    "vlm_api": "vlm_api",
    "vlm_image_window": "positive",
    "vlm_pictures": "vlm_pictures",
    "vlm_fallback_image_window": "positive",
    "vlm_fallback_pictures": "vlm_pictures",
    "vlm_fallback_api": "vlm_api",
    "vlm_timeout": "above_zero",
    "vlm_context": "context",
    "basic_context": "context",
    "reasoning_context": "context",
    "prices": "prices",
    "tiers": "tiers",
    "default_tier": "default_tier",
    "adb_servers": "servers",
    "phone_names": "phone_names",
    "app_aliases": "app_aliases",
    "virtual_phones": "virtual_phones",
    "fast_lane": "fast_lane",
    "fleet_url": "fleet_url",
    "database_url": "database",
    "console_port": "port",
    "console_url": "url",
    "search_before_planning": "yes_no",
    "deep_thinking": "yes_no",
    "web_tools": "yes_no",
    "searxng_url": "url",
    "web_proxy": "proxy",
    "webhook_hosts": "servers",
    "workshop": "workshop",
    "pairing": "yes_no",
    "max_steps": "positive",
    "max_minutes": "above_zero",
    "max_tokens": "positive",
    "cost_currency": "currency",
    "max_cost": "above_zero",
    "guard": "guard",
    "stream_steps": "stream_steps",
    "language": "language",
    "time_zone": "time_zone",
    "log_level": "log_level",
    "log_format": "log_format",
    "otlp_endpoint": "url",
    "keep_days": "above_zero",
    "keep_gigabytes": "above_zero",
    "keep_tasks_days": "above_zero",
}


class Settings(BaseSettings):
    """All settings of the service. An empty or blank value counts as not set.

    A chat platform adds its own in a subclass; `settings_of` combines them.
    """

    EXPECTED: ClassVar[Mapping[str, str]] = _EXPECTED
    """For each field of this class, what was expected, as a key below `settings.expected`."""

    model_config = SettingsConfigDict(
        env_file_encoding="utf-8-sig",
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        case_sensitive=False,
        # Only the model class that is actually used gets built.
        defer_build=True,
    )

    _file: Path | None = PrivateAttr(default=None)

    vlm_api_key: SecretStr = SecretStr("")
    vlm_base_url: BaseUrl = ""
    vlm_model: str = ""
    vlm_dialect: str = "auto"
    vlm_image_window: Annotated[int, Field(ge=1)] | None = None
    vlm_pictures: Literal["auto", "always", "never"] = "auto"
    vlm_api: Literal["chat", "responses", "auto"] = "chat"
    vlm_timeout: Annotated[float, Field(gt=0, le=3600)] = 120
    vlm_context: Annotated[int, Field(ge=LEAST_WINDOW)] | None = None
    vlm_fallback_api_key: SecretStr = SecretStr("")
    vlm_fallback_base_url: BaseUrl = ""
    vlm_fallback_model: str = ""
    vlm_fallback_dialect: str = "auto"
    vlm_fallback_image_window: Annotated[int, Field(ge=1)] | None = None
    vlm_fallback_pictures: Literal["auto", "always", "never"] = "auto"
    vlm_fallback_api: Literal["chat", "responses", "auto"] | None = None
    prices: Prices = Field(default_factory=dict)
    basic_api_key: SecretStr = SecretStr("")
    basic_base_url: BaseUrl = ""
    basic_model: str = ""
    basic_context: Annotated[int, Field(ge=LEAST_WINDOW)] | None = None
    reasoning_api_key: SecretStr = SecretStr("")
    reasoning_base_url: BaseUrl = ""
    reasoning_model: str = ""
    reasoning_context: Annotated[int, Field(ge=LEAST_WINDOW)] | None = None
    embed_api_key: SecretStr = SecretStr("")
    embed_base_url: BaseUrl = ""
    embed_model: str = "text-embedding-3-small"
    transcribe_api_key: SecretStr = SecretStr("")
    transcribe_base_url: BaseUrl = ""
    transcribe_model: str = "whisper-1"
    transcribe_price: Annotated[float | None, Field(ge=0, allow_inf_nan=False)] = None

    adb_servers: Servers = Field(default_factory=_local_adb)
    android_serials: Names = ()
    phone_names: PhoneNames = Field(default_factory=dict)
    app_aliases: Pairs = Field(default_factory=dict)
    virtual_phones: Literal["auto"] | Annotated[int, Field(ge=0)] = "auto"
    fast_lane: Literal["auto", "off"] = "auto"

    fleet_url: Annotated[str, Field(max_length=300, pattern=r"^((nats|tls|ws|wss)://\S+)?$")] = ""

    data_dir: Path = Field(default_factory=lambda: places().data)
    database_url: DatabaseUrl = SecretStr("")
    console_host: Host = "127.0.0.1"
    console_port: Port = 8765
    console_url: Url = ""
    console_password: SecretStr = SecretStr("")
    knowledge_dir: Path | None = None
    search_before_planning: bool = True
    deep_thinking: bool = False
    web_tools: bool = True
    searxng_url: Url = ""
    tavily_api_key: SecretStr = SecretStr("")
    web_proxy: ProxyUrl = SecretStr("")
    webhook_hosts: Servers = ()
    workshop: Annotated[str, Field(max_length=100, pattern=r"^(auto|off|/\S+)$")] = "auto"
    max_steps: Annotated[int, Field(ge=1)] = 60
    max_minutes: Annotated[float, Field(gt=0)] | None = 120
    max_tokens: Annotated[int, Field(ge=1)] | None = 2_000_000
    cost_currency: Annotated[str, Field(max_length=8, pattern=r"^\S*$")] = ""
    max_cost: Annotated[float, Field(gt=0)] | None = None
    tiers: Tiers = Field(default_factory=dict)
    default_tier: str = ""
    stream_steps: Literal["threads", "all", "none"] = "threads"
    time_zone: Zone = ""
    language: Literal["auto", "en", "zh"] = "auto"
    policy_file: Path | None = None
    guard: Literal["auto", "rules", "strict"] = "auto"
    pairing: bool = False
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["text", "json"] = "text"
    otlp_endpoint: Url = ""
    keep_days: Annotated[float, Field(gt=0)] = KEEP_DAYS
    keep_gigabytes: Annotated[float, Field(gt=0)] = KEEP_GIGABYTES
    keep_tasks_days: Annotated[float, Field(gt=0)] = KEEP_TASKS_DAYS

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Use pydantic's sources, with an environment that ignores other programs' LANGUAGE."""
        del env_settings, file_secret_settings
        return init_settings, Environment(settings_cls), dotenv_settings

    @model_validator(mode="before")
    @classmethod
    def _without_blanks(cls, values: dict[str, Any]) -> dict[str, Any]:
        read = {name: cleaned(value) for name, value in values.items()}
        if isinstance(level := read.get("log_level"), str):
            read["log_level"] = level.upper()
        return {name: value for name, value in read.items() if value != ""}

    @property
    def file(self) -> Path:
        """The file named as the source of the settings, or the default one; it may not exist."""
        return self._file or places().settings

    @field_validator("default_tier")
    @classmethod
    def _defined(cls, name: str, info: ValidationInfo) -> str:
        # If the tiers are invalid, that error is already reported.
        if name and name not in info.data.get("tiers", {name: None}):
            raise ValueError("a tier that is not defined")
        return name


@cache
def settings_of(parts: tuple[type[Settings], ...]) -> type[Settings]:
    """Return a settings class that combines the service's settings with those of each part, such as a chat platform."""
    return create_model("Settings", __base__=parts, __module__=__name__) if parts else Settings


def secret_names(model: type[Settings]) -> tuple[str, ...]:
    """Return the names of the settings that are secret."""
    return tuple(name for name, field in model.model_fields.items() if field.annotation is SecretStr)


def problem_of(model: type[Settings], field: str, value: str) -> str:
    """Return why a setting cannot have this value, "" if it can."""
    try:
        model.model_validate({field: value})
    except ValidationError:
        return _bad(field, _expected(model, field))
    return ""


def changed(settings: Settings, values: Mapping[str, object]) -> Settings:
    """Return a copy of the settings with some values replaced, validated as at the start. Raises SettingsError."""
    before = {name: getattr(settings, name) for name in settings.model_fields_set}
    try:
        return settings.model_validate(before | dict(values))
    except ValidationError as error:
        raise SettingsError(_complaints(type(settings), error)) from None


def _complaints(model: type[Settings], error: ValidationError) -> Words:
    """One line for each invalid setting."""
    names = sorted({str(problem["loc"][0]) for problem in error.errors(include_input=False, include_url=False)})
    lines = (_bad(name, _expected(model, name)) for name in names)
    return reduce(lambda above, line: words("settings.lines", above=above, line=line), lines)


def _expected(model: type[Settings], field: str) -> str:
    parts = (part.EXPECTED for part in model.__mro__ if issubclass(part, Settings))
    return next((part[field] for part in parts if field in part), "text")


def _bad(field: str, expected: str) -> Words:
    return words("settings.bad", name=field.upper(), expected=words(f"settings.expected.{expected}"))


def _tell_misspelt(env_file: Path | None, model: type[Settings]) -> None:
    for name, near in (misspelt(env_file, model.model_fields) if env_file is not None else {}).items():
        logger.warning("%s", say("settings.misspelt", name=name, file=env_file, near=near))


def load_settings(env_file: Path | None, model: type[Settings] = Settings) -> Settings:
    """Read the settings of this model (see `settings_of`). The environment overrides the file, which may be missing,
    and credentials override both.

    Raises SettingsError with one line for each invalid setting.
    """
    where: dict[str, Any] = {
        "_env_file": readable(env_file)
    }  # the parameter is unknown to type checkers without a plugin
    try:
        where |= {name.lower(): value for name, value in credentials(map(str.upper, secret_names(model))).items()}
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else error.reason
        raise SettingsError(words("settings.bad_credential", reason=reason)) from None
    try:
        _tell_misspelt(where["_env_file"], model)
        settings = model(**where)
    except ValidationError as error:
        raise SettingsError(_complaints(model, error)) from None
    except UnicodeDecodeError:
        raise SettingsError(words("settings.not_text", file=env_file)) from None
    settings._file = env_file  # noqa: SLF001 - its own
    return settings


def record_url(settings: Settings) -> str:
    """Return the address of the PostgreSQL database, "" for SQLite. Raises SettingsError if the extra for PostgreSQL is
    not installed.
    """
    url = settings.database_url.get_secret_value()
    if url and not is_installed(Extra.POSTGRESQL):
        raise SettingsError(words("extra.setting", setting="DATABASE_URL", why=lack_of(Extra.POSTGRESQL)))
    return url
