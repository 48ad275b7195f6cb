"""Follows adb servers: reports phones that come and go, ignoring the brief changes of every reconnect.

Phones on the network are kept connected, because adb forgets them at every restart and gives up on absent ones.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence

from devices.adb import host
from devices.adb.links import ATTACHED, dialled
from devices.adb.server import ServerAddress, ensure_running
from devices.errors import PhoneError

FIRST_DIAL_PAUSE, LONGEST_DIAL_PAUSE = 1.0, 60.0
"""The first and longest pause in seconds before an absent phone is dialled again; the pause doubles each time, as a
phone may be off for the night. It does not grow while a run waits for the phone, which it does only for seconds.
"""

DIAL_SECONDS = 3.0
"""Seconds for one attempt through one server: adb waits ten for a silent address."""

logger = logging.getLogger(__name__)

DEBOUNCE = 0.7
"""Seconds that bad news of a link must last: adb briefly reports absent and offline at every reconnect."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""The first and longest pause in seconds before an absent server is asked again; the pause doubles each time."""

Link = tuple[ServerAddress, str]
"""An adb server, and the name of a phone there (see `serials`)."""


class Dialer:
    """Keeps phones on the network connected to an adb server, each independently, by their serials (`host:port`).

    `there` says whether any server has a phone already. The servers are tried in order; the first one that reaches the
    phone keeps it.
    """

    def __init__(self, servers: Sequence[ServerAddress], there: Callable[[str], bool]) -> None:
        self._servers = tuple(servers)
        self._there = there
        self._serials: dict[str, asyncio.Event] = {}
        self._awaited = Counter[str]()
        self._running: list[asyncio.Task[None]] = []

    def expect(self, serial: str) -> None:
        """Add a phone that is to be connected. Must be called before `start`."""
        self._serials[serial] = asyncio.Event()

    def start(self) -> None:
        """Start to connect the expected phones in the background."""
        self._running = [
            asyncio.create_task(self._keep(serial, loss), name=f"dialling {serial}")
            for serial, loss in self._serials.items()
        ]

    async def stop(self) -> None:
        """Stop connecting phones. Connected phones stay connected."""
        for each in self._running:
            each.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        self._running = []

    def lost(self, serial: str) -> None:
        """Report that a server no longer lists this phone, so that connecting is tried soon and not only after a long
        pause.
        """
        if (loss := self._serials.get(serial)) is not None:
            loss.set()

    @contextlib.contextmanager
    def awaited(self, serials: Collection[str]) -> Iterator[None]:
        """Context manager: until the block ends, pause only a second between attempts to connect these phones. Serials
        that were not given to `expect` are ignored.
        """
        for serial in serials:
            self._awaited[serial] += 1
            self.lost(serial)
        try:
            yield
        finally:
            self._awaited.subtract(serials)

    async def _keep(self, serial: str, loss: asyncio.Event) -> None:
        pause = FIRST_DIAL_PAUSE
        while True:
            if not self._there(serial):
                await self._dial(serial)
            loss.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FIRST_DIAL_PAUSE if self._awaited[serial] else pause):
                    await loss.wait()
            if loss.is_set():
                # The loss is reported first (see `DEBOUNCE`), so that another link to the phone is used.
                await asyncio.sleep(FIRST_DIAL_PAUSE)
            pause = FIRST_DIAL_PAUSE if loss.is_set() or self._awaited[serial] else min(LONGEST_DIAL_PAUSE, pause * 2)

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


