"""What can be made to go wrong, each until it is taken back."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field, fields

FRAME_COMMANDS = re.compile(r"\b(screencap|uiautomator)\b")
INPUT_COMMANDS = re.compile(r"(^|[;&|\s])(input|am|monkey)\s")


@dataclass(slots=True)
class Faults:
    """Milliseconds are added to each answer; the rest are switches.

    frame_ms: screencap and uiautomator answer later. input_ms: input, am and monkey answer later. effect_ms: what an
    input does shows that much later than it was answered. page_ms: the browser's pages stay "Loading…" that long.
    hang: commands whose line holds this text, and file requests such as `sync SEND /path`, never answer (empty: none;
    "*": all). storage_full: nothing can be written. truncate: frames end in the middle.
    black: every frame is black though the page is not secure. no_tree: uiautomator finds no idle state.
    deaf: inputs are answered but do nothing. reset_keyboard: the phone goes back to its own keyboard whenever a field
    gets the focus.
    """

    frame_ms: int = 0
    input_ms: int = 0
    effect_ms: int = 0
    page_ms: int = 0
    hang: str = ""
    storage_full: bool = False
    truncate: bool = False
    black: bool = False
    no_tree: bool = False
    deaf: bool = False
    reset_keyboard: bool = False
    _changed: asyncio.Event = field(default_factory=asyncio.Event, repr=False)

    def set(self, **values: object) -> None:
        """Changes some of them. Raises ValueError for an unknown name or a value of another kind."""
        known = {each.name: type(getattr(self, each.name)) for each in fields(self) if not each.name.startswith("_")}
        for name, value in values.items():
            if name not in known or type(value) is not known[name]:
                raise ValueError(f"no fault {name}={value!r}; known are {', '.join(known)}")
        for name, value in values.items():
            setattr(self, name, value)
        self._changed.set()
        self._changed = asyncio.Event()

    async def hold(self, line: str) -> None:
        """Waits as long as this line hangs."""
        while self.hang and (self.hang == "*" or self.hang in line):
            await self._changed.wait()

    async def before_command(self, line: str) -> None:
        """Waits as the faults say before a line is run."""
        await self.hold(line)
        if FRAME_COMMANDS.search(line):
            await asyncio.sleep(self.frame_ms / 1000)
        elif INPUT_COMMANDS.search(line):
            await asyncio.sleep(self.input_ms / 1000)
