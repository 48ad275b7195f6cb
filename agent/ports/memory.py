"""What people have told the service to remember: facts, each of one person."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from agent.relevance import ranked

FactSource = Literal["person", "screen", "web"]
"""Where the words of a fact come from. Those of a screen or a page are kept only after a person's yes."""
RECALLED: Final = 5
"""Facts that stand in a prompt at most: a few lines."""
MAX_FACT: Final = 500
"""Characters of one fact."""
MAX_FACTS: Final = 1000
"""Facts of one person."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is remembered. `person` is the account that told it, as `platform:id`; `phone` a phone's id when
    it holds for that one alone, else "". `created` and `used` (the last recall, None before the first) are Unix
    seconds.
    """

    id: int
    text: str
    person: str
    phone: str = ""
    source: FactSource = "person"
    created: float = 0.0
    used: float | None = None


class MemoryFull(Exception):
    """The person has MAX_FACTS facts; nothing was kept."""


class Memory(Protocol):
    """Facts by person. `person` is any account of somebody; all facts of their linked accounts are theirs, and nobody
    else's are ever returned or touched. Without a person ("") there is nothing. All methods may raise OSError.
    """

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """Keep a fact, in one line and at most MAX_FACT characters. One that is known already is returned as it is.

        Raises ValueError without a person or a text, or for a longer one, and MemoryFull.
        """
        ...

    async def recall(self, person: str, about: str, *, phone: str = "", limit: int = RECALLED) -> tuple[Fact, ...]:
        """The facts that fit these words best, the best first; of those that hold for one phone only `phone`'s."""
        ...

    async def all(self, person: str) -> tuple[Fact, ...]:
        """All facts of the person, the oldest first."""
        ...

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """Remove those of these facts that are the person's, for good. Returns what was removed."""
        ...


Accounts = Callable[[str], Collection[str]]
"""All accounts of a person, given any of them."""


def only_that(account: str) -> Collection[str]:
    """The accounts of a person where none are linked."""
    return (account,)


def fact_text(person: str, text: str) -> str:
    """The text of a fact as it is kept. Raises ValueError."""
    line = " ".join(text.split())
    if not person or not line or len(line) > MAX_FACT:
        raise ValueError(f"a fact needs a person and 1 to {MAX_FACT} characters")
    return line


class MemoryOfThisProcess:
    """Implements Memory for as long as the process lives, recalling by words."""

    def __init__(self, accounts: Accounts = only_that, clock: Callable[[], float] = time.time) -> None:
        self._accounts = accounts
        self._clock = clock
        self._facts: dict[int, Fact] = {}
        self._last = 0

    async def remember(self, person: str, text: str, *, phone: str = "", source: FactSource = "person") -> Fact:
        """See Memory."""
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
        """See Memory."""
        there = [fact for fact in await self.all(person) if fact.phone in {"", phone}]
        found = tuple(there[place] for place in ranked(about, [fact.text for fact in there])[:limit])
        self._facts.update({fact.id: replace(fact, used=self._clock()) for fact in found})
        return found

    async def all(self, person: str) -> tuple[Fact, ...]:
        """See Memory."""
        accounts = frozenset(self._accounts(person)) if person else frozenset()
        return tuple(fact for fact in self._facts.values() if fact.person in accounts)

    async def forget(self, person: str, facts: Collection[int]) -> tuple[Fact, ...]:
        """See Memory."""
        gone = tuple(fact for fact in await self.all(person) if fact.id in facts)
        for fact in gone:
            del self._facts[fact.id]
        return gone
