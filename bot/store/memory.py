"""The table of facts that people have told the service to remember, found by words and, where an endpoint gives
vectors, by meaning.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
import sys
from array import array
from collections.abc import Callable, Collection, Sequence
from operator import mul
from typing import Final

from agent.models.embedding import Embedder, EmbeddingFailed, Vector
from agent.ports.memory import (
    MAX_FACTS,
    RECALLED,
    Accounts,
    Fact,
    FactSource,
    MemoryFull,
    fact_text,
    only_that,
)
from agent.relevance import MAX_TERMS, ranked, terms
from bot.store.connection import Transaction
from bot.store.database import Database
from bot.store.json_columns import json_text

logger = logging.getLogger(__name__)

TRIGRAM: Final = 3
"""Letters of the shortest word that the index finds; shorter ones are looked for in the texts."""
AT_ONCE: Final = 64
"""Facts for which vectors are asked in one call."""
_RANKS: Final = 10.0
"""How little the first places count more than the next when two rankings are put together
(https://doi.org/10.1145/1571941.1572114 has 60, for lists of a thousand)."""

_OWN: Final = "person IN (SELECT value FROM json_each(?1)) AND phone IN ('', ?2)"


class MemoryTable:
    """Implements agent.ports.memory.Memory. `accounts` gives all accounts of a person; `embedder` gives None for words
    alone. Vectors that are missing are asked for at the next recall; an endpoint that fails costs only its findings.
    """

    def __init__(
        self,
        database: Database,
        clock: Callable[[], float],
        *,
        accounts: Accounts = only_that,
        embedder: Callable[[], Embedder | None] = lambda: None,
    ) -> None:
        self._database = database
        self._clock = clock
        self._accounts = accounts
        self._embedder = embedder

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """See Memory. Raises StoreError as well."""
        text, own = fact_text(person, text), self._own(person)

        async def work(transaction: Transaction) -> Fact:
            there = await transaction.fetch(
                "SELECT * FROM facts WHERE person IN (SELECT value FROM json_each(?)) ORDER BY id", (own,)
            )
            known = next((row for row in there if (row["text"], row["phone"]) == (text, phone)), None)
            if known is not None:
                return _fact(known)
            if len(there) >= MAX_FACTS:
                raise MemoryFull
            rows = await transaction.fetch(
                "INSERT INTO facts (person, text, phone, source, created) VALUES (?, ?, ?, ?, ?) RETURNING *",
                (person, text, phone, source, self._clock()),
            )
            return _fact(rows[0])

        return await self._database.write(work)

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """See Memory. Raises StoreError."""
        if not person:
            return ()
        own = self._own(person)
        rankings = [await self._by_words(own, about, phone)]
        if (embedder := self._embedder()) is not None:
            try:
                rankings.append(await self._by_meaning(own, about, phone, embedder, limit))
            except EmbeddingFailed as error:
                logger.warning("facts are recalled by words alone: %s", error)
        found = _together(rankings)[:limit]
        if found:
            used = (self._clock(), json_text([fact.id for fact in found]))
            await self._database.write(
                lambda transaction: transaction.fetch(
                    "UPDATE facts SET used = ? WHERE id IN (SELECT value FROM json_each(?))", used
                )
            )
        return tuple(found)

    async def all(self, person: str) -> tuple[Fact, ...]:
        """See Memory. Raises StoreError."""
        rows = await self._database.fetch(
            "SELECT * FROM facts WHERE person IN (SELECT value FROM json_each(?)) ORDER BY id", (self._own(person),)
        )
        return tuple(map(_fact, rows))

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """See Memory. What is removed is overwritten in the file, and in its log. Raises StoreError."""
        own, now = self._own(person), self._clock()

        async def work(transaction: Transaction) -> list[sqlite3.Row]:
            await transaction.fetch("PRAGMA secure_delete = ON")
            gone = await transaction.fetch(
                "DELETE FROM facts WHERE person IN (SELECT value FROM json_each(?))"
                " AND id IN (SELECT value FROM json_each(?)) RETURNING *",
                (own, json_text(sorted(facts))),
            )
            if gone:
                # Without that the index would keep the letters of what is gone until it is put in order some day.
                await transaction.fetch("INSERT INTO facts_words (facts_words) VALUES ('optimize')")
                await transaction.fetch(
                    "INSERT OR REPLACE INTO forgettings (person, at) SELECT value, ? FROM json_each(?)", (now, own)
                )
            await transaction.fetch("PRAGMA secure_delete = OFF")
            return gone

        gone = await self._database.write(work)
        if gone:
            await self._database.empty_log()
        return tuple(map(_fact, gone))

    def _own(self, person: str) -> str:
        return json_text(sorted(self._accounts(person)) if person else [])

    async def _by_words(self, own: str, about: str, phone: str) -> list[Fact]:
        wanted = terms(about)[:MAX_TERMS]
        if not wanted:
            return []
        long = [term for term in wanted if len(term) >= TRIGRAM]
        match = " OR ".join(f'"{term}"' for term in long)
        rows = await self._database.fetch(
            f"SELECT *, (SELECT COUNT(*) FROM facts WHERE {_OWN}) AS there FROM facts WHERE {_OWN}"  # noqa: S608 - fixed words
            " AND (id IN (SELECT rowid FROM facts_words WHERE facts_words MATCH ?3)"
            " OR EXISTS (SELECT 1 FROM json_each(?4) AS word WHERE instr(folded(facts.text), word.value) > 0))"
            " ORDER BY id",
            (own, phone, match or '""', json_text([term for term in wanted if len(term) < TRIGRAM])),
        )
        if not rows:
            return []
        places = ranked(about, [row["text"] for row in rows], rows[0]["there"])
        return [_fact(rows[place]) for place in places]

    async def _by_meaning(self, own: str, about: str, phone: str, embedder: Embedder, limit: int) -> list[Fact]:
        """The nearest facts. Raises EmbeddingFailed."""
        rows = await self._database.fetch(f"SELECT * FROM facts WHERE {_OWN} ORDER BY id", (own, phone))  # noqa: S608 - fixed words
        if not rows:
            return []
        vectors = {row["id"]: _vector(row["vector"]) for row in rows if row["embedder"] == embedder.name}
        new = [row for row in rows if row["id"] not in vectors][: AT_ONCE - 1]
        wanted, *made = await embedder.embed([about, *(row["text"] for row in new)])
        if new:
            made_now = {row["id"]: vector for row, vector in zip(new, made, strict=True)}
            await self._keep(made_now, embedder.name)
            vectors |= made_now
        near = await asyncio.to_thread(_nearest, wanted, vectors, limit)
        by_id = {row["id"]: row for row in rows}
        return [_fact(by_id[fact]) for fact in near]

    async def _keep(self, vectors: dict[int, Vector], embedder: str) -> None:
        async def work(transaction: Transaction) -> None:
            for fact, vector in vectors.items():
                await transaction.fetch(
                    "UPDATE facts SET embedder = ?, vector = ? WHERE id = ?", (embedder, _blob(vector), fact)
                )

        await self._database.write(work)


def _together(rankings: Sequence[Sequence[Fact]]) -> list[Fact]:
    """Several rankings as one: each place in each counts."""
    scores: dict[Fact, float] = {}
    for ranking in rankings:
        for place, fact in enumerate(ranking):
            scores[fact] = scores.get(fact, 0.0) + 1 / (_RANKS + place)
    return sorted(scores, key=lambda fact: scores[fact], reverse=True)


def _nearest(wanted: Vector, vectors: dict[int, Vector], limit: int) -> list[int]:
    """The facts whose vectors point most in the direction of the wanted one. Blocks: some milliseconds a thousand."""
    near = {fact: sum(map(mul, wanted, vector)) for fact, vector in vectors.items() if len(vector) == len(wanted)}
    return sorted(near, key=lambda fact: near[fact], reverse=True)[:limit]


def _blob(vector: Vector) -> bytes:
    return _little_endian(array("f", vector)).tobytes()


def _vector(blob: bytes) -> Vector:
    numbers = array("f")
    numbers.frombytes(blob)
    return tuple(_little_endian(numbers))


def _little_endian(numbers: array[float]) -> array[float]:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers


def _fact(row: sqlite3.Row) -> Fact:
    return Fact(row["id"], row["text"], row["person"], row["phone"], row["source"], row["created"], row["used"])
