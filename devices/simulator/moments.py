"""Happenings that wait for their moment: after the next command, or before the third `input`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from devices.simulator.happenings import Happening, happen

if TYPE_CHECKING:
    from devices.simulator.phone import VirtualPhone


class Moment(BaseModel):
    """`then` happens once, at the `times`-th request from now that holds the text `after` ("*": any).

    A request is a shell line, `jsonrpc METHOD` to uiautomator2's server, or `sync SEND /path`. It happens when the
    request was carried out and before its answer is sent, so the next one finds it done; with `before`, when the
    request has come and nothing of it was done. A file request has come, and its bytes have not, in both cases.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    after: str = Field(default="*", min_length=1)
    times: int = Field(default=1, ge=1)
    before: bool = False
    then: Happening


class Moments:
    """What still waits on one phone."""

    def __init__(self, phone: VirtualPhone) -> None:
        self._phone = phone
        self._waiting: list[Moment] = []
        self._running: set[asyncio.Task[None]] = set()

    @property
    def waiting(self) -> tuple[Moment, ...]:
        """The moments to come, `times` counted down."""
        return tuple(self._waiting)

    def add(self, moment: Moment) -> None:
        """Waits for one more."""
        self._waiting.append(moment)
        self._phone.journal.note(moment.model_dump_json())

    def clear(self) -> None:
        """Forgets all of them."""
        self._waiting.clear()
        self._phone.journal.note("no more moments")

    async def came(self, line: str) -> None:
        """A request has come: what waited for that happens, in the order it was asked for."""
        await self._due(line, before=True)

    async def passed(self, line: str) -> None:
        """A request was carried out: what waited for that happens, in the order it was asked for."""
        await self._due(line, before=False)

    async def _due(self, line: str, *, before: bool) -> None:
        due: list[Happening] = []
        left: list[Moment] = []
        for moment in self._waiting:
            if moment.before is not before or (moment.after != "*" and moment.after not in line):
                left.append(moment)
            elif moment.times > 1:
                left.append(moment.model_copy(update={"times": moment.times - 1}))
            else:
                due.append(moment.then)
        self._waiting = left
        for what in due:
            # A task of its own: a pulled cable ends the stream that waits here, and must itself come to its end.
            task = asyncio.create_task(happen(self._phone, what), name=f"happening {what.do}")
            self._running.add(task)
            task.add_done_callback(self._running.discard)
            await asyncio.wait({task})
            if not task.cancelled():
                task.result()
