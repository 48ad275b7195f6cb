"""getUpdates: one poller, confirmed by offset, deaf on demand."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from tests.fakes.telegram.refusals import Refused

CONFLICT = "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running"


WEBHOOK = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"


class Polling:
    """The queue of updates. `started` and `completed` count round trips, `most` the pollers at one moment."""

    def __init__(self, changed: Callable[[], None]) -> None:
        self.started = self.completed = self.now = self.most = 0
        self.confirmed = 0
        """Updates below this id will not be delivered again."""
        self.hearing = asyncio.Event()
        self.hearing.set()
        self.queue: list[dict[str, Any]] = []
        self.webhook = False
        self.oddly = 0
        """So many answers with updates from now on leave their numbers out."""
        self._last = 100
        self._allowed: list[str] = []
        self._news = asyncio.Event()
        self._poller: asyncio.Task[Any] | None = None
        self._ended_by_other: set[asyncio.Task[Any]] = set()
        self._changed = changed

    def put(self, kind: str, payload: dict[str, Any]) -> int:
        """Queue an update, unless the bot said that it does not want this kind."""
        if self._allowed and kind not in self._allowed:
            return 0
        self._last += 1
        self.queue.append({"update_id": self._last, kind: payload})
        self._news.set()
        return self._last

    def allow(self, kinds: list[str]) -> None:
        """The bot wants these kinds from now on."""
        self._allowed = kinds

    def again(self, update: dict[str, Any]) -> None:
        """Deliver an update once more, as it is."""
        self.queue.append(update)
        self._news.set()

    async def get(self, form: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Wait for updates as a long poll does. A poll that is still waiting ends with 409."""
        if self.webhook:
            raise Refused(409, WEBHOOK)
        me = asyncio.current_task()
        assert me is not None
        if self._poller is not None:
            self._ended_by_other.add(self._poller)
            self._news.set()
        self._poller = me
        self.started += 1
        self.now += 1
        self.most = max(self.most, self.now)
        self._changed()
        try:
            found = await self._wait(me, form)
            self.completed += 1
            if found and self.oddly:
                self.oddly -= 1
                return [{kind: told for kind, told in update.items() if kind != "update_id"} for update in found]
            return found
        finally:
            self.now -= 1
            self._ended_by_other.discard(me)
            self._poller = None if self._poller is me else self._poller
            self._changed()

    async def _wait(self, me: asyncio.Task[Any], form: Mapping[str, Any]) -> list[dict[str, Any]]:
        offset = int(form.get("offset", 0))
        self.confirmed = max(self.confirmed, offset)
        self.queue = [update for update in self.queue if update["update_id"] >= offset]
        if "allowed_updates" in form:
            self._allowed = json.loads(form["allowed_updates"])
        try:
            async with asyncio.timeout(float(form.get("timeout", 0))):
                while not (self.queue and self.hearing.is_set()):
                    await self.hearing.wait()
                    self._news.clear()
                    if not self.queue:
                        await self._news.wait()
                    if me in self._ended_by_other:
                        raise Refused(409, CONFLICT)
        except TimeoutError:
            await self.hearing.wait()
        return self.queue[: int(form.get("limit", 100))]
