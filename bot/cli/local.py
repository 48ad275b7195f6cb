"""No service runs: this process owns the data directory and does the task itself."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any

from bot.application.services import Services
from bot.chats.installed import installed
from bot.cli.exits import Refused
from bot.cli.remote import Said
from bot.commands.dispatcher import Commands
from bot.config.settings import Settings
from bot.domain.address import Address, Person, Place
from bot.domain.incoming import Attachment, CommandCall, Invocation
from bot.domain.outgoing import Reply
from bot.domain.zones import zone_named
from bot.tasks.follow import TaskFollowers, line_of
from bot.texts import spoken
from bot.views.tasks import phone_json
from bot.wiring.core import Core, open_core

PLATFORM = "cli"
PLACE = Place(Address(PLATFORM, "local", "terminal"), private=True)


class Local:
    """What a running service answers the command line, without the network."""

    def __init__(self, core: Core, following: TaskFollowers) -> None:
        zone = zone_named(core.settings.time_zone)
        self._commands = Commands(
            Services(
                core.task_service,
                core.store,
                core.phones,
                core.rights,
                core.quotas,
                core.live,
                core.hands,
                {},
                zone,
                skills=core.skills,
                reasoning=lambda: core.terms.models.reasoning,
            ),
            language=core.settings.language,
        )
        self._phones = core.phones
        self._operator = Person(PLATFORM, "operator", "operator", language=spoken())
        self._following = following

    async def lines(
        self,
        text: str,
        device: str,
        *,
        quick: bool,
        member: str = "",
        deep: bool = False,
        search: bool = False,
        command: str = "do",
        files: Sequence[Attachment] = (),
    ) -> AsyncIterator[dict[str, Any]]:
        """Give a task and yield its events as plain objects. Raises Refused."""
        options = {"device": device} if device else {}
        options |= {name: "true" for name, wanted in (("quick", quick), ("deep", deep), ("search", search)) if wanted}
        if member:
            options["member"] = member
        reply = await self._invoke(CommandCall(command, options, text), tuple(files))
        if not reply.task:
            message = reply.message
            raise Refused("\n".join(filter(None, [message.heading, message.body] if message else [reply.toast])))
        yield {"type": "task", "task": reply.task}
        async with aclosing(self._following.events(reply.task)) as events:
            async for heard in events:
                yield line_of(heard)

    async def answer(self, question: str, text: str | None) -> str:
        """Answer a question; None says that nobody will. "" when it was taken, else the reason why not."""
        return await self._following.answer(self._operator, question, text)

    async def cancel(self, task: str) -> None:
        """Cancel a task."""
        await self._invoke(CommandCall("cancel", {"task": task}))

    async def command(self, name: str, text: str = "", **options: str) -> Said:
        """Give a command; what it says. Raises Refused."""
        reply = await self._invoke(CommandCall(name, options, text))
        message = reply.message
        words = "\n".join(filter(None, [message.heading, message.body, message.footer])) if message else reply.toast
        if reply.refused:
            raise Refused(words)
        return Said(words, buttons=tuple(one.data for row in message.buttons for one in row) if message else ())

    async def phones(self) -> list[dict[str, Any]]:
        """The phones, as plain objects."""
        return [phone_json(phone, ()) for phone in self._phones.list()]

    async def _invoke(self, call: CommandCall, files: tuple[Attachment, ...] = ()) -> Reply:
        event = f"cli:{secrets.token_hex(8)}"
        return await self._commands.invoke(Invocation(self._operator, PLACE, event, call, files))


@asynccontextmanager
async def own_core(settings: Settings) -> AsyncIterator[Local]:
    """A core of its own for one task. Raises StoreError."""
    async with open_core(settings, installed()) as core:
        following = TaskFollowers(core.task_service, core.store.task_events)
        try:
            yield Local(core, following)
        finally:
            following.close()
