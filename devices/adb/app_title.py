"""What the app in front is called, at once: from memory, while the phone is asked for it beside the work."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from devices.adb.app_names import usual_name
from devices.adb.apps import Apps
from devices.app_titles import readable
from devices.errors import PhoneError

logger = logging.getLogger(__name__)


class Titles:
    """Labels of one phone's apps for people to read. Nothing waits for them, and only a run makes them be asked for."""

    def __init__(self, apps: Apps) -> None:
        self._apps = apps
        self._open = False
        self._asked: set[str] = set()
        self._learning: asyncio.Task[None] | None = None

    def begin(self) -> None:
        """A run begins: each app that it meets is asked for once, as language and version may be others now."""
        self._open = True
        self._asked.clear()

    async def end(self) -> None:
        """The run is over, or the phone goes: nothing is asked any more."""
        self._open = False
        learning, self._learning = self._learning, None
        if learning is not None:
            learning.cancel()
            await asyncio.wait({learning})

    def of(self, package: str) -> str:
        """The label as last told, else a usual or readable name; "" for no app."""
        return self._apps.label(package) or usual_name(package) or readable(package)

    def met(self, package: str) -> None:
        """An app came to the front; its label is asked for in the background, one app at a time."""
        busy = self._learning is not None and not self._learning.done()
        if not self._open or busy or not package or package in self._asked:
            return
        self._asked.add(package)
        self._learning = asyncio.create_task(self._learn(package), name=f"label of {package}")

    async def _learn(self, package: str) -> None:
        try:
            await self._apps.learn(package)
        except PhoneError as lost:
            logger.debug("the label of %s was not told: %s", package, lost)
            with contextlib.suppress(KeyError):
                self._asked.remove(package)
