"""Determines who looks at the page: the operator, who sees everything, or a person with a token, who sees what is
theirs.

`authorize` checks what each may do when they do it, as in every chat; this module only decides what they see.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Final

from starlette.requests import Request

from agent.questions import QuestionKind
from bot.application.access import Caller, may_see, verdict
from bot.application.phones import open_phones
from bot.application.services import Services
from bot.commands.spec import BY_NAME
from bot.domain.address import Address, Person, Place
from bot.domain.right import Right
from bot.domain.task import OpenQuestion, Task
from bot.store.console import ConsoleMessages
from bot.views.tasks import Json
from bot.web.auth import caller_of
from bot.web.chat import HOME, WebChat
from bot.web.page_files import locale_of
from bot.web.views import TASKS_SHOWN, StateSnapshot, state_json
from devices.phone import PhoneInfo

SHOWN_RIGHTS: Final = (Right.APPROVE, Right.OPERATE, Right.ADMIN)
"""Rights that decide what the page offers; using it at all requires the right to use."""


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person who looks at the page."""

    person: Person
    chat: WebChat
    log: ConsoleMessages
    """The messages of their chat."""
    home: Address
    """The address of their chat."""
    services: Services | None = None
    """Decides which tasks and phones are theirs; None for the operator, who sees everything."""

    def place(self, thread: str) -> Place:
        """Return one of their threads as a place, which is private; "" is the chat itself."""
        return Place(self.address(thread), private=True)

    def address(self, thread: str) -> Address:
        """Return the address of one of their threads; "" is the chat itself."""
        return replace(self.home, thread=thread)

    @property
    def accounts(self) -> tuple[Person, ...] | None:
        """The accounts whose tasks they see; None if they see everybody's."""
        return None if self.services is None else self.services.policy.accounts(self.person)

    @property
    def rights(self) -> list[str]:
        """The names of the rights beyond `use` that they have on at least one phone; `admin` only if for all phones."""
        if self.services is None:
            return [right.value for right in SHOWN_RIGHTS]
        held = self.services.policy.grants_of(self.person, self.home)
        return [right.value for right in SHOWN_RIGHTS if any(grant.gives(right, "") for grant in held)]

    def sees(self, task: Task) -> bool:
        """Return whether the task may be shown to them."""
        return self.services is None or may_see(self._caller(), self.services.policy, task)

    def phones(self, phones: Sequence[PhoneInfo]) -> tuple[PhoneInfo, ...]:
        """Return those of the phones that they may use; the others are hidden from them."""
        if self.services is None:
            return tuple(phones)
        own = {phone.id for phone in open_phones(self._caller(), self.services)}
        return tuple(phone for phone in phones if phone.id in own)

    async def has(self, reference: str) -> bool:
        """Return whether the picture or file with this reference may be shown to them, or used in their tasks. Raises
        StoreError.
        """
        accounts = self.accounts
        if self.services is None or accounts is None:
            return True
        return await self.services.store.own_files.has(reference, accounts, self.home)

    def commands(self, names: Collection[str]) -> list[str]:
        """Return these names of commands, sorted; commands for admins only if they are one. Other rights are not
        checked.
        """
        admin = Right.ADMIN.value in self.rights
        return sorted(name for name in names if admin or BY_NAME[name].right is not Right.ADMIN)

    async def visible_snapshot(self, snapshot: StateSnapshot) -> StateSnapshot:
        """Return the state reduced to the tasks, phones and questions that they may see. Raises StoreError."""
        if self.services is None:
            return snapshot
        active = tuple(task for task in snapshot.active if self.sees(task))
        known = {task.id for task in active}
        recent = await self.services.task_service.recent(TASKS_SHOWN, accounts=self.accounts)
        listed = {task.id for task in recent}
        old = (task for task in reversed(active) if not task.parent and task.id not in listed)
        return replace(
            snapshot,
            tasks=(*(task for task in recent if self.sees(task)), *old),
            active=active,
            places={task: place for task, place in snapshot.places.items() if task in known},
            phones=self.phones(snapshot.phones),
            questions=tuple(one for one in snapshot.questions if one.task in known),
        )

    def state(self, snapshot: StateSnapshot) -> Json:
        """Return as JSON everything that their page shows in addition to messages."""
        tasks = {task.id: task for task in snapshot.active}
        return state_json(snapshot, self.home, lambda one: self._may_answer(one, tasks.get(one.task)))

    def _may_answer(self, one: OpenQuestion, task: Task | None) -> bool:
        if self.services is None or one.question.kind is not QuestionKind.APPROVE:
            return True
        owner, phone = (None, "") if task is None else (task.person, task.phone)
        return verdict(self._caller(), self.services.policy, Right.APPROVE, owner=owner, phone=phone).allowed

    def _caller(self) -> Caller:
        return Caller(self.person, self.place(""), "")


class Viewers:
    """Determines who sent a request. `chat` is the operator's chat, `people` that of everybody else."""

    def __init__(self, chat: WebChat, people: WebChat, services: Services) -> None:
        self._chat = chat
        self._people = people
        self.services = services

    def of(self, request: Request) -> Viewer:
        """Return the viewer who sent this request."""
        caller, person, log = caller_of(request), person_of(request), self.services.store.console
        if caller.token is None:
            return Viewer(person, self._chat, log, HOME)
        return Viewer(person, self._people, log.of(caller.home.chat), caller.home, self.services)


def person_of(request: Request) -> Person:
    """Return the caller, with the browser's preferred language."""
    return replace(caller_of(request).person, language=locale_of(request))


def place_of(request: Request) -> Place:
    """Return the caller's own chat, which is the place of the request."""
    return Place(caller_of(request).home, private=True)
