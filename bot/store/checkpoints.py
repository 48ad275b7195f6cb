"""Saving LangGraph checkpoints: the part that SQLite and PostgreSQL have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from bot.store.errors import StoreError
from bot.store.waiting import PatientWrites

PRUNE_EVERY: Final = 20
"""LangGraph super-steps of a thread after which its earlier checkpoints are deleted. A step on a phone has five; each
checkpoint holds the whole state, and only the last is ever resumed."""
_OF_THE_GRAPH: Final = "__"
"""Prefix of LangGraph's own channels (interrupts, resume values, errors). A state's channels are ordinary words."""
_NOTHING: Final = "__no_writes__"
"""The channel that LangGraph writes for a node without any output."""


class Checkpoints(BaseCheckpointSaver[str], ABC):
    """A LangGraph checkpoint saver that keeps the last checkpoint of each thread, and for a short time a few earlier
    ones.

    Pending writes (interrupts, resume values, errors) belong to the last checkpoint and are kept with it. While the
    database cannot be written, a save waits and the graph with it, for `PATIENCE_S` (see `bot.store.waiting`) at most.
    All methods may raise StoreError and its subclasses.
    """

    _writes: PatientWrites

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment; "" if it works or was not tried yet."""
        return self._writes.trouble

    async def probe(self) -> None:
        """If the last write failed, try to write again, so that `trouble` is up to date. Does nothing otherwise; never
        raises StoreError.

        A graph whose write failed does not try again by itself.
        """
        if self.trouble:
            with suppress(StoreError):
                await self._writes.once(self._try_out)

    @abstractmethod
    async def _try_out(self) -> None:
        """Write something that changes nothing."""

    @abstractmethod
    async def size(self) -> int:
        """Return how many bytes the checkpoints take on the disk."""

    @abstractmethod
    async def forget(self, task: str) -> None:
        """Delete the checkpoints of a task, of its runs and of its team members."""


def serializer() -> JsonPlusSerializer:
    """Return a serializer that reads only plain data and LangGraph's own types, and no arbitrary Python objects.

    The environment variable LANGGRAPH_STRICT_MSGPACK does the same, but only if it is set before LangGraph is
    imported.
    """
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def is_pending(writes: Sequence[tuple[str, Any]]) -> bool:
    """Return whether a checkpoint's writes, as (channel, value), contain more than node output: an interrupt, answer
    or error.

    Plain node output is part of the next checkpoint a moment later, so it need not be stored separately.
    """
    return any(channel.startswith(_OF_THE_GRAPH) and channel != _NOTHING for channel, _ in writes)


def threads_of(task: str) -> tuple[str, str, str, str, str]:
    """Return the LangGraph thread ids that belong to a task.

    The result is the task's own thread, then two half-open ranges of names as (from, before, from, before): the
    threads of its runs and those of its team members.
    """
    # "." is the character behind "-", and ";" behind ":": every run and member of the task and of no other.
    return f"task:{task}", f"run:{task}-", f"run:{task}.", f"member:{task}:", f"member:{task};"
