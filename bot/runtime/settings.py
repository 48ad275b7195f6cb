"""Holds the current settings: those of the environment, those of the settings file where the environment sets nothing,
and on top of them the changes that admins made by command.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import SecretStr

from bot.config.endpoints import dialect_of
from bot.config.settings import Settings, SettingsError, changed
from bot.config.settings_file import ADDRESSES, FILED, SettingsFile, is_decided, with_file
from bot.domain.address import Person
from bot.domain.limits import QUOTAS
from bot.store.audit import AuditKind
from bot.store.database import Transaction
from bot.store.setting_changes import Change
from bot.store.store import Store
from bot.texts import say, words
from devices.wording import sentence_of

logger = logging.getLogger(__name__)


FIELDS: Final[Mapping[str, str]] = {
    "model": "vlm_model",
    "basic_model": "basic_model",
    "reasoning_model": "reasoning_model",
    "dialect": "vlm_dialect",
    "image_window": "vlm_image_window",
    "deep_thinking": "deep_thinking",
    "max_steps": "max_steps",
    "max_minutes": "max_minutes",
    "max_tokens": "max_tokens",
    "max_cost": "max_cost",
    "default_tier": "default_tier",
}
"""The names that can be typed, with their settings. No secret and no address is among them, so that none can be set or
shown.
"""
_TIER: Final = re.compile(rf"tier\.(?P<tier>[a-z][a-z0-9_-]*)\.(?P<quota>{'|'.join(QUOTAS)})")
NOTHING: Final = "none"
"""Typed as the value of a quota that is not to be limited."""


class UnknownSetting(Exception):
    """No setting with this name can be changed while the service runs."""


def known(name: str) -> str:
    """Return the name under which a setting is stored, for a name as typed: `VLM_MODEL` and `Model` are `model`. Raises
    UnknownSetting.
    """
    plain = name.strip().lower()
    for short, field in FIELDS.items():
        if plain in {short, field}:
            return short
    if _TIER.fullmatch(plain):
        return plain
    raise UnknownSetting(name)


def names_of(settings: Settings) -> tuple[str, ...]:
    """Return the names of all settings that can be changed, including the quotas of the defined tiers."""
    tiers = (f"tier.{tier}.{quota}" for tier in settings.tiers for quota in QUOTAS)
    return (*FIELDS, *tiers)


def value_of(settings: Settings, name: str) -> str:
    """Return the value of the setting with this name as text for people, in the current language."""
    if found := _TIER.fullmatch(name):
        tier = settings.tiers.get(found["tier"])
        value = None if tier is None else getattr(tier, found["quota"])
    else:
        value = getattr(settings, FIELDS[name])
    if isinstance(value, bool):
        return say(f"set.value.{'yes' if value else 'no'}")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return say("set.value.none") if value in {None, ""} else str(value)


def is_set(base: Settings, name: str) -> bool:
    """Return whether the settings `base` contain the setting with this name, so that it does not have its default."""
    if found := _TIER.fullmatch(name):
        return found["tier"] in base.tiers and getattr(base.tiers[found["tier"]], found["quota"]) is not None
    return FIELDS[name] in base.model_fields_set


def composed(base: Settings, values: Mapping[str, str]) -> Settings:
    """Return the settings `base` with these values, by the names that can be typed, in place of their own. They are
    validated like those of the environment.

    Raises SettingsError, with the same text that a start with these settings would end with.
    """
    tiers: dict[str, Any] = {name: tier.model_dump(exclude_none=True) for name, tier in base.tiers.items()}
    fields: dict[str, Any] = {}
    for name, text in values.items():
        if found := _TIER.fullmatch(name):
            tiers.setdefault(found["tier"], {})[found["quota"]] = _number(text)
        else:
            fields[FIELDS[name]] = text
    if any(name not in FIELDS for name in values):
        fields["tiers"] = tiers
    settings = changed(base, fields)
    dialect_of(settings)
    return settings


def _number(text: str) -> object:
    """Convert a quota as typed to its form in TIERS: a number, or None for no limit. Other text is returned unchanged,
    so that the validation reports it.
    """
    if text.lower() == NOTHING:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, int | float) else text


class RuntimeSettings:
    """Holds the current settings, which are replaced as a whole. Read `now` for each use instead of keeping it."""

    def __init__(self, environment: Settings, store: Store, fields: Collection[str]) -> None:
        self.environment = environment
        """The settings of the environment alone."""
        self.base = environment
        """The settings of the environment, with those of the settings file where it sets nothing."""
        self.left_out: Mapping[str, str] = {}
        """The entries of the settings file that cannot be used, with the reason."""
        self._file = SettingsFile(environment.data_dir)
        self._fields = fields
        self._filed: dict[str, str] = {}
        self._store = store
        self._now = environment
        self._changes: dict[str, Change] = {}
        self._unusable: dict[str, str] = {}
        self._listeners: list[Callable[[Settings], None]] = []
        self._followers: list[Callable[[Settings], Awaitable[None]]] = []
        self._lock = asyncio.Lock()

    @classmethod
    async def open(cls, environment: Settings, store: Store, fields: Collection[str] = FILED) -> RuntimeSettings:
        """Load the settings: those of the environment, and the changes that admins made before. Changes that cannot be
        used are left out. `fields` are the settings that the settings file may contain.

        Raises StoreError, and SettingsError for a settings file that cannot be read.
        """
        live = cls(environment, store, fields)
        live._filed = await asyncio.to_thread(live._file.read)
        live.base, live.left_out = with_file(environment, live._filed, fields)
        for name, why in live.left_out.items():
            logger.error("%s of %s is not used: %s", name.upper(), live._file.path, why)
        await live._hold()
        for name, why in live._unusable.items():
            logger.error("The value set for %s at run time is ignored: %s", name, why)
        return live

    @property
    def now(self) -> Settings:
        """The current settings."""
        return self._now

    @property
    def changes(self) -> Mapping[str, Change]:
        """The settings that were changed by command, by name, including those that cannot be used."""
        return self._changes

    @property
    def unusable(self) -> Mapping[str, str]:
        """The settings changed by command that cannot be used, with the reason."""
        return self._unusable

    def on_change(self, listener: Callable[[Settings], None]) -> None:
        """Call `listener` with the settings after each change."""
        self._listeners.append(listener)

    def follow(self, follower: Callable[[Settings], Awaitable[None]]) -> None:
        """Await `follower` with the new settings after each change of the settings file."""
        self._followers.append(follower)

    def is_fixed(self, field: str) -> bool:
        """Return whether the environment decides this setting, so that the settings file cannot change it."""
        return is_decided(self.environment, field)

    def tried(self, values: Mapping[str, str]) -> Settings:
        """Return the settings as they would be with these values in the settings file; "" removes a value. Nothing is
        changed. Raises SettingsError.
        """
        return self._tried(values)[0]

    async def write_file(self, values: Mapping[str, str], by: Person) -> None:
        """Store these values in the settings file and use them from now on; "" removes a setting from the file. Changes
        of the same settings by command are discarded, because the latest change counts.

        Raises SettingsError for a value that cannot be used or that the environment decides, OSError or StoreError;
        then nothing was changed.
        """
        async with self._lock:
            now, filed = self._tried(values)
            again = {short for short, field in FIELDS.items() if field in values} & self._changes.keys()
            detail = "; ".join(_written(name.upper(), getattr(self._now, name), getattr(now, name)) for name in values)

            async def work(transaction: Transaction) -> None:
                for name in again:
                    await self._store.changes.forget(transaction, name)
                await self._store.audit.add(transaction, AuditKind.SETTING, by, detail=detail)

            await asyncio.to_thread(self._file.write, filed)
            try:
                await self._store.write(work)
            except BaseException:
                await asyncio.to_thread(self._file.write, self._filed)
                raise
            self._filed = filed
            self.base, self.left_out = with_file(self.environment, filed, self._fields)
            await self._hold()
            for follower in self._followers:
                await follower(self._now)
        logger.info("Settings were written by %s:%s: %s", by.platform, by.id, ", ".join(map(str.upper, values)))

    def _tried(self, values: Mapping[str, str]) -> tuple[Settings, dict[str, str]]:
        """Return the settings as they would be, and the values as they would be in the file."""
        if fixed := [name.upper() for name in values if self.is_fixed(name)]:
            raise SettingsError(words("settings.fixed", names=", ".join(fixed)))
        filed = {name: value for name, value in {**self._filed, **values}.items() if value}
        for key, address in ADDRESSES.items():
            if values.get(key) and self.is_fixed(address):
                # The key's address is stored with it, because the environment may name another address one day.
                filed[address] = getattr(self.environment, address)
        base, left_out = with_file(self.environment, filed, self._fields)
        for name in values:
            if name in left_out:
                raise SettingsError(left_out[name])
        again = {short for short, field in FIELDS.items() if field in values}
        kept = {name: change for name, change in self._changes.items() if name not in again}
        return overlaid(base, kept)[0], filed

    async def set(self, name: str, text: str, by: Person) -> tuple[str, str]:
        """Change a setting by command from now on. `text` is the value as typed. Returns the old and the new value as
        text for people.

        Raises UnknownSetting, SettingsError or StoreError; then nothing was changed.
        """
        name = known(name)
        async with self._lock:
            return await self._put(name, {**self._texts(), name: text}, text, by)

    async def take_back(self, name: str, by: Person) -> tuple[str, str]:
        """Discard the change of a setting by command, so that the environment or the settings file decides again.
        Returns the old and the new value. Raises what `set` raises.
        """
        name = known(name)
        async with self._lock:
            texts = {other: text for other, text in self._texts().items() if other != name}
            return await self._put(name, texts, None, by)

    def _texts(self) -> dict[str, str]:
        """Return the usable changes by command, by name."""
        return {name: change.value for name, change in self._changes.items() if name not in self._unusable}

    async def _put(self, name: str, texts: Mapping[str, str], text: str | None, by: Person) -> tuple[str, str]:
        settings = composed(self.base, texts)
        old, new = value_of(self._now, name), value_of(settings, name)

        async def work(transaction: Transaction) -> None:
            if text is None:
                await self._store.changes.forget(transaction, name)
            else:
                await self._store.changes.keep(transaction, name, text, by)
            await self._store.audit.add(transaction, AuditKind.SETTING, by, detail=f"{name}: {old} → {new}")

        await self._store.write(work)
        await self._hold()
        logger.info("The setting %s was changed by %s:%s.", name, by.platform, by.id)
        return old, new

    async def _hold(self) -> None:
        self._changes = {change.name: change for change in await self._store.changes.all()}
        self._now, self._unusable = overlaid(self.base, self._changes)
        for listener in self._listeners:
            listener(self._now)


def _written(name: str, old: object, new: object) -> str:
    """Describe a changed setting for the audit: of a secret only that it was written or removed, of an address only the
    host.
    """
    if isinstance(old, SecretStr) and isinstance(new, SecretStr):
        return f"{name} {'written' if new.get_secret_value() else 'removed'}"
    return f"{name}: {_plain(old)} → {_plain(new)}"


def _plain(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or NOTHING
    text = str(value)
    return (urlsplit(text).hostname or NOTHING if "://" in text else text) or NOTHING


def overlaid(base: Settings, changes: Mapping[str, Change]) -> tuple[Settings, dict[str, str]]:
    """Return the settings `base` with all usable changes applied, and why each of the other changes cannot be used, by
    name.
    """
    texts: dict[str, str] = {}
    unusable: dict[str, str] = {}
    settings = base
    # Tiers before the default tier, which may be one of them.
    for name in sorted(changes, key=lambda name: (not name.startswith("tier."), name)):
        try:
            known(name)
            settings = composed(base, {**texts, name: changes[name].value})
        except UnknownSetting:
            unusable[name] = words("set.fixed")
        except SettingsError as error:
            unusable[name] = sentence_of(error)
        else:
            texts[name] = changes[name].value
    return settings, unusable
