"""Holds the clients of endpoints that are not models of a task (for voice notes and for facts), by the current
settings.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from bot.config.settings import Settings


class Closable(Protocol):
    """A client with connections that can be closed."""

    async def close(self) -> None:
        """Close all connections."""
        ...


C = TypeVar("C", bound=Closable)


class SideEndpoint(Generic[C]):
    """Holds the client that `make` creates from the settings; None if they name no endpoint. A new client is created
    when the prices or one of the settings whose names begin with `prefix` change.
    """

    def __init__(self, prefix: str, make: Callable[[Settings], C | None], settings: Settings) -> None:
        self._make = make
        self._fields = [name for name in type(settings).model_fields if name.startswith(prefix)]
        self._of = self._own(settings)
        self._made: list[C | None] = [make(settings)]

    def now(self) -> C | None:
        """Return the current client, None if there is none. Call this for each use instead of keeping the client."""
        return self._made[-1]

    def change(self, settings: Settings) -> None:
        """Use these settings from now on. A former client stays open until `close`, because it may be in use."""
        if (own := self._own(settings)) != self._of:
            self._of = own
            self._made.append(self._make(settings))

    async def close(self) -> None:
        """Close all clients. They must not be used afterwards."""
        for client in self._made:
            if client is not None:
                await client.close()

    def _own(self, settings: Settings) -> tuple[object, ...]:
        return tuple(getattr(settings, name) for name in (*self._fields, "prices"))
