"""The fast lane of one phone (uiautomator2's server on it): opened for a run, closed with a reason when it fails, and
tried again.
"""

from __future__ import annotations

import asyncio
import base64
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress

from uiautomator2._selector import Selector

from devices.adb.fastlane.server import LaneFailed, LaneRefused, OnPhoneServer, ask, wait_until_gone
from devices.adb.shell import Shell
from devices.errors import PhoneError
from devices.phone import Element
from devices.wording import sentence_of, words

logger = logging.getLogger(__name__)

TREE_SECONDS = 4.0
"""Seconds for one tree, the same as without the fast lane; it usually takes a tenth of a second."""
TEXT_SECONDS = 8.0
PICTURE_SECONDS = 4.0
_QUALITY = 80
"""The JPEG quality, uiautomator2's default: text stays sharp, and pictures for models are far smaller anyway."""
_DEPTH = 50
"""The maximum depth of a tree, uiautomator2's default."""
_NO_FIELD = "UiObjectNotFoundException"

FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""The first and longest pause in seconds before it is retried; the pause doubles each time, because a hanging server
costs each step that uses it four seconds.
"""
TYPING_FAILURES = 2
"""Failures in a row after which no more text uses it on this link, as it would be equally uncertain."""


class FastLane:
    """Reads elements and pictures and enters text through uiautomator2's server on the phone, while that works.

    It is opened in the background during a run. If it fails or hangs, it is closed with a reason, everything uses
    plain adb, and it is tried again after growing pauses. Code that reads elements waits for the first attempt. Later
    attempts are cancelled when elements are read, and count only once the server has answered.
    """

    def __init__(
        self, shell: Shell, *, allowed: bool = False, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._shell = shell
        self._server: OnPhoneServer | None = None
        self._opening: asyncio.Task[None] | None = None
        self._beside: asyncio.Task[None] | None = None
        """A later attempt that uses UiAutomation now; it is cancelled when a reader of elements needs that."""
        self._wanted = False
        self._allowed = allowed
        self._sleep = sleep
        self._failure = ""
        self._pause = FIRST_PAUSE
        self._untyped = 0
        self._automation = asyncio.Lock()
        self._leaving = False
        """Whether a server was cut off that may still be using UiAutomation."""

    @property
    def open(self) -> bool:
        """Whether the fast lane (the server on the phone) can be used now."""
        return self._server is not None

    @property
    def opening(self) -> bool:
        """Whether the first attempt to open the fast lane is in progress. Code that reads elements waits for it."""
        return not (self.open or self._failure) and self._opening is not None and not self._opening.done()

    @property
    def reason(self) -> str:
        """Why it last failed on this link; "" while it is open or has not failed."""
        return "" if self.open else self._failure

    @asynccontextmanager
    async def automation(self) -> AsyncIterator[None]:
        """Context manager that reserves Android's UiAutomation, which allows only one user at a time."""
        if self._beside is not None:
            self._beside.cancel()
        async with self._automation:
            yield

    def begin(self) -> None:
        """Open the fast lane (start the server on the phone) in the background, after a pause if it has failed on this
        link.
        """
        self._wanted = True
        self._pause = FIRST_PAUSE
        self._start(self._again() if self._failure else self._at_first())

    async def end(self) -> None:
        """Close the fast lane (stop the server on the phone). While it is open, Android silences accessibility
        services such as a screen reader.
        """
        self._wanted = False
        if opening := self._close():
            await asyncio.wait({opening})

    def forget(self) -> None:
        """Close the fast lane and, during a run, try again at once, because the link to the phone is new: what failed
        on the old one may work now.
        """
        self._close()
        self._failure = ""
        self._untyped = 0
        self._pause = FIRST_PAUSE
        if self._wanted:
            self._start(self._again(at_once=True))

    async def tree(self) -> str | None:
        """Return the elements on the screen as XML; None if the lane is not open or has just failed, and UiAutomation
        is then free.

        The caller must hold `automation`.
        """
        if (server := self._server) is not None:
            try:
                return await self._tree()
            except LaneFailed as failed:
                self._drop(server, words("phone.lane.no_elements", why=sentence_of(failed)))
        if self._leaving:
            self._leaving = False
            with suppress(LaneFailed):  # the plain reading will report the problem
                await wait_until_gone(self._shell.connection)
        return None

    async def picture(self) -> bytes | None:
        """Return the screen as a JPEG in full size; None if the lane is not open, has just failed, or has no picture
        of this screen.

        Raises LaneRefused if this server takes no pictures; it can still be used for everything else.
        """
        if (server := self._server) is None:
            return None
        try:
            written = await self._picture()
            return base64.b64decode(written) if isinstance(written, str) else None
        except LaneRefused:
            raise
        except LaneFailed as failed:
            self._drop(server, words("phone.lane.no_picture", why=sentence_of(failed)))
            return None
        except ValueError as broken:
            raise LaneRefused(words("phone.lane.odd_picture")) from broken

    async def enter(self, text: str, field: Element, *, receipt: str) -> bool:
        """Replace the content of this field with `text` if it has the focus. Returns False if it is certain that
        nothing was done.

        `receipt` identifies the input in the phone's log. Raises PhoneError, always uncertain: the text may have been
        entered, so it must not be typed in another way.
        """
        if (server := self._server) is None or self._untyped >= TYPING_FAILURES:
            return False
        named = {"resourceId": field.resource_id} if field.resource_id else {}
        there = Selector(focused=True, className=field.class_name, **named)
        try:
            done = await ask(self._shell.connection, "setText", there, text, timeout=TEXT_SECONDS, receipt=receipt)
            self._untyped = 0
            return bool(done)
        except LaneRefused as refused:
            if _NO_FIELD in str(refused):
                return False
            problem: LaneFailed = refused
        except LaneFailed as failed:
            problem = failed
        # Its message is not passed on because it could contain the text.
        self._untyped += 1
        self._drop(server, words("phone.lane.typing"))
        if not problem.uncertain:
            return False
        lost = problem.__cause__
        if isinstance(lost, PhoneError):
            raise lost
        raise PhoneError(words("phone.error.typed_unknown"), uncertain=True)

    async def _tree(self) -> str:
        written = await ask(self._shell.connection, "dumpWindowHierarchy", True, _DEPTH, timeout=TREE_SECONDS)
        return str(written or "")

    async def _picture(self) -> object:
        return await ask(self._shell.connection, "takeScreenshot", 1, _QUALITY, timeout=PICTURE_SECONDS)

    def _drop(self, server: OnPhoneServer, why: str) -> None:
        """Close the server that failed; a late failure of an already closed one is ignored."""
        if self._server is not server:
            return
        self._failed(why)
        self._close()
        if self._wanted:
            self._start(self._again())

    def _failed(self, why: str) -> None:
        level = logging.INFO if why == self._failure else logging.WARNING
        logger.log(level, "no fast lane to %s for now: %s", self._shell.connection.serial, why)
        self._failure = why

    def _start(self, work: Coroutine[None, None, None]) -> None:
        if not self._allowed or self.open or (self._opening is not None and not self._opening.done()):
            work.close()
            return
        self._opening = asyncio.create_task(work, name="opening the fast lane")

    async def _at_first(self) -> None:
        await self._try()
        await self._again()

    async def _again(self, *, at_once: bool = False) -> None:
        """Retry until it is open."""
        while not self.open:
            if not at_once:
                await self._sleep(self._pause)
                self._pause = min(LONGEST_PAUSE, self._pause * 2)
            at_once = False
            trying = asyncio.create_task(self._try(beside=True), name="opening the fast lane beside")
            try:
                await asyncio.wait({trying})
            finally:
                trying.cancel()
                await asyncio.wait({trying})
            if not trying.cancelled():
                trying.result()

    async def _try(self, *, beside: bool = False) -> None:
        server = OnPhoneServer(self._shell)
        try:
            await server.bring()
            async with self._automation:
                self._beside = asyncio.current_task() if beside else None
                try:
                    await server.launch()
                    if beside:
                        await self._prove()
                    self._server = server
                finally:
                    self._beside = None
        except LaneFailed as failed:
            self._failed(sentence_of(failed))
        finally:
            if self._server is not server:
                self._cut(server)

    async def _prove(self) -> None:
        """Raise LaneFailed if the server still hangs, or fails on what every observation needs."""
        try:
            await self._tree()
        except LaneFailed as failed:
            raise LaneFailed(words("phone.lane.no_elements", why=sentence_of(failed))) from failed
        try:
            await self._picture()
        except LaneRefused:
            return  # of use for the rest
        except LaneFailed as failed:
            raise LaneFailed(words("phone.lane.no_picture", why=sentence_of(failed))) from failed

    def _cut(self, server: OnPhoneServer) -> None:
        self._leaving = server.cut() or self._leaving

    def _close(self) -> asyncio.Task[None] | None:
        """Stop what is running, and return the task that is still ending, if any."""
        server, self._server = self._server, None
        opening, self._opening = self._opening, None
        if server is not None:
            self._cut(server)
        if opening is None or opening.done():
            return None
        opening.cancel()
        return opening
