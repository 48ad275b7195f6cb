"""Lets a host use the hub's files and people's remembered facts. Files are transferred in pieces, because the message
broker takes at most a megabyte per message.
"""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent.ports.memory import MAX_FACT, MAX_FACTS, RECALLED, Fact, FactSource, Memory, MemoryFull
from agent.ports.runner import RunOrder
from agent.ports.stores import Frames
from bot.fleet.engine import EngineAway
from bot.fleet.messages import GetFile, Reply, UseMemory

PIECE: Final = 512 * 1024
LARGEST: Final = 100 * 1024 * 1024
"""Bytes of one file; chats accept half of that at most."""


async def piece_of(frames: Frames, asked: GetFile) -> tuple[Reply, bytes]:
    """Return the requested piece of a stored file, and in the reply the size of the whole file (or that it is
    missing).
    """
    try:
        data = await frames.load(asked.reference)
    except KeyError:
        return Reply(missing=True), b""
    return Reply(data=len(data)), data[asked.offset : asked.offset + PIECE]


async def all_pieces(reference: str, ask: Callable[[GetFile], Awaitable[tuple[Reply, bytes]]]) -> bytes:
    """Fetch a file in pieces and check it against the SHA-256 in its reference.

    `ask` returns the reply and the bytes that came with it. Raises KeyError if the file is missing, too large or
    damaged, and what `ask` raises.
    """
    found = bytearray()
    while True:
        reply, body = await ask(GetFile(reference=reference, offset=len(found)))
        if reply.missing or not isinstance(reply.data, int) or not 0 <= reply.data <= LARGEST:
            raise KeyError(reference)
        found += body
        if len(found) >= reply.data:
            break
        if len(body) != PIECE:
            raise KeyError(reference)
    if hashlib.sha256(found).hexdigest() != reference.partition(".")[0]:
        raise KeyError(reference)
    return bytes(found)


class HostFrames:
    """The file storage (`Frames`) of a host. Files that belong to a task are fetched from the hub when needed; others
    are stored here.
    """

    def __init__(self, frames: Frames, from_hub: Callable[[str], Awaitable[bytes]]) -> None:
        self._frames = frames
        self._from_hub = from_hub

    async def save(self, data: bytes, *, suffix: str) -> str:
        """Store the bytes and return their reference, such as "<sha256>.jpg"."""
        return await self._frames.save(data, suffix=suffix)

    async def load(self, reference: str) -> bytes:
        """Return the bytes of a reference, fetched from the hub if they are not here. Raises KeyError if they cannot
        be had.
        """
        try:
            return await self._frames.load(reference)
        except KeyError:
            try:
                data = await self._from_hub(reference)
            except EngineAway:
                raise KeyError(reference) from None
            await self._frames.save(data, suffix=reference.partition(".")[2])
            return data


_FACTS: Final = TypeAdapter(tuple[Fact, ...])


async def answer_file(frames: Frames, asked: GetFile, orders: Iterable[RunOrder]) -> tuple[Reply, bytes]:
    """Answer a host's request for a piece of a file. Only files that belong to these orders are given; others count as
    missing.
    """
    if asked.reference not in {file.content for order in orders for file in order.files}:
        return Reply(missing=True), b""
    return await piece_of(frames, asked)


class _Given(BaseModel):
    """The arguments that a host may pass to the memory."""

    model_config = ConfigDict(frozen=True)

    text: str = Field(default="", max_length=MAX_FACT)
    about: str = Field(default="", max_length=10_000)
    phone: str = ""
    source: FactSource = "person"
    limit: int = Field(default=RECALLED, ge=1, le=MAX_FACTS)
    facts: tuple[int, ...] = Field(default=(), max_length=MAX_FACTS)


async def answer_memory(
    memory: Memory, asked: UseMemory, persons: Collection[str], has: Callable[[str], bool]
) -> Reply:
    """Answer a host's request about people's remembered facts.

    Only facts of these `persons` are available, and not those about phones for which `has` (called with the phone's
    id) is False.
    """
    if not asked.person or asked.person not in persons:
        return Reply(error="This host does nothing for that person.")
    try:
        given = _Given.model_validate(asked.arguments)
        if given.phone and not has(given.phone):
            return Reply(error="This host does not have that phone.")
        found = await _call(memory, asked, given, has)
    except MemoryFull:
        return Reply(data="full")
    except (ValueError, OSError) as error:
        return Reply(error=str(error))
    return Reply(data=[asdict(fact) for fact in found if not fact.phone or has(fact.phone)])


async def _call(memory: Memory, asked: UseMemory, given: _Given, has: Callable[[str], bool]) -> Sequence[Fact]:
    match asked.call:
        case "remember":
            return (await memory.remember(asked.person, given.text, phone=given.phone, source=given.source),)
        case "recall":
            return await memory.recall(asked.person, given.about, phone=given.phone, limit=given.limit)
        case "all":
            return await memory.all(asked.person)
        case "forget":
            known = {fact.id for fact in await memory.all(asked.person) if not fact.phone or has(fact.phone)}
            return await memory.forget(asked.person, known.intersection(given.facts))


class HubMemory:
    """The memory of people's facts on a host. It sends each call to the hub with `ask`, which raises OSError if the hub
    cannot be reached or refuses; so does every method.
    """

    def __init__(self, ask: Callable[[UseMemory], Awaitable[Reply]]) -> None:
        self._ask = ask

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """Store a fact about the person as one line of at most MAX_FACT characters, and return it. Raises
        MemoryFull.
        """
        return (await self._facts(person, "remember", text=text, phone=phone, source=source))[0]

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """Return at most `limit` facts that match the text `about`, the best first. Facts about one phone are included
        only for this `phone`.
        """
        return await self._facts(person, "recall", about=about, phone=phone, limit=limit)

    async def all(self, person: str) -> tuple[Fact, ...]:
        """Return all facts of the person, the oldest first."""
        return await self._facts(person, "all")

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """Delete those of these facts that are the person's, and return them."""
        return await self._facts(person, "forget", facts=list(facts))

    async def _facts(self, person: str, call: Any, **arguments: Any) -> tuple[Fact, ...]:  # noqa: ANN401 - JSON
        reply = await self._ask(UseMemory(person=person, call=call, arguments=arguments))
        if reply.data == "full":
            raise MemoryFull
        return _FACTS.validate_python(reply.data)
