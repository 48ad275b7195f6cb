"""The table of facts that people told the service to remember. They are found by words and, if an embedding endpoint
is set, by meaning.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from array import array
from collections.abc import Callable, Collection, Sequence
from operator import mul
from typing import Final

from sqlalchemy import Text, bindparam, delete, exists, func, or_, select, update

from agent.models.other_models import Embedder, EmbeddingFailed, Vector
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
from bot.store.codec import Codec, json_text
from bot.store.database import (
    Database,
    Parameters,
    Row,
    Transaction,
    WithValues,
    given,
    has_words,
    in_turn,
    insert,
    is_listed,
    listed,
    upsert,
)
from bot.store.tables.people import facts, forgettings
from bot.store.waiting import PATIENCE_S

logger = logging.getLogger(__name__)

TRIGRAM: Final = 3
"""Length of the shortest word that the index finds; shorter ones are searched for in the texts."""
AT_ONCE: Final = 64
"""Most texts per call to the embedding endpoint."""
_RANKS: Final = 10.0
"""How little the first places count more than the next when two rankings are put together
(https://doi.org/10.1145/1571941.1572114 has 60, for lists of a thousand)."""

_FACT: Final = Codec(Fact, facts)
_OF_ACCOUNTS: Final = is_listed(facts.c.person, "own")
_ALL: Final = select(facts).where(_OF_ACCOUNTS).order_by(facts.c.id)
_OWN: Final = _OF_ACCOUNTS & facts.c.phone.in_(("", bindparam("phone", type_=Text())))
_SHORT: Final = listed("short")
_THERE: Final = select(func.count()).select_from(facts).where(_OWN).correlate(None).scalar_subquery().label("there")
_HERE: Final = select(facts).where(_OWN).order_by(facts.c.id)
_BY_WORDS: Final = _HERE.add_columns(_THERE).where(
    or_(
        has_words(facts.c.id, "words"),
        exists().select_from(_SHORT).where(func.instr(func.folded(facts.c.text), _SHORT.c.value) > 0),
    )
)
_ADD: Final = insert(facts, ("person", "text", "phone", "source", "created")).returning(facts)
_USED: Final = update(facts).where(is_listed(facts.c.id, "facts")).values(used=bindparam("used"))
_FORGET: Final = delete(facts).where(_OF_ACCOUNTS, is_listed(facts.c.id, "facts")).returning(facts)
_FORGOTTEN: Final = upsert(forgettings, forgettings.c.keys())
_KEEP: Final = update(facts).where(given(facts.c.id)).values(embedder=bindparam("embedder"), vector=bindparam("vector"))


class MemoryTable:
    """The table of remembered facts. Implements `agent.ports.memory.Memory`.

    `accounts` returns all accounts of a person. `embedder` returns the client that computes vectors of texts, or None
    to search by words only. Missing vectors are computed at the next `recall`; if the endpoint fails, only the search
    by words is used.
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
        """Store a fact as one line of at most MAX_FACT characters, and return it; the same fact is stored once per
        person.

        `phone` limits it to one phone, "" means all. Raises MemoryFull when the person has MAX_FACTS facts,
        StoreError, and ValueError if `agent.ports.memory.fact_text` refuses the text.
        """
        text, own = fact_text(person, text), self._own(person)

        async def work(transaction: Transaction) -> Fact:
            there = _FACT.read_all(await transaction.fetch(_ALL, {"own": own}))
            known = next((fact for fact in there if (fact.text, fact.phone) == (text, phone)), None)
            if known is not None:
                return known
            if len(there) >= MAX_FACTS:
                raise MemoryFull
            fact = Fact(0, text, person, phone, source, self._clock())
            return _FACT.read((await transaction.fetch(_ADD, _FACT.values(fact)))[0])

        return await self._database.write(work)

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """Return at most `limit` facts of the person that match the text `about`, the best first.

        Facts that belong to one phone are included only for this `phone`. Raises StoreError.
        """
        if not person:
            return ()
        own = self._own(person)
        rankings = [await self._by_words(own, about, phone)]
        if (embedder := self._embedder()) is not None:
            try:
                rankings.append(await self._by_meaning(own, about, phone, embedder, limit))
            except EmbeddingFailed as error:
                logger.warning("Facts cannot be compared by meaning, so only their words are searched: %s", error)
        found = _together(rankings)[:limit]
        if found:
            ids = json_text([fact.id for fact in found])
            await self._database.execute(_USED, {"used": self._clock(), "facts": ids}, patience=PATIENCE_S)
        return tuple(found)

    async def all(self, person: str) -> tuple[Fact, ...]:
        """Return all facts of the person, the oldest first. Raises StoreError."""
        return _FACT.read_all(await self._database.fetch(_ALL, {"own": self._own(person)}))

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """Delete those of these facts that are the person's, and return them. In SQLite their texts are also
        overwritten in the database's files. Raises StoreError.
        """
        own = sorted(self._accounts(person)) if person else []
        values: Parameters = {"own": json_text(own), "facts": json_text(sorted(facts))}

        async def work(transaction: Transaction) -> list[Row]:
            gone = await transaction.fetch(_FORGET, values)
            if gone:
                for statement in self._database.engine.forget_words():
                    await transaction.fetch(statement)
                for account in own:
                    await transaction.fetch(_FORGOTTEN, {"person": account, "at": self._clock()})
            return gone

        return _FACT.read_all(await self._database.erase(work))

    def _own(self, person: str) -> str:
        return json_text(sorted(self._accounts(person)) if person else [])

    async def _by_words(self, own: str, about: str, phone: str) -> list[Fact]:
        wanted = terms(about)[:MAX_TERMS]
        if not wanted:
            return []
        long = [term for term in wanted if len(term) >= TRIGRAM]
        values: Parameters = {
            "own": own,
            "phone": phone,
            "words": self._database.engine.any_of(long),
            "short": json_text([term for term in wanted if len(term) < TRIGRAM]),
        }
        rows = await self._database.fetch(_BY_WORDS, values, patience=PATIENCE_S)
        if not rows:
            return []
        places = ranked(about, [row["text"] for row in rows], rows[0]["there"])
        return [_FACT.read(rows[place]) for place in places]

    async def _by_meaning(self, own: str, about: str, phone: str, embedder: Embedder, limit: int) -> list[Fact]:
        """The nearest facts. Raises EmbeddingFailed."""
        rows = await self._database.fetch(_HERE, {"own": own, "phone": phone}, patience=PATIENCE_S)
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
        return [_FACT.read(by_id[fact]) for fact in near]

    async def _keep(self, vectors: dict[int, Vector], embedder: str) -> None:
        rows: list[WithValues] = [
            (_KEEP, {"id": fact, "embedder": embedder, "vector": _blob(vector)}) for fact, vector in vectors.items()
        ]
        await self._database.write(in_turn(*rows), patience=PATIENCE_S)


def _together(rankings: Sequence[Sequence[Fact]]) -> list[Fact]:
    """Several rankings as one: each place in each counts."""
    scores: dict[Fact, float] = {}
    for ranking in rankings:
        for place, fact in enumerate(ranking):
            scores[fact] = scores.get(fact, 0.0) + 1 / (_RANKS + place)
    return sorted(scores, key=lambda fact: scores[fact], reverse=True)


def _nearest(wanted: Vector, vectors: dict[int, Vector], limit: int) -> list[int]:
    """Return the facts whose vectors are most similar to the wanted one. Blocks for some milliseconds per thousand."""
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
