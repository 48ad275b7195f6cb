"""Keeps phones on the network connected: adb forgets them with every restart, and gives up on one that is away."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence

from devices.adb import host
from devices.adb.server import ServerAddress
from devices.errors import PhoneError

logger = logging.getLogger(__name__)

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds before a phone that is away is dialled again, doubled each time: a phone may be off for the night.
While somebody waits for it the pauses do not grow: a run does so for seconds only, and each one counts."""

DIAL_SECONDS = 3.0
"""For one dial through one server: adb itself waits ten for an address that is silent, which may answer the next."""


class Dialling:
    """Dials named serials (`host:port`) until `there` says that a server has them, each on its own.

    The servers are tried in order; the first that reaches the phone keeps it.
    """

    def __init__(self, servers: Sequence[ServerAddress], there: Callable[[str], bool]) -> None:
        self._servers = tuple(servers)
        self._there = there
        self._serials: dict[str, asyncio.Event] = {}
        self._awaited = Counter[str]()
        self._running: list[asyncio.Task[None]] = []

    def expect(self, serial: str) -> None:
        """Dials this one, too; before `start`."""
        self._serials[serial] = asyncio.Event()

    def start(self) -> None:
        """Begins."""
        self._running = [
            asyncio.create_task(self._keep(serial, news), name=f"dialling {serial}")
            for serial, news in self._serials.items()
        ]

    async def stop(self) -> None:
        """Ends; what is connected stays connected."""
        for each in self._running:
            each.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running = []

    def lost(self, serial: str) -> None:
        """A server does not list this phone any more: it is dialled soon, not after the long pause of a dark night."""
        if (news := self._serials.get(serial)) is not None:
            news.set()

    @contextlib.contextmanager
    def awaited(self, serials: Collection[str]) -> Iterator[None]:
        """While this is open these are dialled every second, as far as they are dialled at all."""
        for serial in serials:
            self._awaited[serial] += 1
            self.lost(serial)
        try:
            yield
        finally:
            self._awaited.subtract(serials)

    async def _keep(self, serial: str, news: asyncio.Event) -> None:
        pause = FIRST_PAUSE
        while True:
            if not self._there(serial):
                await self._dial(serial)
            news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FIRST_PAUSE if self._awaited[serial] else pause):
                    await news.wait()
            if news.is_set():
                # The loss is told first (see following.DEBOUNCE), so that another link to the phone is used.
                await asyncio.sleep(FIRST_PAUSE)
            pause = FIRST_PAUSE if news.is_set() or self._awaited[serial] else min(LONGEST_PAUSE, pause * 2)

    async def _dial(self, serial: str) -> None:
        for address in self._servers:
            try:
                async with asyncio.timeout(DIAL_SECONDS):
                    if await host.connect(address, serial):
                        return
            except TimeoutError:
                logger.info("%s could not be dialled within %.0f s", serial, DIAL_SECONDS)
            except PhoneError as failed:
                logger.info("%s could not be dialled: %s", serial, failed)
