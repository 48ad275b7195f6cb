"""What a host may have of the hub: files of the tasks whose runs it does, and the memory of their people."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable
from dataclasses import asdict
from typing import Any, Final

from pydantic import TypeAdapter

from agent.ports.frames import Frames
from agent.ports.memory import RECALLED, Fact, FactSource, Memory, MemoryFull
from agent.ports.runner import RunOrder
from bot.fleet.files import piece_of
from bot.fleet.messages import GetFile, Reply, UseMemory

_FACTS: Final = TypeAdapter(tuple[Fact, ...])


async def answer_file(frames: Frames, asked: GetFile, orders: Iterable[RunOrder]) -> tuple[Reply, bytes]:
    """A piece of a file that came with one of these orders, and of no other."""
    if asked.reference not in {file.content for order in orders for file in order.files}:
        return Reply(missing=True), b""
    return await piece_of(frames, asked)


async def answer_memory(memory: Memory, asked: UseMemory, persons: Collection[str]) -> Reply:
    """What a host may have of the memory, which is that of these persons."""
    if not asked.person or asked.person not in persons:
        return Reply(error="This host does nothing for that person.")
    calls: dict[str, Callable[..., Awaitable[Any]]] = {
        "remember": memory.remember,
        "recall": memory.recall,
        "all": memory.all,
        "forget": memory.forget,
    }
    try:
        found = await calls[asked.call](asked.person, **asked.arguments)
    except MemoryFull:
        return Reply(data="full")
    except (TypeError, ValueError, OSError) as error:
        return Reply(error=str(error))
    facts = (found,) if isinstance(found, Fact) else found
    return Reply(data=[asdict(fact) for fact in facts])


class HubMemory:
    """Implements Memory at a host. `ask` asks the hub; it raises OSError."""

    def __init__(self, ask: Callable[[UseMemory], Awaitable[Reply]]) -> None:
        self._ask = ask

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """See Memory."""
        return (await self._facts(person, "remember", text=text, phone=phone, source=source))[0]

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """See Memory."""
        return await self._facts(person, "recall", about=about, phone=phone, limit=limit)

    async def all(self, person: str) -> tuple[Fact, ...]:
        """See Memory."""
        return await self._facts(person, "all")

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """See Memory."""
        return await self._facts(person, "forget", facts=list(facts))

    async def _facts(self, person: str, call: Any, **arguments: Any) -> tuple[Fact, ...]:  # noqa: ANN401 - JSON
        reply = await self._ask(UseMemory(person=person, call=call, arguments=arguments))
        if reply.data == "full":
            raise MemoryFull
        return _FACTS.validate_python(reply.data)
