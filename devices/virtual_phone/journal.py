"""The virtual phone's journal: everything that reached the phone, in the order of arrival."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field

RECEIPT_VARIABLE = "OPENGUI_RECEIPT"
# Long enough for any test; a phone that runs for weeks forgets its oldest commands.
MAX_ENTRIES = 20_000


@dataclass(slots=True)
class Entry:
    """One command that reached the phone.

    - `at`: When it arrived, in Unix seconds.
    - `kind`: How it came: `shell` or `exec`, `sync` (a file request), `jsonrpc` (a request to uiautomator2's server),
      `substitution` (a command run out of `$(…)` or backticks: never legitimate here), or `outside` (no command: a
      scenario event or a fault).
    - `line`: The whole line as it came.
    - `argv`: This one command of the line.
    - `receipt`: The value of OPENGUI_RECEIPT in front of the command, or of the request's header.
    - `code`: The exit code; None while it runs.
    """

    number: int
    at: float
    kind: str
    line: str
    argv: tuple[str, ...]
    receipt: str = ""
    code: int | None = None

    @property
    def name(self) -> str:
        """The name of the program."""
        return self.argv[0] if self.argv else ""


@dataclass(slots=True)
class Journal:
    """All entries, the oldest first; of more than `MAX_ENTRIES` the oldest are dropped."""

    entries: list[Entry] = field(default_factory=list)
    _last: int = 0
    _waiters: set[asyncio.Future[None]] = field(default_factory=set)

    def add(self, kind: str, line: str, argv: tuple[str, ...], receipt: str = "") -> Entry:
        """Add an entry for a command that is about to run, wake up those that wait for it, and return the entry."""
        self._last += 1
        entry = Entry(self._last, time.time(), kind, line, argv, receipt)
        self.entries.append(entry)
        if len(self.entries) > MAX_ENTRIES:
            del self.entries[: MAX_ENTRIES // 10]
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)
        return entry

    def note(self, text: str) -> None:
        """Add an entry for something from outside that is no command, such as a fault that was set."""
        self.add("outside", text, ("outside", text)).code = 0

    def named(self, *names: str) -> list[Entry]:
        """Return the entries of these programs, for example `named("input")`."""
        return [entry for entry in self.entries if entry.name in names]

    def inputs(self) -> list[Entry]:
        """Return the entries of everything that touches, types or starts something, each of which must occur only
        once.
        """
        return [entry for entry in self.entries if entry.name in {"input", "am", "monkey", "setText"}]

    async def wait_for(self, wanted: Callable[[Entry], bool], timeout: float = 10.0) -> Entry:
        """Return the first entry, past or future, for which `wanted` is true. Raises TimeoutError after `timeout`
        seconds.
        """
        async with asyncio.timeout(timeout):
            while True:
                for entry in self.entries:
                    if wanted(entry):
                        return entry
                waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._waiters.add(waiter)
                try:
                    await waiter
                finally:
                    self._waiters.discard(waiter)
