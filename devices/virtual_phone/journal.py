"""The record of everything that reached the phone, in the order of arrival."""

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
    """One command.

    `kind` is `shell` or `exec` (how it came), `sync` (a file request), `jsonrpc` (a request to uiautomator2's server),
    `substitution` (a command run out of `$(…)` or backticks: never legitimate here), `outside` (no command: a happening
    or a fault). `line` is the whole line as it came, `argv` the one command of it. `receipt` is the value of
    OPENGUI_RECEIPT in front of the command, or of the request's header.
    `code` is its exit code, None
    while it runs.
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
        """The program."""
        return self.argv[0] if self.argv else ""


@dataclass(slots=True)
class Journal:
    """All entries. `changed` wakes whoever waits for a command."""

    entries: list[Entry] = field(default_factory=list)
    _last: int = 0
    _waiters: set[asyncio.Future[None]] = field(default_factory=set)

    def add(self, kind: str, line: str, argv: tuple[str, ...], receipt: str = "") -> Entry:
        """Notes a command that is about to run; `at` is the epoch time in seconds."""
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
        """Notes something that came from outside and is no command: a fault that was set, somebody's touch."""
        self.add("outside", text, ("outside", text)).code = 0

    def named(self, *names: str) -> list[Entry]:
        """The entries of these programs: `named("input")`."""
        return [entry for entry in self.entries if entry.name in names]

    def inputs(self) -> list[Entry]:
        """Everything that touches, types or starts something: each must be there once."""
        return [entry for entry in self.entries if entry.name in {"input", "am", "monkey", "setText"}]

    async def wait_for(self, wanted: Callable[[Entry], bool], timeout: float = 10.0) -> Entry:
        """The first entry, past or future, that is wanted. Raises TimeoutError after `timeout` seconds."""
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
