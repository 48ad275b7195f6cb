"""Endpoints that are not models of a task, for voice notes and for facts, by the current settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from bot.config.settings import Settings


class Closable(Protocol):
    """A client with connections."""

    async def close(self) -> None:
        """Close all connections."""
        ...


C = TypeVar("C", bound=Closable)


class SideEndpoint(Generic[C]):
    """Holds the client that `make` gives for the settings, None where they name no endpoint. Settings whose names begin
    with `prefix` are its own: it is made anew when one of them changes.
    """

    def __init__(self, prefix: str, make: Callable[[Settings], C | None], settings: Settings) -> None:
        self._make = make
        self._fields = [name for name in type(settings).model_fields if name.startswith(prefix)]
        self._of = self._own(settings)
        self._made: list[C | None] = [make(settings)]

    def now(self) -> C | None:
        """The current client. Read it for each use instead of keeping it."""
        return self._made[-1]

    def change(self, settings: Settings) -> None:
        """From now on these hold. What was used before stays open until the end: somebody may be waiting for it."""
        if (own := self._own(settings)) != self._of:
            self._of = own
            self._made.append(self._make(settings))

    async def close(self) -> None:
        """Close all connections, after which the clients must not be used."""
        for client in self._made:
            if client is not None:
                await client.close()

    def _own(self, settings: Settings) -> tuple[object, ...]:
        return tuple(getattr(settings, name) for name in (*self._fields, "prices"))