class DeviceTracker:
    """Reports links to phones that appear (`attached`, at once) and those that are lost (`lost`, after a delay, with
    adb's word for the state).

    `attached` may take its time and is cancelled if the link disappears meanwhile. `lost` gets an empty state if the
    phone is no longer listed.
    """

    def __init__(
        self,
        servers: Sequence[ServerAddress],
        attached: Callable[[Link], Awaitable[None]],
        lost: Callable[[Link, str], None],
    ) -> None:
        self._servers = tuple(servers)
        self._on_attached = attached
        self._on_lost = lost
        self._reported: dict[Link, str] = {}
        self._pending: dict[Link, asyncio.Task[None]] = {}
        self._bad_since: dict[Link, float] = {}
        """When the bad news of a link began (monotonic seconds); more bad news does not restart the delay."""
        self._followers: list[asyncio.Task[None]] = []
        self._listed = {each: asyncio.Event() for each in self._servers}
        self._states: dict[ServerAddress, Mapping[str, str]] = {}
        """What each server listed last."""
        self._answering: set[ServerAddress] = set()
        self._networked: set[Link] = set()
        """Links over the network that worked once: they are connected again after a restart of their server."""
        self.dialer = Dialer(self._servers, self._there)
        """Keeps the expected phones on the network connected whenever no server has them."""

    def start(self) -> None:
        """Start to track the servers' phones in the background. Local adb servers that are not running are started."""
        self.dialer.start()
        self._followers = [asyncio.create_task(self._follow(each), name=f"adb {each}") for each in self._servers]

    async def stop(self) -> None:
        """Stop tracking; nothing more is reported."""
        await self.dialer.stop()
        tasks = [*self._followers, *self._pending.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._followers, self._pending = [], {}

    @property
    def away(self) -> tuple[ServerAddress, ...]:
        """The servers that do not answer at the moment."""
        return tuple(each for each in self._servers if each not in self._answering)

    async def listed(self) -> None:
        """Wait until each server has listed its phones or is known to be away."""
        for listed in self._listed.values():
            await listed.wait()

    async def wait_until_reported(self) -> None:
        """Wait until everything that was listed has been reported to `attached` or `lost`."""
        while self._pending:
            await asyncio.wait(self._pending.values())

    async def connect(self, link: Link) -> None:
        """Connect a phone on the network to its server now, and after every restart of the server. A failure is only
        logged.
        """
        self._networked.add(link)
        try:
            await host.connect(*link)
        except PhoneError as failed:
            logger.warning("%s could not be connected: %s", link[1], failed)

    async def disconnect(self, link: Link) -> None:
        """Disconnect a phone on the network from its server."""
        self._networked.discard(link)
        with contextlib.suppress(PhoneError):
            await host.ask(link[0], f"host:disconnect:{link[1]}")

    async def _follow(self, address: ServerAddress) -> None:
        pause = FIRST_PAUSE
        while True:
            connecting: asyncio.Task[None] | None = None
            try:
                await ensure_running(address)
                connecting = asyncio.create_task(self._connect_again(address))
                async with contextlib.aclosing(host.track(address)) as lists:
                    async for states in lists:
                        pause = FIRST_PAUSE
                        self._answering.add(address)
                        self._compare(address, states)
                        self._listed[address].set()
            except PhoneError as away:
                logger.warning("%s", away)
            finally:
                if connecting is not None:
                    connecting.cancel()
            self._answering.discard(address)
            self._compare(address, {})
            self._listed[address].set()
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)

    async def _connect_again(self, address: ServerAddress) -> None:
        """Reconnect phones on the network after a restart of their server, which forgets them."""
        await asyncio.gather(*(self.connect(link) for link in self._networked if link[0] == address))

    def _there(self, serial: str) -> bool:
        """Return whether a server has this phone; an offline one is dialled again, an unauthorized one counts."""
        return any(states.get(serial, "offline") != "offline" for states in self._states.values())

    def _compare(self, address: ServerAddress, states: Mapping[str, str]) -> None:
        """Compare a new list with what was last reported."""
        for serial in self._states.get(address, {}).keys() - states.keys():
            self.dialer.lost(serial)
        self._states[address] = states
        links = {(address, serial) for serial in states}
        links |= {link for link in (*self._reported, *self._pending) if link[0] == address}
        for link in links:
            state = states.get(link[1], "")
            pending = self._pending.pop(link, None)
            if pending is not None:
                pending.cancel()
            if state != self._reported.get(link, ""):
                self._pending[link] = asyncio.create_task(self._report(link, state))

    async def _report(self, link: Link, state: str) -> None:
        if state == ATTACHED:
            if dialled(link[1]):
                self._networked.add(link)
            await self._on_attached(link)
        else:
            now = time.monotonic()
            await asyncio.sleep(max(0.0, self._bad_since.setdefault(link, now) + DEBOUNCE - now))
            self._on_lost(link, state)
        self._bad_since.pop(link, None)
        self._reported[link] = state
        if not state:
            del self._reported[link]
        if self._pending.get(link) is asyncio.current_task():
            del self._pending[link]
