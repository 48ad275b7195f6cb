"""What can be made to go wrong, each until it is taken back."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

FaultValue = int | bool | str
NO_FAULTS: Mapping[str, FaultValue] = MappingProxyType({})
FRAME_COMMANDS = re.compile(r"\b(screencap|uiautomator)\b")
TREE_COMMANDS = re.compile(r"\buiautomator\b")
SERVICE_COMMANDS = re.compile(r"\bdumpsys\b")
DRAWN = 0.5
"""Share of the time that a picture takes after which it shows the screen: the rest goes into writing and sending."""
INPUT_COMMANDS = re.compile(r"(^|[;&|\s])(input|am|monkey)\s")


@dataclass(slots=True)
class Faults:
    """Milliseconds are added to each answer; the rest are switches.

    frame_ms: screencap and uiautomator answer later; a picture is drawn within that time, as on a phone, and not after
    it. tree_ms: uiautomator answers later still. dumpsys_ms: each dumpsys
    of a line does. lane_start_ms: uiautomator2's server
    takes that long to start. lane_ms: it answers later; lane_frame_ms: its pictures come later still. input_ms: input,
    am and monkey answer later. effect_ms: what an input does shows that much later than it was answered.
    page_ms: the browser's pages stay "Loading…" that long. app_ms: the same for every page of every app that is
    opened anew.
    hang: commands whose line holds this text, and file requests such as `sync SEND /path`, never answer (empty: none;
    "*": all). storage_full: nothing can be written. truncate: frames end in the middle.
    black: every frame is black though the page is not secure. no_tree: uiautomator finds no idle state.
    no_touch, no_settings: `input`, or a change of settings, is refused, as makers do who want a switch of their own.
    fails: commands that begin with the text before the first bar print what is behind the third one, to `out` or `err`
    as the third part says, and exit with the second: `settings get|224|err|cmd: Failure calling service settings`.
    two_users: there is a second person's space on it, which the shell may not look into.
    two_displays: there is a second screen, which is off, and `screencap` takes that one unless told otherwise.
    second_lit: that screen is lit, and shows something of its own. virtual_display: there is a display without a
    screen, such as a cast's; it is listed first, and keys and apps go to it unless the default one is named.
    deaf: inputs are answered but do nothing. reset_keyboard: the phone goes back to its own keyboard whenever a field
    gets the focus. composes: letters typed as keys make syllables, as in Chinese keyboards, and reach the field with
    Enter. no_lane: uiautomator2's server does not start. no_adb_keyboard, no_unzip, no_recording: ADBKeyboard, `unzip`,
    `screenrecord` are not installed.
    """

    frame_ms: int = 0
    tree_ms: int = 0
    dumpsys_ms: int = 0
    lane_start_ms: int = 0
    lane_ms: int = 0
    lane_frame_ms: int = 0
    input_ms: int = 0
    effect_ms: int = 0
    page_ms: int = 0
    app_ms: int = 0
    hang: str = ""
    storage_full: bool = False
    truncate: bool = False
    black: bool = False
    two_users: bool = False
    two_displays: bool = False
    second_lit: bool = False
    virtual_display: bool = False
    no_tree: bool = False
    deaf: bool = False
    no_touch: bool = False
    no_settings: bool = False
    fails: str = ""
    reset_keyboard: bool = False
    composes: bool = False
    no_lane: bool = False
    no_adb_keyboard: bool = False
    no_unzip: bool = False
    no_recording: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    _note: Callable[[str], None] = field(default=lambda _text: None, repr=False)

    def values(self) -> dict[str, FaultValue]:
        """The value of every fault, by its name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.name.startswith("_")}

    def noted_by(self, note: Callable[[str], None]) -> None:
        """Every later change is told to `note`, as text such as `faults hang='input'`."""
        self._note = note

    def check(self, values: Mapping[str, object]) -> None:
        """Raises ValueError for an unknown name, a value of another kind or a negative time."""
        known = self.values()
        for name, value in values.items():
            if name not in known or type(value) is not type(known[name]) or (isinstance(value, int) and value < 0):
                raise ValueError(f"no fault {name}={value!r}; known are {', '.join(known)}")

    def set(self, **values: object) -> None:
        """Changes some of them. Raises ValueError, as `check` does; nothing is changed then."""
        self.check(values)
        for name, value in values.items():
            setattr(self, name, value)
        self._note("faults " + " ".join(f"{name}={value!r}" for name, value in values.items()))
        self._changed.set()
        self._changed = asyncio.Event()

    async def hold(self, line: str) -> None:
        """Waits as long as this line hangs."""
        while self.hang and (self.hang == "*" or self.hang in line):
            await self._changed.wait()

    def failing(self, line: str) -> tuple[int, bool, str] | None:
        """With which code this command fails, whether on standard error, and what it says; None when it does not."""
        begin, _, rest = self.fails.partition("|")
        if not begin or not line.startswith(begin):
            return None
        code, stream, text = rest.split("|", 2)
        return int(code), stream == "err", text

    async def before_command(self, line: str) -> float:
        """Waits as the faults say before a line is run. The result is when it may be answered, by the loop's clock."""
        await self.hold(line)
        began = asyncio.get_running_loop().time()
        late = self.dumpsys_ms * len(SERVICE_COMMANDS.findall(line))
        if FRAME_COMMANDS.search(line):
            late += self.frame_ms + (self.tree_ms if TREE_COMMANDS.search(line) else 0)
        elif INPUT_COMMANDS.search(line):
            late += self.input_ms
        draws = FRAME_COMMANDS.search(line) and not TREE_COMMANDS.search(line)
        await asyncio.sleep(late / 1000 * (DRAWN if draws else 1))
        return began + late / 1000


def parse_fault(text: str) -> tuple[str, FaultValue]:
    """Name and value of `frame_ms=300`, `hang=input` or `truncate`. Raises ValueError."""
    name, given, written = text.partition("=")
    known = Faults().values()
    kind = type(known.get(name))
    value: FaultValue = written
    if kind is bool and (not given or written in {"true", "false"}):
        value = written != "false"
    elif kind is int and written.isascii() and written.isdigit():
        value = int(written)
    Faults().check({name: value})
    return name, value


def fault_text(name: str, value: FaultValue) -> str:
    """What `parse_fault` reads."""
    return f"{name}={str(value).lower() if isinstance(value, bool) else value}"
