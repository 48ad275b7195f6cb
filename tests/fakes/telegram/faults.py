"""Faults on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from tests.fakes.telegram.refusals import Refused, flood

QUIET = frozenset({"getUpdates", "getMe"})
"""Methods that "*" does not mean: they come at any time."""


@dataclass
class Fault:
    method: str
    refusal: Refused | None
    """None: the connection breaks off."""
    times: int
    page: str = ""
    """What is answered instead of JSON."""
    after: bool = False
    """Whether the request is done first."""
    skip: int = 0
    """Calls that are let through before."""

    def meets(self, method: str) -> bool:
        return self.times > 0 and (self.method == method or (self.method == "*" and method not in QUIET))


@dataclass
class Faults:
    faults: list[Fault] = field(default_factory=list)
    held: dict[str, asyncio.Event] = field(default_factory=dict)

    def hold(self, words: str) -> asyncio.Event:
        """Leave what has these words unanswered until the event is set."""
        return self.held.setdefault(words, asyncio.Event())

    async def let_pass(self, form: Mapping[str, object]) -> None:
        """Wait while this call is held."""
        for words, event in self.held.items():
            if any(words in str(value) for value in form.values()):
                await event.wait()

    def fail(self, method: str, code: int, description: str, *, times: int = 1, skip: int = 0) -> None:
        """Refuse the next calls of a method ("*" for any that is not polling)."""
        self.faults.append(Fault(method, Refused(code, description), times, skip=skip))

    def flood(self, seconds: int, method: str = "*", *, times: int = 1) -> None:
        """Answer 429 with retry_after."""
        self.faults.append(Fault(method, flood(seconds), times))

    def page(self, method: str, code: int, page: str, *, times: int = 1) -> None:
        """Answer with a page that is no JSON, as proxies in front of Telegram do."""
        self.faults.append(Fault(method, Refused(code, ""), times, page))

    def break_off(self, method: str, *, times: int = 1, after: bool = False) -> None:
        """Close the connection without an answer; `after` the request was done."""
        self.faults.append(Fault(method, None, times, after=after))

    def take(self, method: str, *, after: bool = False) -> Fault | None:
        """The fault that this call meets, used up by it."""
        for fault in self.faults:
            if not fault.meets(method) or fault.after != after:
                continue
            if fault.skip == 0:
                fault.times -= 1
                return fault
            fault.skip -= 1
        return None
