"""Carries out tasks in the command line's own process when no service runs."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager
from typing import Any

from bot.application import access
from bot.application.access import Caller
from bot.application.schedules import ScheduleCommands
from bot.application.skills import SkillCommands, draft_of_skill
from bot.application.tasks import TaskCommands
from bot.chats.installed import installed
from bot.cli.exits import Refused
from bot.commands import scheduling, skills
from bot.config.settings import Settings
from bot.domain.address import Address, Person, Place
from bot.domain.incoming import Attachment
from bot.domain.task import TaskError
from bot.domain.task_request import TaskDraft
from bot.tasks.follow import TaskFollowers, line_of
from bot.texts import spoken
from bot.views.tasks import phone_json
from bot.wiring.core import Core, open_core

PLATFORM = "cli"
PLACE = Place(Address(PLATFORM, "local", "terminal"), private=True)


class Local:
    """The stand-in for a running service, with the same methods as `Remote` but without the network."""

    def __init__(self, core: Core, following: TaskFollowers) -> None:
        self._services = core.services(following)
        self._phones = core.phones
        self._operator = Person(PLATFORM, "operator", "operator", language=spoken())
        self._following = following

    async def start(self, draft: TaskDraft, files: Sequence[Attachment] = ()) -> str:
        """Start a task and return its number. Raises Refused."""
        with _refusals():
            if draft.skill is not None:
                draft = draft_of_skill(draft, draft.skill, self._services)
            return (await self._tasks().start(draft, files)).task.id

    async def events(self, task: str) -> AsyncIterator[dict[str, Any]]:
        """Yield the events of a task from the first one, as plain objects."""
        async with aclosing(self._following.events(task)) as events:
            async for heard in events:
                yield line_of(heard)

    async def answer(self, task: str, question: str, text: str | None) -> str:
        """Answer a question of a task; None means that no answer will come. Returns "" or the reason for a refusal."""
        commands = self._tasks()
        try:
            with _refusals():
                asked = await commands.question(await commands.task(task), question)
                await (commands.give_up(asked) if text is None else commands.answer(asked, text))
        except Refused as why:
            return str(why)
        return ""

    async def cancel(self, task: str) -> None:
        """Cancel a task. Raises Refused."""
        commands = self._tasks()
        with _refusals():
            await commands.cancel(await commands.task(task))

    async def change_schedule(self, verb: str, number: str) -> str:
        """Pause, resume, revoke or remove a schedule, as `verb` says, and return the text that confirms it. Raises
        Refused.
        """
        with _refusals():
            return await scheduling.change(ScheduleCommands(self._caller(), self._services), verb, number)

    async def change_skill(self, verb: str, name: str, new: str) -> str:
        """Delete, rename or restore a skill, as `verb` says, and return the text that confirms it. `new` is the new
        name or the version. Raises Refused.
        """
        with _refusals():
            return await skills.change(SkillCommands(self._caller(), self._services), verb, name, new)

    async def draft_skill(self, task: str, name: str, given: dict[str, str] | None) -> dict[str, Any]:
        """Return the skill that would be saved from a task: its `id`, `name`, and description for a person as `told`.
        Raises Refused.
        """
        with _refusals():
            commands = SkillCommands(self._caller(), self._services)
            draft = await commands.draft(await self._tasks().task(task), name, given)
        return {"id": draft.id, "name": draft.name, "told": skills.shown_words(draft.skill)}

    async def save_skill(self, draft: str) -> str:
        """Save a drafted skill and return the confirmation text. Raises Refused."""
        with _refusals():
            commands = SkillCommands(self._caller(), self._services)
            found = await commands.drafted(draft)
            return skills.saved_words(found, await commands.save(found))

    async def phones(self) -> list[dict[str, Any]]:
        """List the phones as plain objects."""
        return [phone_json(phone, ()) for phone in self._phones.list()]

    def _tasks(self) -> TaskCommands:
        return TaskCommands(self._caller(), self._services)

    def _caller(self) -> Caller:
        return Caller(self._operator, PLACE, f"cli:{secrets.token_hex(8)}")


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn the core's refusals into the command line's."""
    try:
        yield
    except (access.Refused, TaskError) as why:
        raise Refused(str(why)) from why


@asynccontextmanager
async def own_core(settings: Settings) -> AsyncIterator[Local]:
    """Start the service's core in this process for one command, and yield it. Raises SettingsError and StoreError."""
    async with open_core(settings, installed()) as core:
        following = TaskFollowers(core.task_service, core.store.task_events)
        try:
            yield Local(core, following)
        finally:
            following.close()
