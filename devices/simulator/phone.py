"""The virtual phone: state, screen, shell and adb daemon in one."""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections import OrderedDict
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from PIL import Image

from devices.geometry import Point, Size
from devices.simulator.adbd import AdbDaemon, LinkState, Product
from devices.simulator.apps import BY_KEY
from devices.simulator.desk import Desk
from devices.simulator.faults import NO_FAULTS, Faults, FaultValue
from devices.simulator.files import Files
from devices.simulator.frame import Frame
from devices.simulator.journal import Journal
from devices.simulator.moments import Moments
from devices.simulator.screen.compose import Scene, compose
from devices.simulator.screen.drawing import draw
from devices.simulator.screen.hierarchy import dump
from devices.simulator.services import find_service
from devices.simulator.state import LAUNCHER, Dialog, Identity, PhoneState
from devices.simulator.storage import Document, Saver, load
from devices.simulator.toggles import switch
from devices.simulator.touch import Hand
from devices.simulator.truth import Truth, truth_of
from devices.simulator.uiautomator.server import JAR, UiAutomator

DEFAULT_SIZE = Size(1080, 2400)
DEFAULT_DENSITY = 420
# The screen and the one before it. Picture, raw and PNG of a large screen are over 20 MB together.
KEPT_FRAMES = 2


def _now() -> datetime:
    return datetime.now().astimezone()


class VirtualPhone:
    """One phone. `async with VirtualPhone() as phone:` starts and stops it.

    `number` makes its serial (VIRTUAL0001) and its android_id. `seed` shuffles icons, rows and results; 0 does not.
    `faults` are set from the start, by name. `state_file` is loaded at the start and written after changes; what it
    holds wins over the arguments above it and `dark`.
    """

    def __init__(
        self,
        name: str = "virtual-1",
        *,
        number: int = 1,
        size: Size = DEFAULT_SIZE,
        density: int = DEFAULT_DENSITY,
        seed: int = 0,
        locale: str = "en-US",
        pin: str = "",
        sign_in_code: str = "246810",
        port: int = 0,
        state_file: Path | None = None,
        dark: bool = False,
        faults: Mapping[str, FaultValue] = NO_FAULTS,
        clock: Callable[[], datetime] = _now,
    ) -> None:
        identity = Identity(name, f"VIRTUAL{number:04d}", hashlib.sha256(f"virtual {number}".encode()).hexdigest()[:16])
        document = load(state_file) if state_file else None
        self.state = (
            document.state
            if document
            else PhoneState(
                identity,
                size.width,
                size.height,
                density,
                seed=seed,
                locale=locale,
                pin=pin,
                sign_in_code=sign_in_code,
            )
        )
        if document is None:
            switch(self.state, "dark", on=dark)
        self.files = Files(document.files, document.folders) if document else Files()
        self.files.changed = self.changed
        self.files.full = lambda: self.faults.storage_full
        self.files.kernel["/proc/sys/kernel/random/boot_id"] = self._boot_id
        self.boot_id = str(uuid.uuid4())
        """The kernel's number of this start (random(4))."""
        self.starting = False
        """Whether Android is on its way: adbd answers already, and nothing else does."""
        self.journal = Journal()
        self.faults = Faults()
        self.faults.noted_by(self.journal.note)
        if faults:
            self.faults.set(**faults)
        self.moments = Moments(self)
        self.desk = Desk(self.state, self.faults, self.later, clock)
        self.hand = Hand(self.desk, self.scene)
        self.finger: Point | None = None
        self.uiautomator = UiAutomator(self)
        self._port = port or self.state.port
        self._port_wanted = bool(port)
        product = Product("virtual", self.state.identity.model.replace(" ", "_"), "virtual")
        self._adbd = AdbDaemon(product, lambda service: find_service(self, service))
        self._frames: OrderedDict[object, Frame] = OrderedDict()
        self._timers: set[asyncio.TimerHandle] = set()
        self._saver = Saver(state_file, self._document) if state_file else None
        self._tidy()

    @property
    def name(self) -> str:
        """How people call it."""
        return self.state.identity.name

    @property
    def address(self) -> str:
        """Where `adb connect` finds it; adb then uses it as the serial."""
        return f"127.0.0.1:{self._adbd.port}"

    @property
    def truth(self) -> Truth:
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

    async def start(self) -> None:
        """Listens, on the port it had before when that is free. Raises OSError when the port asked for is taken."""
        try:
            await self._adbd.start(self._port)
        except OSError:
            if self._port_wanted or not self._port:
                raise
            await self._adbd.start(0)
        self.state.port = self._adbd.port
        if self._saver is not None:
            self._saver.start()

    async def stop(self) -> None:
        """Drops all links and writes the state."""
        for timer in self._timers:
            timer.cancel()
        await self._adbd.stop()
        self._frames.clear()  # a stopped phone is a circle of objects: it may wait long for the garbage collector
        if self._saver is not None:
            await self._saver.stop()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    # The screen

    def scene(self) -> Scene:
        """The screen as it is laid out now."""
        return compose(self.desk)

    def elements(self, *, compressed: bool, hints: bool = False) -> str:
        """What `uiautomator dump` writes; with `hints` what uiautomator2's server does."""
        return dump(self.scene(), rotation=self.state.rotation, compressed=compressed, hints=hints)

    async def frame(self) -> Frame:
        """The picture of the screen; the same object as long as nothing changed."""
        scene = self.scene()
        black = scene.secure or self.faults.black or self.starting
        key = (black or scene.painted, scene.size, scene.dark)
        frame = self._frames.get(key)
        if frame is None:
            image = await asyncio.to_thread(_picture, scene, black=black)
            frame = self._frames.setdefault(key, Frame(image))
            while len(self._frames) > KEPT_FRAMES:
                self._frames.popitem(last=False)
        self._frames.move_to_end(key)
        return frame

    async def encoded(self, *, png: bool, off: bool = False) -> bytes:
        """The picture as `screencap` prints it, raw or PNG; `off` that of a screen that is off."""
        frame = Frame(Image.new("RGB", self.scene().size, "#000000")) if off else await self.frame()
        return await asyncio.to_thread(lambda: frame.png if png else frame.raw)

    # Changes

    def changed(self) -> None:
        """Says that the state changed, so that it is saved."""
        if self._saver is not None:
            self._saver.changed()

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

    def pop_up(self, title: str, text: str = "", buttons: tuple[str, ...] = ("OK",)) -> None:
        """Shows a dialog over whatever is there."""
        self.state.dialogs.append(Dialog(title, text, list(buttons)))
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

    def _tidy(self) -> None:
        """After a load: pages that were on their way have come, and pages that are no longer known are left."""
        state = self.state
        known = [each for each in state.tasks if each.app in BY_KEY]
        state.tasks = [task for task in known if {each.page for each in task.stack} <= set(BY_KEY[task.app].pages)]
        if state.task(state.front) is None:
            state.front = LAUNCHER
        for task in state.tasks:
            for activity in task.stack:
                activity.awaited = 0

    def _document(self) -> Document:
        kept = {path: file for path, file in self.files.files.items() if path != JAR}  # 3.7 MB that come again
        return Document(self.state, kept, self.files.folders)


def _picture(scene: Scene, *, black: bool) -> Image.Image:
    if black:
        return Image.new("RGB", scene.size, "#000000")
    return draw(scene.size, scene.painted, dark=scene.dark)
