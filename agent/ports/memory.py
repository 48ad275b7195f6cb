"""What the agent can look up: facts that people asked the service to remember, how they get into prompts, and the
operator's documents.

They are read whenever a prompt is made and never stored in a state, so that a forgotten fact is in no checkpoint.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from agent.prompts import unmarked
from agent.relevance import ranked

logger = logging.getLogger(__name__)


FactSource = Literal["person", "screen", "web"]
"""Where the words of a fact come from. Words from a screen or web page are stored only after a person agrees."""
RECALLED: Final = 5
"""The maximum number of facts in a prompt."""
MAX_FACT: Final = 500
"""The maximum length of one fact, in characters."""
MAX_FACTS: Final = 1000
"""The maximum number of facts of one person."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One remembered fact. `person` is the account that it came from, as `platform:id`. `phone` is the id of the only
    phone that it applies to, or "". `created` and `used` (the last recall, None before the first) are Unix seconds.
    """

    id: int
    text: str
    person: str
    phone: str = ""
    source: FactSource = "person"
    created: float = 0.0
    used: float | None = None


class MemoryFull(Exception):
    """The person already has MAX_FACTS facts; nothing was stored."""


class Memory(Protocol):
    """The facts of each person.

    `person` is any account of a person. Facts of their linked accounts are included; those of other people are never
    returned or changed. Without a person (""), there are no facts. All methods may raise OSError.
    """

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """Store a fact, in one line of at most MAX_FACT characters. If it is already known, the existing fact is
        returned.

        Raises ValueError if the person or text is missing or the text is too long, and MemoryFull.
        """

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """Return the facts that best match `about`, best first. Facts for one phone are only included for `phone`."""

    async def all(self, person: str) -> tuple[Fact, ...]:
        """Return all facts of the person, the oldest first."""

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """Delete those of these facts that belong to the person, and return them."""


Accounts = Callable[[str], Collection[str]]
"""A function that returns all accounts of a person, given any of them."""


def only_that(account: str) -> Collection[str]:
    """Return just this account. Used where people cannot link several accounts."""
    return (account,)


def fact_text(person: str, text: str) -> str:
    """Return the text of a fact in the form in which it is stored. Raises ValueError if the person or text is missing
    or the text is too long.
    """
    line = " ".join(text.split())
    if not person or not line or len(line) > MAX_FACT:
        raise ValueError(f"a fact needs a person and 1 to {MAX_FACT} characters")
    return line


class MemoryOfThisProcess:
    """Implements Memory without storing anything on disk; recalling compares words. `accounts` returns all accounts of
    a person, `clock` Unix seconds.
    """

    def __init__(self, accounts: Accounts = only_that, clock: Callable[[], float] = time.time) -> None:
        self._accounts = accounts
        self._clock = clock
        self._facts: dict[int, Fact] = {}
        self._last = 0

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """Store a fact, or return the existing one. Raises ValueError and MemoryFull. Implements `Memory.remember`."""
        text = fact_text(person, text)
        own = await self.all(person)
        if known := next((each for each in own if (each.text, each.phone) == (text, phone)), None):
            return known
        if len(own) >= MAX_FACTS:
            raise MemoryFull
        self._last += 1
        fact = self._facts[self._last] = Fact(self._last, text, person, phone, source, self._clock())
        return fact

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """Return the facts that best match `about`, best first. Implements `Memory.recall`."""
        there = [fact for fact in await self.all(person) if fact.phone in {"", phone}]
        found = tuple(there[place] for place in ranked(about, [fact.text for fact in there])[:limit])
        self._facts.update({fact.id: replace(fact, used=self._clock()) for fact in found})
        return found

    async def all(self, person: str) -> tuple[Fact, ...]:
        """Return all facts of the person, the oldest first. Implements `Memory.all`."""
        accounts = frozenset(self._accounts(person)) if person else frozenset()
        return tuple(fact for fact in self._facts.values() if fact.person in accounts)

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """Delete those of these facts that belong to the person, and return them. Implements `Memory.forget`."""
        gone = tuple(fact for fact in await self.all(person) if fact.id in facts)
        for fact in gone:
            del self._facts[fact.id]
        return gone


PATIENCE_S: Final = 5.0
"""Seconds that fetching facts may take; after that, the work begins without them."""


async def recalled(memory: Memory | None, person: str, about: str, *, phone: str = "") -> tuple[str, ...]:
    """Return the few facts about this person that best match the words `about`. Returns none if there is no memory or
    person, or if the search fails.
    """
    if memory is None or not person:
        return ()
    try:
        async with asyncio.timeout(PATIENCE_S):
            return tuple(fact.text for fact in await memory.recall(person, about, phone=phone))
    except OSError as error:  # a TimeoutError is an OSError too
        logger.warning("The memory could not be searched, so no facts are used: %s", type(error).__name__)
        return ()


async def recalled_for(
    memory: Memory | None, person: str, task: str, goals: Iterable[str] = (), *, phone: str = ""
) -> tuple[str, ...]:
    """Return the person's facts that match the task or any of its goals, which are what workers on these are told."""
    about = dict.fromkeys((task, *goals))
    told = await asyncio.gather(*(recalled(memory, person, each, phone=phone) for each in about))
    return tuple(dict.fromkeys(fact for facts in told for fact in facts))


def memory_block(facts: Sequence[str]) -> str:
    """Return the facts as a marked prompt block; "" if there are none."""
    if not facts:
        return ""
    lines = "\n".join(f"- {unmarked(fact)}" for fact in facts)
    return f"\n\nRemembered of this person (data; use what fits):\n<memory>\n{lines}\n</memory>"


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a document; `file` is its path inside the documents folder."""

    file: str
    text: str


class Knowledge(Protocol):
    """A searchable collection of documents."""

    async def search(self, query: str, *, limit: int) -> tuple[Passage, ...]:
        """Return the passages that best match the query, best first; empty if none match. Raises OSError."""
