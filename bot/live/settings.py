"""The settings of this moment: the environment's, and what admins have set on top of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping

from bot.chats.address import Person
from bot.live.names import UnknownSetting, composed, known, value_of
from bot.settings import Settings, SettingsError
from bot.store.audit import AuditKind
from bot.store.changes import Change
from bot.store.connection import Transaction
from bot.store.store import Store
from bot.texts import words
from devices.wording import sentence_of

logger = logging.getLogger(__name__)


class LiveSettings:
    """Holds the settings of this moment; they are replaced whole. Ask for `now` at each use, and keep it nowhere."""

    def __init__(self, base: Settings, store: Store) -> None:
        self.base = base
        """What the environment says."""
        self._store = store
        self._now = base
        self._changes: dict[str, Change] = {}
        self._unusable: dict[str, str] = {}
        self._listeners: list[Callable[[Settings], None]] = []
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, base: Settings, store: Store) -> LiveSettings:
        """The settings of the environment with what was set before. What cannot be used (any more) is left out.

        Raises StoreError.
        """
        live = cls(base, store)
        live._changes = {change.name: change for change in await store.changes.all()}
        live._now, live._unusable = overlaid(base, live._changes)
        for name, why in live._unusable.items():
            logger.error("What was set for %s while the service ran is not used: %s", name, why)
        return live

    @property
    def now(self) -> Settings:
        """What holds now."""
        return self._now

    @property
    def changes(self) -> Mapping[str, Change]:
        """What was set while the service ran, by name, whether it can be used or not."""
        return self._changes

    @property
    def unusable(self) -> Mapping[str, str]:
        """What of it is left out, and why."""
        return self._unusable

    def on_change(self, listener: Callable[[Settings], None]) -> None:
        """Call `listener` with the settings after each change."""
        self._listeners.append(listener)

    async def set(self, name: str, text: str, by: Person) -> tuple[str, str]:
        """Change a setting from now on. Returns the old and the new value as they can be typed.

        Raises UnknownSetting or SettingsError; then nothing was changed. Raises StoreError.
        """
        name = known(name)
        async with self._turn:
            return await self._put(name, {**self._texts(), name: text}, text, by)

    async def take_back(self, name: str, by: Person) -> tuple[str, str]:
        """What the environment says holds again. Returns the old and the new value. Raises as `set` does."""
        name = known(name)
        async with self._turn:
            texts = {other: text for other, text in self._texts().items() if other != name}
            return await self._put(name, texts, None, by)

    def _texts(self) -> dict[str, str]:
        """What is used now of what was set."""
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
        self._changes = {change.name: change for change in await self._store.changes.all()}
        self._now, self._unusable = overlaid(self.base, self._changes)
        for listener in self._listeners:
            listener(self._now)
        logger.info("The setting %s was changed by %s:%s.", name, by.platform, by.id)
        return old, new


def overlaid(base: Settings, changes: Mapping[str, Change]) -> tuple[Settings, dict[str, str]]:
    """The settings with all changes that can be used, and why each of the others cannot."""
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
