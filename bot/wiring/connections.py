"""Creates the chats that the settings configure, keeps them connected, and moves all data of a chat that gets another
id, as when a Telegram group becomes a supergroup.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

from bot.application.services import Services
from bot.config.settings import Settings
from bot.domain.address import Address, Place
from bot.domain.chat import Chat, ChatError, Connected, FloodWait
from bot.domain.outgoing import Message
from bot.outbox.outbox import Outbox
from bot.platform import Platform
from bot.store.errors import StoreError
from bot.texts import language_of, say, speaking

logger = logging.getLogger(__name__)


class ChatMoves:
    """Handles the move of a chat to another id; called by a chat adapter each time that it learns of one. Lists that
    contain the old id also apply to the new one: it is the same group, and only Telegram itself reports such a move.
    """

    def __init__(self, services: Services, outbox: Outbox, *, language: str = "auto") -> None:
        self._services = services
        self._outbox = outbox
        self._language = language

    async def __call__(self, old: Address, new: str) -> None:
        """Move the tasks, questions and schedules of the chat `old` to the id `new`, and tell people."""
        if not await self._services.store.moves.move(old, new, now=self._services.clock()):
            return
        logger.warning(
            "The %s chat %s now has the id %s and is still allowed. Replace the old id in the settings.",
            old.platform,
            old.chat,
            new,
        )
        await self._services.rights.refresh()
        await self._outbox.move(old, new)
        await self._tell(replace(old, chat=new, thread=""), old.chat)

    async def _tell(self, place: Address, old: str) -> None:
        chat = self._services.chats.get(place.platform)
        if chat is None or old not in self._services.rights.listed_chats(place.platform):
            return
        with speaking(language_of(self._language, "")):
            message = Message(body=say("moved.told", old=old, new=place.chat))
        try:
            await chat.send(place, message, nonce=f"moved-{old}", turn=self._services.turns(Place(place)))
        except (ChatError, FloodWait) as refused:
            logger.info("The new id was not told in the chat: %s", refused)


OWNERSHIP_CHECK_S = 0.25
"""Seconds between two checks that the record still belongs to this service."""
CLOSE_WITHIN = 5.0
"""Seconds that a chat gets to disconnect from its platform, and again to end once it is cancelled."""

FIRST_PAUSE = 1.0
"""Seconds until a connection that has ended is made again; doubled each time, until one has lasted LAST_PAUSE."""
LAST_PAUSE = 300.0


class ConnectedChats:
    """The chats that the settings configure.

    `make` creates a chat that is not connected yet. `chats` contains the chats by platform, for the rest of the
    service. `changed` is called with each platform whose chat was replaced or removed.
    """

    def __init__(
        self,
        platforms: Sequence[Platform[Any]],
        make: Callable[[Platform[Any], Settings], Connected],
        chats: dict[str, Chat],
        changed: Callable[[str], Awaitable[None]],
    ) -> None:
        self._platforms = platforms
        self._make = make
        self._chats = chats
        self._on_changed = changed
        self._connections: dict[str, tuple[Connected, asyncio.Task[None] | None]] = {}
        self._made_with: dict[str, object] = {}
        """By platform what its chat was made with."""
        self._closed = asyncio.Event()
        self._lock = asyncio.Lock()
        self._unreported: set[str] = set()
        """The platforms that `changed` has yet to hear of."""

    def make(self, settings: Settings) -> None:
        """Create the chats that are configured. If one cannot be created, that is logged in one line."""
        for platform in self._platforms:
            self._add(platform, settings)

    def start(self) -> None:
        """Connect the chats that were created, and keep them connected until `close`."""
        for name in self._connections:
            self._connect(name)

    def of(self, *platforms: str) -> list[Connected]:
        """Return the existing chats of these platforms."""
        return [self._connections[name][0] for name in platforms if name in self._connections]

    def online(self, platform: str) -> bool | None:
        """Return whether this platform's chat is connected at the moment; None if there is no such chat."""
        return next((chat.online for chat in self.of(platform)), None)

    async def change(self, settings: Settings) -> None:
        """Connect, disconnect and reconnect chats as these settings require; does nothing after `close`. If `changed`
        raises an error, that is raised, and the next call reports the same platforms again.
        """
        async with self._lock:
            if self._closed.is_set():
                return
            others = [one for one in self._platforms if self._made_with.get(one.name) != _own(one, settings)]
            for platform in others:
                self._unreported.add(platform.name)
                # The old connection has to end first, because a platform allows one reader for each token.
                await self._remove(platform.name)
                if self._closed.is_set():
                    return
                self._add(platform, settings)
                self._connect(platform.name)
            for name in sorted(self._unreported):
                await self._on_changed(name)
                self._unreported.remove(name)

    async def resume(self, settings: Settings) -> None:
        """Reconnect all chats after `close`. Raises what `change` does."""
        async with self._lock:
            self._closed.clear()
        await self.change(settings)

    async def close(self) -> None:
        """End all connections within twice CLOSE_WITHIN seconds. No new ones are made until `resume`."""
        self._closed.set()  # for a change that is under way, too
        self._made_with.clear()
        await asyncio.gather(*map(self._remove, [*self._connections]))

    def _connect(self, name: str) -> None:
        if (made := self._connections.get(name)) is not None:
            self._connections[name] = (made[0], asyncio.create_task(keep_connected(made[0]), name=name))

    def _add(self, platform: Platform[Any], settings: Settings) -> None:
        if refusal := platform.refusal(settings):
            logger.warning("%s", refusal)
        elif platform.is_set(settings):
            chat = self._chats[platform.name] = self._make(platform, settings)
            self._connections[platform.name] = (chat, None)
        else:
            logger.info("%s is skipped: %s is not set.", platform.title, platform.token.upper())
        self._made_with[platform.name] = _own(platform, settings)

    async def _remove(self, name: str) -> None:
        if (made := self._connections.pop(name, None)) is not None:
            del self._chats[name]
            chat, task = made
            if task is not None:
                await disconnect(task, chat)


