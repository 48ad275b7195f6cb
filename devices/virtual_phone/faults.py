"""Faults of the virtual phone that can be switched on, each until it is switched off."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType

from devices.virtual_phone.adbd import News

FaultValue = int | bool | str
NO_FAULTS: Mapping[str, FaultValue] = MappingProxyType({})
FRAME_COMMANDS = re.compile(r"\b(screencap|uiautomator)\b")
TREE_COMMANDS = re.compile(r"\buiautomator\b")
SERVICE_COMMANDS = re.compile(r"\bdumpsys\b")
DRAWN = 0.5
"""Share of a picture's time after which it is drawn; the rest is for encoding and sending it."""
INPUT_COMMANDS = re.compile(r"(^|[;&|\s])(input|am|monkey)\s")


@dataclass(slots=True)
class Faults:
    """The faults of a virtual phone. Names that end with `_ms` are milliseconds by which answers or effects are
    delayed.

    - `frame_ms`: Answers of screencap and uiautomator. The picture is drawn within that time, as on a phone, and not
      after it.
    - `tree_ms`: Answers of uiautomator, in addition.
    - `dumpsys_ms`: Answers of each dumpsys on a line.
    - `lane_start_ms`: The start of uiautomator2's server.
    - `lane_ms`: Answers of uiautomator2's server.
    - `lane_frame_ms`: Pictures of uiautomator2's server, in addition.
    - `input_ms`: Answers of input, am and monkey.
    - `effect_ms`: Effects of inputs, after they were answered.
    - `page_ms`: Pages of the browser, which show "Loading…" meanwhile.
    - `app_ms`: The same for every newly opened page of every app.
    - `hang`: Commands whose line contains this text, and requests such as `sync SEND /path` for a file or `jsonrpc
      setText` to uiautomator2's server, never answer (empty: none; "*": all).
    - `storage_full`: Nothing can be written.
    - `truncate`: Pictures end in the middle.
    - `black`: Every picture is black, although the page is not secure.
    - `no_tree`: uiautomator finds no idle state.
    - `no_touch`, `no_settings`: `input`, or a change of settings, is refused, as by makers that require a developer
      option for it.
    - `fails`: How commands fail, as `BEGIN|CODE|STREAM|TEXT`: those that begin with BEGIN print TEXT to `out` or `err`
      and exit with CODE, such as `settings get|224|err|cmd: Failure calling service settings`.
    - `two_users`: There is a second user, whose data the shell may not read.
    - `two_displays`: There is a second screen, which is off; `screencap` captures that one unless told otherwise.
    - `second_lit`: The second screen is lit, and shows something of its own.
    - `virtual_display`: There is a display without a screen, such as a cast. It is listed first, and keys and apps go
      to it unless the default display is named.
    - `deaf`: Inputs are answered but have no effect.
    - `reset_keyboard`: The phone returns to its own keyboard whenever a field gets the focus.
    - `composes`: Letters typed as keys are composed, as by Chinese keyboards, and reach the field with Enter.
    - `no_lane`: uiautomator2's server does not start.
    - `no_adb_keyboard`, `no_unzip`, `no_recording`: ADBKeyboard, `unzip` or `screenrecord` is not installed.
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
    _changed: News = field(default_factory=News, repr=False)
    _note: Callable[[str], None] = field(default=lambda _text: None, repr=False)

    def values(self) -> dict[str, FaultValue]:
        """Return the value of every fault by name."""
        return {each.name: getattr(self, each.name) for each in fields(self) if not each.name.startswith("_")}

    def noted_by(self, note: Callable[[str], None]) -> None:
        """Call `note` with every later change as text, such as `faults hang='input'`."""
        self._note = note

    def check(self, values: Mapping[str, object]) -> None:
        """Raise ValueError if a name is unknown, a value has the wrong type, or a time is negative."""
        known = self.values()
        for name, value in values.items():
            if name not in known or type(value) is not type(known[name]) or (isinstance(value, int) and value < 0):
                raise ValueError(f"no fault {name}={value!r}; known are {', '.join(known)}")

    def set(self, **values: object) -> None:
        """Change some faults. Raises ValueError as `check` does; nothing is changed then."""
        self.check(values)
        for name, value in values.items():
            setattr(self, name, value)
        self._note("faults " + " ".join(f"{name}={value!r}" for name, value in values.items()))
        self._changed.tell()

    async def hold(self, line: str) -> None:
        """Wait while the fault `hang` applies to this line."""
        while self.hang and (self.hang == "*" or self.hang in line):
            await self._changed.wait()

    def failing(self, line: str) -> tuple[int, bool, str] | None:
        """Return how the fault `fails` lets this command fail: exit code, whether its text goes to standard error, and
        the text. None if it does not.
        """
        begin, _, rest = self.fails.partition("|")
        if not begin or not line.startswith(begin):
            return None
        code, stream, text = rest.split("|", 2)
        return int(code), stream == "err", text

    async def before_command(self, line: str) -> float:
        """Wait as the faults require before a line is run. Returns the time at which it may be answered, in seconds of
        the event loop's clock.
        """
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
    """Parse `frame_ms=300`, `hang=input` or `truncate` into name and value. Raises ValueError."""
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
    """Return a fault in the form that `parse_fault` reads."""
    return f"{name}={str(value).lower() if isinstance(value, bool) else value}"
