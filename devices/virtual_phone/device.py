"""The virtual phone as the code inside it sees it: its state, screen, touches, files, faults and connection.

The shell's programs, the sync service, uiautomator2's server and the scenario work on a `Device`; `phone.VirtualPhone`
assembles them.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import struct
import uuid
from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

from PIL import Image

from devices.geometry import Point
from devices.recent import Recent
from devices.virtual_phone.adbd import AdbDaemon, LinkState, Product, Service
from devices.virtual_phone.faults import Faults
from devices.virtual_phone.files import Files
from devices.virtual_phone.ground_truth import GroundTruth, Journal, truth_of
from devices.virtual_phone.scenario import Happening, Triggers
from devices.virtual_phone.scene import Scene, compose, dump
from devices.virtual_phone.screen.drawing import draw
from devices.virtual_phone.state import Dialog, PhoneState
from devices.virtual_phone.touch import Hand
from devices.virtual_phone.window_manager import WindowManager

MOST_LINES = 500
RUNNING_FOR = 86_400.0
"""Uptime of a new phone in seconds."""
TICK = 0.001
"""Seconds added per reading if the clock stands still, so that no two log lines have the same time."""

# Header of raw screencap since Android 9: width, height, PixelFormat RGBA_8888 and the colour space
# (screencap.cpp; 1 is HAL_DATASPACE_V0_SRGB as screencap numbers it).
RAW_HEADER = struct.Struct("<4I")
RGBA_8888 = 1
SRGB = 1

# The screen and the one before it. Picture, raw and PNG of a large screen are over 20 MB together.
KEPT_FRAMES = 2
COVER = (1048, 948)
"""Size in pixels of the second screen, if it shows something of its own."""


class EventLog:
    """Android's event log, as the input dispatcher writes it: which window has the focus, and which one receives
    inputs.

    `clock` is the phone's clock. A window that receives several inputs in a row is logged once. Source: AOSP
    frameworks/native/services/inputflinger/dispatcher/InputDispatcher.cpp (LOGTAG_INPUT_FOCUS,
    LOGTAG_INPUT_INTERACTION).
    """

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._last = 0.0
        self._focused = ""
        self._touched = ""
        self._lines: deque[str] = deque(maxlen=MOST_LINES)

    def now(self) -> float:
        """Return the phone's time in Unix seconds; every reading is later than the one before."""
        self._last = max(self._clock().timestamp(), self._last + TICK)
        return self._last

    def received(self, window: str) -> None:
        """Log that the focused window, given by its number and name, received an input."""
        if window != self._focused:
            self._focused = window
            self._write("input_focus", f"[Focus entering {window} (server),reason=Window became focusable]")
        if window != self._touched:
            self._touched = window
            self._write("input_interaction", f"Interaction with: {window} (server), PointerEventDispatcher0 (server), ")

    def lines(self) -> tuple[str, ...]:
        """Return the latest log lines (`MOST_LINES` at most), in the format of `logcat -v epoch`."""
        return tuple(self._lines)

    def _write(self, tag: str, text: str) -> None:
        self._lines.append(f"{self.now():>19.3f}  1432  1520 I {tag}: {text}")


@dataclass
class Frame:
    """A picture of the screen. Each encoding is made once and costs CPU time, so use them in a thread."""

    image: Image.Image = field(repr=False)

    @cached_property
    def raw(self) -> bytes:
        """The picture as `screencap` prints it."""
        width, height = self.image.size
        return RAW_HEADER.pack(width, height, RGBA_8888, SRGB) + self.image.convert("RGBA").tobytes()

    @cached_property
    def png(self) -> bytes:
        """The picture as `screencap -p` prints it."""
        out = io.BytesIO()
        self.image.save(out, "PNG", compress_level=1)
        return out.getvalue()

    @cached_property
    def jpeg(self) -> bytes:
        """The picture as uiautomator2's server returns it, at its usual quality of 80 (Bitmap.compress)."""
        out = io.BytesIO()
        self.image.save(out, "JPEG", quality=80)
        return out.getvalue()


class UiAutomation:
    """Android's UiAutomation connection, which only one program can use at a time; uiautomator2's server uses it while
    it runs.

    - `broken`: Methods of the server that fail, with their error messages; "start" is its own start.
    - `lingers`: Seconds for which a server still uses the connection after its stream was closed.
    """

    def __init__(self) -> None:
        self.broken: dict[str, str] = {}
        self.lingers = 0.0
        self._ended: asyncio.Event | None = None

    @property
    def running(self) -> bool:
        """Whether a server is using the connection."""
        return self._ended is not None

    @contextlib.contextmanager
    def held(self) -> Iterator[asyncio.Event]:
        """Context manager: a server runs and uses the connection inside the block. It yields an event that tells the
        server to end.
        """
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
        """End the server as a crash would."""
        if self._ended is not None:
            self._ended.set()
            self._ended = None