async def connect_while(
    is_ours: Callable[[], bool], pause: Callable[[], Awaitable[None]], resume: Callable[[], Awaitable[None]]
) -> None:
    """Keep chats connected only while this service certainly owns the record (the stored data). Calls `pause` when
    another service may have taken it over, and `resume` when `is_ours` returns True again. Runs until cancelled.
    """
    paused = False
    while True:
        await asyncio.sleep(OWNERSHIP_CHECK_S)
        if is_ours() is not paused:
            continue
        try:
            await (resume() if paused else pause())
        except StoreError as error:
            logger.info("The chats stay disconnected: %s", error)
            continue
        except Exception:
            logger.exception(
                "The chats could not be %s; this will be tried again", "connected" if paused else "disconnected"
            )
            continue
        paused = not paused
        logger.info("The chats are %s.", "disconnected, as another service may have taken over" if paused else "back")


def _own(platform: Platform[Any], settings: Settings) -> object:
    """Return the settings that a platform's chat depends on. The chat is replaced when they change."""
    own = [getattr(settings, name) for name in platform.settings.model_fields if name not in Settings.model_fields]
    return own, platform.refusal(settings) == ""


async def keep_connected(
    chat: Connected,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Keep one chat connected until it is closed, and reconnect after any error. Its errors affect nothing else.

    `clock` returns seconds; `sleep` waits for some.
    """
    pause = FIRST_PAUSE
    while True:
        began = clock()
        try:
            return await chat.run()
        except ChatError as error:
            why, fault = str(error), None
        except Exception as error:
            if (own := asyncio.current_task()) is not None and own.cancelling():
                raise  # a library's fault at its end takes the place of the cancellation
            why, fault = "There was a fault in the program.", error
        if clock() - began >= LAST_PAUSE:
            pause = FIRST_PAUSE
        logger.error("%s is not connected: %s Next attempt in %.0f s.", chat.platform, why, pause, exc_info=fault)
        await sleep(pause)
        pause = min(pause * 2, LAST_PAUSE)


async def disconnect(task: asyncio.Task[None], chat: Connected) -> None:
    """Close a chat, for at most CLOSE_WITHIN seconds and whatever goes wrong; then cancel the asyncio task of its
    connection and wait until that has ended, for at most CLOSE_WITHIN seconds more.
    """
    try:
        async with asyncio.timeout(CLOSE_WITHIN):
            await chat.close()
    except TimeoutError:
        logger.warning("%s did not close in time and was abandoned", chat.platform)
    except Exception:
        logger.exception("%s could not be closed and was abandoned", chat.platform)
    task.cancel()
    await asyncio.wait({task}, timeout=CLOSE_WITHIN)
    if not task.done():
        logger.error("%s is still connected: its connection did not end when it was cancelled", chat.platform)
    elif not task.cancelled() and (fault := task.exception()) is not None:
        logger.error("%s did not close in time and then failed", chat.platform, exc_info=fault)
