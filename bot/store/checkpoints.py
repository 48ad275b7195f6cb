"""What the checkpoints of the graphs have in common, whichever database keeps them."""

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
"""Super-steps of a thread after which its earlier checkpoints go. A step on a phone has five; each keeps the whole
state, and nobody goes back further than to the last."""
_OF_THE_GRAPH: Final = "__"
"""Begins the names of LangGraph's own channels: questions, answers, errors. Those of a state are ordinary words."""
_NOTHING: Final = "__no_writes__"
"""What a node has written that wrote nothing."""


class Checkpoints(BaseCheckpointSaver[str], ABC):
    """Keeps the last checkpoint of each thread, and for a moment a few before it. What is pending (questions, answers,
    errors) belongs to the last one and stays. While nothing can be written, the graph stands still. All raises
    StoreError and its kinds.
    """

    _writes: PatientWrites

    @property
    def trouble(self) -> str:
        """Why writing fails at the moment; "" if it works, or was not tried."""
        return self._writes.trouble

    async def probe(self) -> None:
        """While nothing can be written, look whether it can again: the graph that failed does not."""
        if self.trouble:
            with suppress(StoreError):
                await self._writes.once(self._try_out)

    @abstractmethod
    async def _try_out(self) -> None:
        """Write something that changes nothing."""

    @abstractmethod
    async def size(self) -> int:
        """Bytes that the checkpoints take on the disk."""

    @abstractmethod
    async def forget(self, task: str) -> None:
        """Delete the checkpoints of a task and its runs."""


def serializer() -> JsonPlusSerializer:
    """Reads only plain data and LangGraph's own types. LANGGRAPH_STRICT_MSGPACK says the same, but counts only where it
    was set before anything imported LangGraph.
    """
    return JsonPlusSerializer(allowed_msgpack_modules=None)


def is_pending(writes: Sequence[tuple[str, Any]]) -> bool:
    """Whether there is more in what belongs to a checkpoint than a node has written: the next checkpoint has that a
    moment later.
    """
    return any(channel.startswith(_OF_THE_GRAPH) and channel != _NOTHING for channel, _ in writes)


def threads_of(task: str) -> tuple[str, str, str, str, str]:
    """The thread of a task, and the two ranges of names (from, and before) of those of its runs and members."""
    # "." is the character behind "-", and ";" behind ":": every run and member of the task and of no other.
    return f"task:{task}", f"run:{task}-", f"run:{task}.", f"member:{task}:", f"member:{task};"
