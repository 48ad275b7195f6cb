"""The table of buttons in apps that an independent model has judged harmless to press. No screen text is stored in
it.
"""

from __future__ import annotations

import logging
from typing import Final

from sqlalchemy import bindparam, delete, select

from agent.guards.press_verdicts import KeptVerdict
from bot.store.codec import Codec
from bot.store.connection import Database
from bot.store.engine import upsert
from bot.store.errors import StoreError
from bot.store.tables.metadata import Time
from bot.store.tables.phones import press_verdicts

logger = logging.getLogger(__name__)

_VERDICT: Final = Codec(KeptVerdict, press_verdicts)
_SINCE: Final = bindparam("since", type_=Time)
_ALL: Final = select(press_verdicts).where(press_verdicts.c.at >= _SINCE).order_by(press_verdicts.c.at.desc())
_OLD: Final = delete(press_verdicts).where(press_verdicts.c.at < _SINCE)
_KEEP: Final = upsert(press_verdicts, press_verdicts.c.keys())
_CLEAR: Final = delete(press_verdicts)


class PressVerdictTable:
    """The table of such verdicts. Implements `agent.guards.press_verdicts.PressVerdicts`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self, since: float) -> tuple[KeptVerdict, ...]:
        """Return the verdicts made at or after `since` (Unix seconds), the latest first, and delete older ones. Raises
        StoreError.
        """
        await self._database.execute(_OLD, {"since": since})
        return _VERDICT.read_all(await self._database.fetch(_ALL, {"since": since}))

    async def keep(self, verdict: KeptVerdict) -> None:
        """Store a verdict, replacing an older one with the same key. A failure is only logged: the model is then asked
        again later.
        """
        try:
            await self._database.execute(_KEEP, _VERDICT.values(verdict))
        except StoreError as error:
            logger.info("a verdict is not kept: %s", error)

    async def clear(self) -> None:
        """Delete all stored verdicts. Raises StoreError."""
        await self._database.execute(_CLEAR)
