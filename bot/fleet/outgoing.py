"""Sends the messages of a host's runs to the hub. Each is numbered and stored first, and kept until the hub has it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from typing import Final

from agent.run import RunId
from bot.fleet.engine import EngineAway, Link, steady_now
from bot.fleet.messages import ITEM, Item, events_of
from bot.store.fleet import FleetTable
from bot.tasks.shielded import ShieldedCalls

logger = logging.getLogger(__name__)

NEVER: Final = float("-inf")
"""The time of sending of a message that was not sent yet."""


class Outgoing:
    """Sends stored messages to the hub while `send` runs.

    A message that is not known to have arrived is sent again after `again` seconds.
    """

    def __init__(self, host: str, table: FleetTable, again: float) -> None:
        self._host = host
        self._table = table
        self._again = again
        self._writing = ShieldedCalls(again)
        self._unsent: OrderedDict[tuple[RunId, int], tuple[str, float]] = OrderedDict()
        self._acknowledged: dict[RunId, int] = {}
        self._due = asyncio.Event()
        self._link: Link | None = None

    async def load(self) -> tuple[tuple[RunId, Item], ...]:
        """Load and queue the messages that were written before this host's restart and may not have arrived. Returns
        them.
        """
        written = await self._table.events()
        for run, number, body in written:
            self._unsent[run, number] = (body, NEVER)
        return tuple((run, ITEM.validate_json(body)) for run, _, body in written)

    def use(self, link: Link) -> None:
        """Send on this connection from now on, beginning with everything that may not have arrived."""
        self._link = link
        self.resend_all()

    def resend_all(self) -> None:
        """Send everything again that may not have arrived, because the connection to the hub was replaced."""
        self._unsent = OrderedDict((key, (body, NEVER)) for key, (body, _) in self._unsent.items())
        self._due.set()

    async def write(self, run: RunId, item: Item) -> None:
        """Store a message of this run under its next number and queue it. Does nothing if the run is over.

        A cancelled caller does not interrupt this: a number that is stored but never sent would be a gap, at which the
        hub would wait for ever.
        """
        await self._writing.shield(self._write(run, item.model_dump_json()))

    async def stop(self) -> None:
        """Cancel waiting for writes in progress. What they have stored by then is sent after the next start."""
        await self._writing.stop(self._again)

    async def _write(self, run: RunId, body: str) -> None:
        number = await self._table.write_event(run, body)
        if number:
            self._unsent[run, number] = (body, NEVER)
            self._due.set()

    async def acknowledge(self, run: RunId, number: int) -> None:
        """Record that the hub has all messages of this run up to this number, and delete them."""
        if number <= self._acknowledged.get(run, 0):
            return
        self._drop(run, number)
        try:
            await self._table.drop_events({run: number})
        except OSError as error:
            logger.warning("Delivered reports of run %s could not be deleted yet: %s", run, error)
        else:
            self._acknowledged[run] = number

    async def forget(self, run: RunId) -> None:
        """Delete a run that is over, with its messages."""
        await self._table.forget_run(run)
        self._acknowledged.pop(run, None)
        self._drop(run, None)

    def resend_overdue(self) -> None:
        """Send messages again that have waited too long for a confirmation."""
        now = steady_now()
        if any(now - sent > self._again for _, sent in self._unsent.values()):
            self._due.set()

    async def send(self) -> None:
        """Send due messages in order, until cancelled."""
        while True:
            await self._due.wait()
            self._due.clear()
            now = steady_now()
            for key in [key for key, (_, sent) in self._unsent.items() if now - sent > self._again]:
                if key not in self._unsent or self._link is None:
                    continue
                run, number = key
                body = self._unsent[key][0].replace('"n":0', f'"n":{number}', 1)
                try:
                    await self._link.publish(events_of(self._host, run), body.encode())
                except EngineAway as away:
                    logger.debug("what run %s tells waits: %s", run, away)
                    break
                if key in self._unsent:
                    self._unsent[key] = (body, steady_now())

    def _drop(self, run: RunId, number: int | None) -> None:
        for key in [key for key in self._unsent if key[0] == run and (number is None or key[1] <= number)]:
            del self._unsent[key]
