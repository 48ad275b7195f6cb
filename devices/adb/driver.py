"""The driver of a phone over adb: implements the `Phone` interface by combining the parts of this package."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

from PIL import Image

from devices.adb import files
from devices.adb.apps import Apps, AppTitles
from devices.adb.connection import Connection
from devices.adb.fastlane.lane import FastLane
from devices.adb.film import film
from devices.adb.identity import Identity, health_of, identify
from devices.adb.input_driver import InputDriver
from devices.adb.notifications import read_notifications, read_sms_app
from devices.adb.observer import Observer
from devices.adb.ownership import Ownership
from devices.adb.preparation import Preparation
from devices.adb.screenshots import Camera
from devices.adb.shell import Shell
from devices.adb.state import State
from devices.adb.ui_tree import FIRST_LIMIT, Trees
from devices.errors import PhoneTaken
from devices.geometry import Size
from devices.inputs import Input
from devices.measuring import measured
from devices.notification import PhoneNotification
from devices.phone import InputResult, InstalledApp, Judged, Observation, PhoneInfo
from devices.pictures import Fit
from devices.storage import FolderEntry, FoundFiles

_T = TypeVar("_T")

logger = logging.getLogger(__name__)

_NO_ALIASES: Mapping[str, str] = {}


class AdbPhone:
    """A real phone over adb. Implements `devices.phone.Phone`. After the phone was unplugged, `attach` gives it a new
    link.
    """

    def __init__(
        self,
        connection: Connection,
        info: PhoneInfo,
        aliases: Mapping[str, str] = _NO_ALIASES,
        *,
        fast_lane: bool = False,
        shell: Shell | None = None,
        clock: Callable[[], float] = time.monotonic,
        first_limit: float = FIRST_LIMIT,
        may_send: Callable[[], bool] = lambda: True,
    ) -> None:
        """Create the driver. `shell` replaces the shell over adb; `clock` (seconds) is used for waiting for the screen.

        For `first_limit` see Trees, for `may_send` see InputDriver.
        """
        self._info = info
        self._shell = shell or Shell(connection)
        self._lane = FastLane(self._shell, allowed=fast_lane)
        self._camera = Camera(self._shell, self._lane)
        trees = Trees(self._shell, self._lane, first_limit=first_limit)
        self._preparation = Preparation(self._shell)
        self._ownership = Ownership(self._shell, shared=shell is None)
        self._apps = Apps(self._shell, aliases)
        self._titles = AppTitles(self._apps)
        self._inputs = InputDriver(self._shell, trees, self._lane, self._preparation, self._apps, clock, may_send)
        self._observer = Observer(self._shell, self._camera, trees, self._inputs, self._titles, self._learn, clock)
        self.number = ""
        """The serial number that the phone itself reports; adb may use another one."""
        self.last_heard = 0.0
        """When the phone last reported its state, in seconds of the event loop's clock."""

    @property
    def info(self) -> PhoneInfo:
        """The last known information about this phone, from memory."""
        return dataclasses.replace(
            self._info,
            lane="fast" if self._lane.open else "adb",
            lane_reason=self._lane.reason,
            pictures="fast" if self._camera.by_lane else "adb",
        )

    @property
    def connection(self) -> Connection:
        """The current link to the phone."""
        return self._shell.connection

    def attach(self, connection: Connection) -> None:
        """Use this link from now on, after the phone was plugged in again, perhaps with another serial."""
        self._shell.connection = connection
        self._shell.forget()
        self._lane.forget()
        self._camera.forget()
        self._info = dataclasses.replace(self._info, serial=connection.serial)

    def set_info(self, info: PhoneInfo) -> None:
        """Replace the information about this phone by what the pool has learned."""
        self._info = info

    def update_identity(self, identity: Identity) -> None:
        """Update the information about this phone with what it reported about itself."""
        self.number = identity.serial or self.number
        self._info = dataclasses.replace(
            self._info,
            model=identity.model or self._info.model,
            android=identity.android or self._info.android,
            size=identity.size or self._info.size,
            locale=identity.locale or self._info.locale,
            clock=identity.clock or self._info.clock,
        )
        self._learn(identity.state)

    async def refresh(self) -> PhoneInfo:
        """Ask the phone for its state and return the updated information. Raises PhoneGone, PhoneUnavailable,
        PhoneTimeout.
        """
        identity = await identify(self._shell)
        with contextlib.suppress(PhoneTaken):
            await self.check_ownership()
        self.update_identity(identity)
        return self._info

    def _learn(self, state: State) -> None:
        self.last_heard = asyncio.get_running_loop().time()
        health, reason, fix = self._ownership.condition or health_of(state)
        self._info = dataclasses.replace(
            self._info,
            health=health,
            reason=reason,
            fix=fix,
            battery=state.battery,
            temperature=state.temperature,
            app=state.package,
            app_name=self._titles.of(state.package),
        )

    async def _known_when_taken(self, asking: Awaitable[_T]) -> _T:
        """Await a request for the phone's lock; if another service has it, `info` says so at once."""
        try:
            return await asking
        except PhoneTaken:
            assert self._ownership.condition is not None
            health, reason, fix = self._ownership.condition
            self._info = dataclasses.replace(self._info, health=health, reason=reason, fix=fix)
            raise

    async def observe(
        self,
        *,
        after: Observation | None = None,
        patience: float = 2.5,
        settle: bool = True,
        elements: bool = True,
        fit: Fit | None = None,
    ) -> Observation:
        """Return what the phone shows: a screenshot and the elements on the screen. See `Phone.observe`."""
        return await self._observer.observe(after, patience=patience, settle=settle, elements=elements, fit=fit)

    async def confirmed(self, since: Observation) -> Observation | None:
        """Observe again, and return the complete observation if the phone still shows what it showed in `since`,
        apart from the status bar and a blinking caret. See `Phone.confirmed`.
        """
        return await self._observer.confirmed(since)

    async def glance(self) -> Image.Image | None:
        """Return a screenshot for a person who is watching, without reading any elements. See `Phone.glance`."""
        return await self._observer.glance()

    def film(self, size: Size) -> AsyncGenerator[bytes]:
        """Stream the screen as H.264 in Annex B format, one access unit at a time (ITU-T H.264, 7.4.1.2.3); the
        first unit includes the parameter sets. See `VideoSource.film`.
        """
        return film(self._shell.connection, size, self._camera.display)

    async def apps(self) -> tuple[InstalledApp, ...]:
        """Return the apps on the launcher, sorted by label. See `AppSource.apps`."""
        return await self._apps.all()

    async def notifications(self, package: str) -> tuple[PhoneNotification, ...]:
        """Return the notifications that the app `package` shows now. See `NotificationSource.notifications`."""
        return await read_notifications(self._shell, package)

    async def sms_app(self) -> str:
        """Return the package of the app that receives SMS; "" if there is none. See `NotificationSource.sms_app`."""
        return await read_sms_app(self._shell)

    @measured("act")
    async def act(
        self,
        what: Input,
        *,
        receipt: str,
        watched: bool = False,
        later: bool = False,
        judged: Judged | None = None,
    ) -> InputResult:
        """Send one input, at most once: it is never repeated here. See `Phone.act`."""
        last = await self._observer.take_last(what)
        check = None if judged is None else partial(self._observer.check_judged, judged, last.size)
        return await self._inputs.act(what, receipt, last, watched=watched, later=later, check=check)

    async def warm_up(self) -> None:
        """Start to prepare the phone without changing anything that a person could notice; `Phone.restore` undoes
        it. See `WarmUp.warm_up`.
        """
        await self._known_when_taken(self._ownership.take())
        self._titles.begin()
        self._lane.begin()

    async def prepare(self) -> None:
        """Implements `Phone.prepare`. A phone that needs a PIN stays locked, and its health says so."""
        await self._known_when_taken(self._ownership.take())
        self._learn(await self._preparation.prepare(self._observer.size or self._info.size))
        self._titles.begin()
        self._titles.note_front(self._info.app)
        self._lane.begin()

    async def restore(self) -> None:
        """Implements `Phone.restore`. While another service uses the phone, its settings are left alone."""
        await self._observer.cancel_reading()
        await self._titles.end()
        await self._lane.end()
        try:
            await self._known_when_taken(self._ownership.take())
        except PhoneTaken as taken:
            logger.info("%s is not put back: %s", self._info.name, taken)
            return
        try:
            await self._preparation.restore()
        finally:
            await self._ownership.release()

    async def restore_leftovers(self) -> bool:
        """Restore settings that a crashed run left changed, unless a run is using the phone. Returns whether
        everything is restored; False if a run is using it.

        Raises PhoneTaken if another service is using the phone, and PhoneError if the phone does not answer.
        """
        return await self._known_when_taken(self._ownership.between_runs(self._preparation.mend))

    async def check_ownership(self) -> None:
        """Raise PhoneTaken if another service is using the phone; `info` then says so too."""
        await self._known_when_taken(self._ownership.between_runs())

    async def close(self) -> None:
        """Stop everything that runs for this phone in the background, and release its lock."""
        await self._observer.cancel_reading()
        await self._titles.end()
        await self._lane.end()
        await self._ownership.release()

    async def push(self, name: str, data: bytes, *, folder: str = "") -> str:
        """Write a file to the phone's shared storage, add it to the gallery and return its path on the phone. See
        `Phone.push`.
        """
        return await files.push(self._shell, name, data, folder)

    async def find_files(self, name: str) -> FoundFiles:
        """Find files in shared storage by name, part of a name, pattern or path, newest first. See
        `Phone.find_files`.
        """
        return await files.find(self._shell, name)

    async def pull(self, path: str, *, limit: int) -> bytes:
        """Return the bytes of a file in the phone's shared storage. See `Phone.pull`."""
        return await files.pull(self._shell, path, limit)

    async def list_folder(self, folder: str) -> tuple[FolderEntry, ...]:
        """Return the entries of a folder, folders first and sorted by name, without hidden ones. See
        `FileManager.list_folder`.
        """
        return await files.list_folder(self._shell, folder)

    async def move(self, path: str, to: str, *, replace: bool) -> str:
        """Move or rename a file or folder and return its new path, which is inside `to` if that is a folder. See
        `FileManager.move`.
        """
        return await files.move(self._shell, path, to, replace=replace)

    async def make_folder(self, path: str) -> str:
        """Create a folder and any missing parents, and return its path. See `FileManager.make_folder`."""
        return await files.make_folder(self._shell, path)
