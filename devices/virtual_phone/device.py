"""What everything inside a virtual phone sees of it: its state, screen, fingers, files, faults and link.

The shell's programs, the sync service, uiautomator2's server and the scenario work on a `Device`; `phone.VirtualPhone`
puts them all together.
"""

from __future__ import annotations

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Coroutine, Iterator
from datetime import datetime

from PIL import Image

from devices.geometry import Point
from devices.recent import Recent
from devices.virtual_phone.adbd import AdbDaemon, LinkState, Product, Service
from devices.virtual_phone.event_log import EventLog
from devices.virtual_phone.faults import Faults
from devices.virtual_phone.files import Files
from devices.virtual_phone.frame import Frame
from devices.virtual_phone.journal import Journal
from devices.virtual_phone.scenario import Happening, Triggers
from devices.virtual_phone.scene.compose import Scene, compose
from devices.virtual_phone.scene.hierarchy import dump
from devices.virtual_phone.screen.drawing import draw
from devices.virtual_phone.state import Dialog, PhoneState
from devices.virtual_phone.test_probe import GroundTruth, truth_of
from devices.virtual_phone.touch import Hand
from devices.virtual_phone.window_manager import WindowManager

# The screen and the one before it. Picture, raw and PNG of a large screen are over 20 MB together.
KEPT_FRAMES = 2


class UiAutomation:
    """The phone's one connection for automation, which uiautomator2's server holds as long as it runs.

    `broken` holds methods of the server that fail, with their words; "start" is its own start. For `lingers` seconds a
    server whose stream was closed still holds it.
    """

    def __init__(self) -> None:
        self.broken: dict[str, str] = {}
        self.lingers = 0.0
        self._ended: asyncio.Event | None = None

    @property
    def running(self) -> bool:
        """Whether a server holds it."""
        return self._ended is not None

    @contextlib.contextmanager
    def held(self) -> Iterator[asyncio.Event]:
        """Inside the block a server runs and holds it; the event says that the server has to end."""
        ended = self._ended = asyncio.Event()
        try:
            yield ended
        finally:
            if self.lingers:
                asyncio.get_running_loop().call_later(self.lingers, self._let_go, ended)
            else:
                self._let_go(ended)

    def _let_go(self, ended: asyncio.Event) -> None:
        if self._ended is ended:
            self._ended = None

    def crash(self) -> None:
        """Ends the server as a crash would."""
        if self._ended is not None:
            self._ended.set()
            self._ended = None


