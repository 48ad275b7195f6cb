"""What the agent needs from outside, in memory."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from agent.ports.journal import ActionKey, ActionState, LeaseLost
from agent.ports.leases import Lease, NoPhone, Place
from agent.run import RunId
from devices.phone import Phones


class MemoryFrames:
    """agent.ports.stores.Frames."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}

    async def save(self, data: bytes, *, suffix: str) -> str:
        reference = f"{hashlib.sha256(data).hexdigest()}.{suffix}"
        self.kept[reference] = data
        return reference

    async def load(self, reference: str) -> bytes:
        return self.kept[reference]


@dataclass
class MemorySkillNames:
    """agent.ports.stores.SkillNames."""

    kept: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)

    async def names(self, skill: str, locale: str) -> dict[str, str]:
        return dict(self.kept.get((skill, locale), {}))

    async def keep_names(self, skill: str, locale: str, names: Mapping[str, str]) -> None:
        self.kept[skill, locale] = dict(names)


@dataclass
class Entry:
    """One row of the journal."""

    action: dict[str, Any]
    state: ActionState = "begun"
    effect: str = ""


@dataclass
class MemoryJournal:
    """agent.ports.journal.Journal. `fence` is the number that counts now."""

    rows: dict[ActionKey, Entry] = field(default_factory=dict)
    fence: int = 1

    async def begin(self, key: ActionKey, action: dict[str, Any], *, fence: int) -> bool:
        if fence != self.fence:
            raise LeaseLost
        if key in self.rows:
            return False
        self.rows[key] = Entry(action)
        return True

    async def state_of(self, key: ActionKey) -> ActionState | None:
        return self.rows[key].state if key in self.rows else None

    async def action_of(self, key: ActionKey) -> dict[str, Any] | None:
        return self.rows[key].action if key in self.rows else None

    async def finish(self, key: ActionKey, state: ActionState, effect: str) -> None:
        self.rows[key].state = state
        self.rows[key].effect = effect


class FirstPhone:
    """agent.ports.leases.Leases: whoever asks gets the wished phone, or the first."""

    def __init__(self, phones: Phones) -> None:
        self._phones = phones
        self.held: dict[RunId, Lease] = {}
        self.log: list[str] = []
        self.wishes: list[str] = []

    async def acquire(self, run: RunId, wish: str, *, first: bool = False) -> AsyncIterator[Place | Lease]:
        known = [info.id for info in self._phones.list() if wish in {"", info.id}]
        if not known:
            raise NoPhone("No phone is attached.")
        self.wishes.append(wish)
        self.log.append(f"acquire{' first' if first else ''}")
        self.held[run] = Lease(known[0], run, 1)
        yield self.held[run]

    async def release(self, run: RunId) -> None:
        self.log.append("release")
        self.held.pop(run, None)


class LentPhone(FirstPhone):
    """agent.ports.leases.Lender: it lends what nobody holds; `wanted` asks for it back."""

    wanted: Callable[[], None]

    async def borrow(self, run: RunId, wish: str, wanted: Callable[[], None]) -> Lease | None:
        self.wanted = wanted
        known = [info.id for info in self._phones.list() if wish in {"", info.id}]
        if not known or self.held:
            return None
        self.log.append("borrow")
        self.held[run] = Lease(known[0], run, 1)
        return self.held[run]

    def keep(self, run: RunId) -> bool:
        self.log.append("keep")
        return run in self.held


class MemorySecrets:
    """agent.ports.stores.Secrets."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def keep(self, value: str) -> str:
        secret = f"secret-{len(self._values) + 1}"
        self._values[secret] = value
        return secret

    def take(self, secret: str) -> str | None:
        return self._values.pop(secret, None)
