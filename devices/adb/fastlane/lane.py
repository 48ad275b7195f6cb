"""The fast lane of one phone: opened for a run, given up with a reason at the first failure."""

from __future__ import annotations

import asyncio
import base64
import logging

from uiautomator2._selector import Selector

from devices.adb.fastlane.requests import LaneFailed, LaneRefused, ask
from devices.adb.fastlane.server import OnPhoneServer
from devices.adb.shell import Shell
from devices.errors import PhoneError
from devices.phone import Element
from devices.wording import sentence_of, words

logger = logging.getLogger(__name__)

TREE_SECONDS = 4.0
"""Seconds for one tree, as for the slow way; it usually takes a tenth of one."""
TEXT_SECONDS = 8.0
PICTURE_SECONDS = 4.0
_QUALITY = 80
"""Of the JPEG, uiautomator2's own: text stays sharp, and what a model is sent is smaller than this by far."""
_DEPTH = 50
"""How deep a tree is told; uiautomator2's own default."""
_NO_FIELD = "UiObjectNotFoundException"


class FastLane:
    """Elements and text through the server on the phone, while that works.

    It is tried once for each link, in the background. When it fails or hangs it is dropped with a reason and not tried
    again before the phone is attached anew; everything then goes through plain adb.
    """

    def __init__(self, shell: Shell, *, allowed: bool = False) -> None:
        self._shell = shell
        self._server: OnPhoneServer | None = None
        self._opening: asyncio.Task[None] | None = None
        self._wanted = False
        self._allowed = allowed
        self._failure = ""
        self.automation = asyncio.Lock()
        """Held by whoever uses Android's UiAutomation: it has one user at a time."""

    @property
    def open(self) -> bool:
        """Whether it can be used now."""
        return self._server is not None

    @property
    def reason(self) -> str:
        """Why it was given up on this link; empty when it was not."""
        return "" if self.open else self._failure

    def begin(self) -> None:
        """Opens it in the background, unless it failed on this link."""
        self._wanted = True
        if self._allowed and not self._failure and self._opening is None:
            self._opening = asyncio.create_task(self._try(), name="opening the fast lane")

    async def end(self) -> None:
        """Closes it: while it is open Android keeps other accessibility services, such as a screen reader, silent."""
        self._wanted = False
        if opening := self._close():
            await asyncio.wait({opening})

    def forget(self) -> None:
        """The link is a new one: what failed on the old one may work on it."""
        self._close()
        self._failure = ""
        if self._wanted:
            self.begin()

    def drop(self, why: str) -> None:
        """Gives it up for this link."""
        logger.warning("the fast lane of %s is given up: %s", self._shell.connection.serial, why)
        self._failure = why
        self._close()

    async def tree(self) -> str | None:
        """The screen as XML, None when it is not open or just failed. The caller holds `automation`."""
        if self._server is None:
            return None
        try:
            written = await ask(self._shell.connection, "dumpWindowHierarchy", True, _DEPTH, timeout=TREE_SECONDS)
        except LaneFailed as failed:
            self.drop(words("phone.lane.no_elements", why=sentence_of(failed)))
            return None
        return str(written or "")

    async def picture(self) -> bytes | None:
        """The screen as JPEG at full size; None when it is not open, just failed, or has none for this screen.

        Raises LaneRefused when this server takes no pictures; it is of use for the rest all the same.
        """
        if self._server is None:
            return None
        try:
            written = await ask(self._shell.connection, "takeScreenshot", 1, _QUALITY, timeout=PICTURE_SECONDS)
            return base64.b64decode(written) if isinstance(written, str) else None
        except LaneRefused:
            raise
        except LaneFailed as failed:
            self.drop(words("phone.lane.no_picture", why=sentence_of(failed)))
            return None
        except ValueError as broken:
            raise LaneRefused(words("phone.lane.odd_picture")) from broken

    async def enter(self, text: str, field: Element, *, receipt: str) -> bool:
        """Makes `text` all that the focused field holds. False when certainly nothing was done.

        Raises PhoneError, always uncertain: the text may be there, so it must not be typed again another way.
        """
        if self._server is None:
            return False
        there = Selector(focused=True, className=field.class_name)
        try:
            return bool(
                await ask(self._shell.connection, "setText", there, text, timeout=TEXT_SECONDS, receipt=receipt)
            )
        except LaneRefused as refused:
            if _NO_FIELD in str(refused):
                return False
            problem: LaneFailed = refused
        except LaneFailed as failed:
            problem = failed
        # Its words are not passed on, they could hold the text.
        self.drop(words("phone.lane.typing"))
        if not problem.uncertain:
            return False
        lost = problem.__cause__
        if isinstance(lost, PhoneError):
            raise lost
        raise PhoneError(words("phone.error.typed_unknown"), uncertain=True)

    async def _try(self) -> None:
        server = OnPhoneServer(self._shell)
        try:
            await server.bring()
            async with self.automation:
                await server.launch()
                self._server = server
        except LaneFailed as failed:
            self.drop(sentence_of(failed))
        finally:
            if self._server is not server:
                server.cut()

    def _close(self) -> asyncio.Task[None] | None:
        """Ends what runs; gives the task that is on its way, if there is one."""
        server, self._server = self._server, None
        opening, self._opening = self._opening, None
        if server is not None:
            server.cut()
        if opening is None or opening is asyncio.current_task() or opening.done():
            return None
        opening.cancel()
        return opening