class Device:
    """One phone as its own programs see it.

    `serve` finds the service for a name that an adb server asks for, None when there is none; `happen` carries out a
    scenario event when its moment has come.
    """

    def __init__(
        self,
        state: PhoneState,
        files: Files,
        clock: Callable[[], datetime],
        *,
        serve: Callable[[str], Service | None],
        happen: Callable[[Happening], Coroutine[None, None, None]],
    ) -> None:
        self.state = state
        self.files = files
        self.files.changed = self.changed
        self.files.full = lambda: self.faults.storage_full
        self.files.kernel["/proc/sys/kernel/random/boot_id"] = self._boot_id
        self.boot_id = str(uuid.uuid4())
        """The kernel's number of this start (random(4))."""
        self.starting = False
        """Whether Android is on its way: adbd answers already, and nothing else does."""
        self.locked_by_service = False
        """Whether a service holds the lock that keeps others from working here."""
        self.journal = Journal()
        self.event_log = EventLog(clock)
        self.faults = Faults()
        self.faults.noted_by(self.journal.note)
        self.moments = Triggers(self.journal, happen)
        self.windows = WindowManager(self.state, self.faults, self.later, clock)
        self.hand = Hand(self.windows, self.scene)
        self.finger: Point | None = None
        self.uiautomator = UiAutomation()
        self._adbd = AdbDaemon(Product("virtual", state.identity.model.replace(" ", "_"), "virtual"), serve)
        self.link_news = self._adbd.news
        self._frames: Recent[object, Frame] = Recent(KEPT_FRAMES)
        self._timers: set[asyncio.TimerHandle] = set()

    @property
    def name(self) -> str:
        """How people call it."""
        return self.state.identity.name

    @property
    def truth(self) -> GroundTruth:
        """What really happened so far."""
        return truth_of(self.state)

    @property
    def adb_keyboard(self) -> bool:
        """Whether ADBKeyboard is installed."""
        return self.state.adb_keyboard_installed and not self.faults.no_adb_keyboard

    @property
    def link(self) -> LinkState:
        """How it treats adb servers now."""
        return self._adbd.state

    # The screen

    def scene(self) -> Scene:
        """The screen as it is laid out now."""
        return compose(self.windows)

    def elements(self, *, compressed: bool, hints: bool = False) -> str:
        """What `uiautomator dump` writes; with `hints` what uiautomator2's server does."""
        state = self.state
        return dump(
            self.scene(), rotation=state.rotation, compressed=compressed, hints=hints, told_id=state.redesign.id
        )

    async def frame(self) -> Frame:
        """The picture of the screen; the same object as long as nothing changed."""
        scene = self.scene()
        black = self.faults.black or self.starting
        key = (black or scene.painted, scene.size, scene.dark)
        frame = self._frames.get(key)
        if frame is None:
            image = await asyncio.to_thread(_picture, scene, black=black)
            frame = self._frames.get(key) or Frame(image)  # another one may have drawn it meanwhile
        self._frames[key] = frame
        return frame

    async def encoded(self, *, png: bool, off: bool = False) -> bytes:
        """The picture as `screencap` prints it, raw or PNG; `off` that of a screen that is off."""
        frame = Frame(Image.new("RGB", self.scene().size, "#000000")) if off else await self.frame()
        return await asyncio.to_thread(lambda: frame.png if png else frame.raw)

    # Changes

    def changed(self) -> None:
        """Says that the state changed; a phone that is kept in a file saves itself then."""

    def later(self, seconds: float, what: Callable[[], None]) -> None:
        """Does something after a while, unless the phone stops before."""

        def run() -> None:
            self._timers.discard(timer)
            what()
            self.changed()

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)

    def do(self, what: Callable[[], None]) -> None:
        """Lets an input take effect, as the faults `deaf` and `effect_ms` say."""
        if self.faults.deaf:
            return
        if self.faults.effect_ms:
            self.later(self.faults.effect_ms / 1000, what)
        else:
            what()
            self.changed()

    def pop_up(self, title: str, text: str = "", buttons: tuple[str, ...] = ("OK",), *, window: str = "") -> None:
        """Shows a dialog over whatever is there, of the app in front or of this component."""
        self.state.dialogs.append(Dialog(title, text, list(buttons), window))
        self.changed()

    def rotate(self, rotation: int) -> None:
        """Turns the phone: 0 to 3 quarter turns. Raises ValueError for another number."""
        if rotation not in range(4):
            raise ValueError(f"rotation {rotation} is not 0, 1, 2 or 3")
        self.state.rotation = rotation
        self.changed()

    # The link

    async def set_link(self, state: LinkState) -> None:
        """Makes the phone unauthorized, offline, gone or open again."""
        await self._adbd.change(state)

    async def drop_link(self, seconds: float = 0) -> None:
        """Pulls the cable, and puts it back after `seconds` (0: at once, so adb reconnects by itself)."""
        before = self._adbd.state

        def back() -> None:
            if self._adbd.state is LinkState.GONE:
                self._adbd.state = before

        if seconds and before is not LinkState.GONE:
            self.later(seconds, back)
            await self._adbd.change(LinkState.GONE)
        else:
            await self._adbd.drop()

    async def restart_adbd(self) -> None:
        """Ends the adb daemon with all that runs in it, and starts it again on its port."""
        await self._adbd.restart()

    def _boot_id(self) -> bytes:
        return f"{self.boot_id}\n".encode()


def _picture(scene: Scene, *, black: bool) -> Image.Image:
    if black:
        return Image.new("RGB", scene.size, "#000000")
    return draw(scene.size, scene.painted, dark=scene.dark)