class Device:
    """One virtual phone as its own programs see it.

    `serve` returns the service for a name that an adb server asks for, None when there is none. `happen` carries out a
    scenario event.
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
        self.files.kernel["/proc/uptime"] = self._uptime
        self.boot_id = str(uuid.uuid4())
        """The kernel's number of this start (random(4))."""
        self.starting = False
        """Whether Android is on its way: adbd answers already, and nothing else does."""
        self.locked_by_service = False
        """Whether another service holds the lock by which services exclude each other on this phone."""
        self.journal = Journal()
        self.event_log = EventLog(clock)
        self.booted = clock().timestamp() - RUNNING_FOR
        """When it was started last, in Unix seconds."""
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
        """The phone's name for people."""
        return self.state.identity.name

    @property
    def truth(self) -> GroundTruth:
        """What has really happened on the phone so far."""
        return truth_of(self.state)

    @property
    def adb_keyboard(self) -> bool:
        """Whether ADBKeyboard is installed."""
        return self.state.adb_keyboard_installed and not self.faults.no_adb_keyboard

    @property
    def link(self) -> LinkState:
        """How the phone treats adb servers now."""
        return self._adbd.state

    # The screen

    def scene(self) -> Scene:
        """Lay out the screen as it is now."""
        return compose(self.windows)

    def elements(self, *, compressed: bool, hints: bool = False) -> str:
        """Return the screen's elements as XML, like `uiautomator dump`; with `hints`, like uiautomator2's server.

        `compressed` leaves out nodes without meaning.
        """
        state = self.state
        return dump(
            self.scene(), rotation=state.rotation, compressed=compressed, hints=hints, told_id=state.redesign.id
        )

    async def frame(self) -> Frame:
        """Return the picture of the screen. It is the same object while nothing has changed."""
        scene = self.scene()
        black = self.faults.black or self.starting
        key = (black or scene.painted, scene.size, scene.dark)
        frame = self._frames.get(key)
        if frame is None:
            image = await asyncio.to_thread(_picture, scene, black=black)
            frame = self._frames.get(key) or Frame(image)  # another one may have drawn it meanwhile
        self._frames[key] = frame
        return frame

    async def encoded(self, *, png: bool, other: bool = False) -> bytes:
        """Return the picture as `screencap` prints it, raw or as PNG; with `other`, that of the second screen."""
        if not other:
            frame = await self.frame()
        elif self.faults.second_lit:
            frame = Frame(Image.linear_gradient("L").resize(COVER).convert("RGB"))
        else:
            frame = Frame(Image.new("RGB", self.scene().size, "#000000"))
        return await asyncio.to_thread(lambda: frame.png if png else frame.raw)

    # Changes

    def changed(self) -> None:
        """Handle a change of the state. A phone that is stored in a file saves itself."""

    def later(self, seconds: float, what: Callable[[], object]) -> None:
        """Call `what` after some seconds, unless the phone stops before."""

        def run() -> None:
            self._timers.discard(timer)
            what()
            self.changed()

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)

    def do(self, what: Callable[[], object]) -> None:
        """Apply an input by calling `what`, according to the faults `deaf` and `effect_ms`."""
        if self.faults.deaf:
            return
        if self.faults.effect_ms:
            self.later(self.faults.effect_ms / 1000, what)
        else:
            what()
            self.changed()

    def pop_up(self, title: str, text: str = "", buttons: tuple[str, ...] = ("OK",), *, window: str = "") -> None:
        """Show a dialog over the current screen. `window` is the component that owns it; "" is the app in front."""
        self.state.dialogs.append(Dialog(title, text, list(buttons), window))
        self.changed()

    def rotate(self, rotation: int) -> None:
        """Rotate the phone to 0 to 3 quarter turns. Raises ValueError for another number."""
        if rotation not in range(4):
            raise ValueError(f"rotation {rotation} is not 0, 1, 2 or 3")
        self.state.rotation = rotation
        self.changed()

    # The link

    async def set_link(self, state: LinkState) -> None:
        """Treat adb servers as this state says: open, unauthorized, offline or gone."""
        await self._adbd.change(state)

    async def drop_link(self, seconds: float = 0) -> None:
        """Cut the connection to adb servers, and allow it again after `seconds`; 0 is at once, so that adb reconnects
        by itself.
        """
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
        """Stop the adb daemon with everything that runs in it, and start it again on its port."""
        await self._adbd.restart()

    def _uptime(self) -> bytes:
        """Seconds since the start, and those that its processors were idle (proc(5))."""
        seconds = self.event_log.now() - self.booted
        return f"{seconds:.2f} {seconds:.2f}\n".encode()

    def _boot_id(self) -> bytes:
        return f"{self.boot_id}\n".encode()


def _picture(scene: Scene, *, black: bool) -> Image.Image:
    if black:
        return Image.new("RGB", scene.size, "#000000")
    return draw(scene.size, scene.painted, dark=scene.dark)
