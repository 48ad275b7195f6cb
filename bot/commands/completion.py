"""Completion while people type options: phones and tasks, and for admins also tiers and settings. All from memory."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence

from bot.application.access import may_see
from bot.application.phones import ALL, SEPARATORS, open_phones
from bot.application.services import Services
from bot.cards.formatting import shortened, title_of
from bot.commands.people import NONE
from bot.commands.request import Request
from bot.domain.address import Person, Place
from bot.domain.incoming import CommandCall
from bot.domain.right import Right
from bot.domain.task import Task
from bot.people.access import authorize
from bot.runtime.settings import names_of
from bot.tasks.input import health_words
from bot.texts import say
from devices.phone import PhoneInfo

MOST = 25
"""Discord's limit of choices."""
LABEL_LIMIT = 100
"""Discord's limit of a choice's name."""
RECENT = 50
"""Tasks that are kept in memory for completion."""

logger = logging.getLogger(__name__)


class Suggestions:
    """Suggests values for options, from the recent tasks and the phones that are kept in memory."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks: tuple[Task, ...] = ()
        self._outdated = True
        self._newest = 0
        self._reload_task: asyncio.Task[None] | None = None
        services.task_service.subscribe(self._changed)

    def _changed(self, task: str) -> None:
        # What is shown of a task never changes: only a new one is news.
        if int(task) > self._newest:
            self._newest = int(task)
            self._outdated = True
            self._start_reload()

    def _start_reload(self) -> None:
        """Begin to reload the recent tasks if there is news, one reload at a time."""
        if self._outdated and (self._reload_task is None or self._reload_task.done()):
            self._reload_task = asyncio.create_task(self._read(), name="suggestions")

    async def _read(self) -> None:
        try:
            while self._outdated:  # another one may be given meanwhile
                self._outdated = False
                self._tasks = await self._services.task_service.recent(RECENT)
        except OSError:
            self._outdated = True
            logger.exception("The recent tasks could not be read, so none are suggested")

    def of(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        """Return suggestions for the option `option` that contain the typed text, as pairs (label, value). Empty for
        people who may not use the bot, and for options without suggestions.
        """
        if not authorize(person, place, Right.USE, self._services.policy).allowed:
            return ()
        self._start_reload()
        request = Request(person, place, "", CommandCall(""))
        match option:
            case "device":
                return _phones(open_phones(request, self._services), typed)
            case "task" | "before" | "follows":
                seen = [task for task in self._tasks if may_see(request, self._services.policy, task)]
                pairs = [(title_of(task), task.id) for task in seen]
            case "tier" | "setting" if authorize(person, place, Right.ADMIN, self._services.policy).allowed:
                live = self._services.live.now
                pairs = [(name, name) for name in ((*live.tiers, NONE) if option == "tier" else names_of(live))]
            case _:
                return ()
        return _fitting(pairs, typed)


def _phones(phones: Sequence[PhoneInfo], typed: str) -> tuple[tuple[str, str], ...]:
    """The phones that complete the typed text; after a comma, those not named before it."""
    before = [name.strip() for name in SEPARATORS.split(typed)]
    typing = before.pop()
    named = [phone for name in before for phone in phones if name.casefold() in {phone.name.casefold(), phone.id}]
    labels, values = [phone.name for phone in named], [phone.id for phone in named]
    pairs = [
        (", ".join([*labels, f"{phone.name} · {health_words(phone.health)}"]), ",".join([*values, phone.id]))
        for phone in phones
        if phone not in named
    ]
    if typing and not before and ALL.startswith(typing.casefold()) and len(phones) > 1:
        pairs.insert(0, (say("suggest.all_phones", number=len(phones)), ALL))
    return _fitting(pairs, typing)


def _fitting(pairs: Sequence[tuple[str, str]], typed: str) -> tuple[tuple[str, str], ...]:
    wanted = typed.casefold()
    found = [(label, value) for label, value in pairs if wanted in label.casefold() or wanted in value.casefold()]
    return tuple((shortened(label, LABEL_LIMIT), value) for label, value in found[:MOST])
