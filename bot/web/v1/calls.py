"""A request to the API as the commands of every chat see it: the same services, asked by the caller's own account."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agent.models.base import PILOT
from agent.ports.agent import AS_SET, Guidance
from agent.ports.frames import Frames
from agent.tools.spec import Tool
from bot.commands.dispatcher import run_command
from bot.commands.request import Refused, Services, Unknown, may_see, require, verdict
from bot.commands.request import Request as Asked
from bot.commands.resolve import task_named
from bot.domain.address import Person, Place
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Reply
from bot.domain.right import Right
from bot.domain.task import Task
from bot.domain.token import Token
from bot.store.conversations import Conversation
from bot.tasks.operating import Operating
from bot.texts import say, spoken
from bot.web.auth import Caller
from bot.web.v1.events import ConversationEvents, owner_text

if TYPE_CHECKING:
    from fastapi import APIRouter

    from bot.machines import RemoteMachines


@dataclass(frozen=True, slots=True)
class ApiServices:
    """What the API works with."""

    services: Services
    events: ConversationEvents
    operating: Operating
    tools: Callable[[], Sequence[Tool[Any]]] = tuple
    """Those that there are now for work that needs no phone."""
    machines: RemoteMachines | None = None
    """Those that do runs beside this one; None where there are none."""
    routers: Callable[[], Sequence[APIRouter]] = tuple
    """What parts of the program add; asked for with the first request."""


class Calls:
    """What one caller asks for, now. `event` names the request: the same one gives no second task."""

    def __init__(self, behind: ApiServices, caller: Caller, event: str = "") -> None:
        self.behind = behind
        self.services = behind.services
        self.caller = caller
        self.event = event or f"api:{secrets.token_hex(8)}"
        self.person: Person = replace(caller.person, language=spoken())

    @property
    def token(self) -> Token:
        """What a program has brought along. Raises Refused for who came by the console: it has no conversations."""
        if self.caller.token is None or self.caller.session:
            raise Refused(say("api.for_programs"))
        return self.caller.token

    @property
    def frames(self) -> Frames:
        """Where pictures and files are."""
        return self.services.frames

    def asked(
        self,
        name: str = "",
        options: Mapping[str, str] | None = None,
        rest: str = "",
        *,
        conversation: str = "",
        guidance: Guidance = AS_SET,
        files: tuple[Attachment, ...] = (),
    ) -> Asked:
        """The command as it is asked for in the caller's own place."""
        call = CommandCall(name, {key: value for key, value in (options or {}).items() if value}, rest)
        place = Place(replace(self.caller.home, thread=conversation), private=True)
        return Asked(self.person, place, self.event, call, files=files, picked=True, guidance=guidance)

    def require(self, right: Right, phone: str = "") -> None:
        """Raise NotAllowed unless the caller may."""
        require(self.asked(), self.services.policy, right, phone=phone)

    async def run(
        self,
        name: str,
        options: Mapping[str, str] | None = None,
        rest: str = "",
        *,
        conversation: str = "",
        guidance: Guidance = AS_SET,
        files: tuple[Attachment, ...] = (),
    ) -> Reply:
        """Do one command. Raises what commands raise."""
        asked = self.asked(name, options, rest, conversation=conversation, guidance=guidance, files=files)
        return await run_command(asked, self.services)

    async def task(self, number: str) -> Task:
        """The task, where it may be shown to the caller. Raises Unknown."""
        self.require(Right.USE)
        return await task_named(number, self.asked(), self.services)

    def may_see(self, task: Task) -> bool:
        """Whether the task may be shown to the caller."""
        return may_see(self.asked(), self.services.policy, task)

    @property
    def models(self) -> tuple[tuple[str, str], ...]:
        """The roles and names of the models that are set."""
        now = self.services.live.now
        roles = (("vision", now.vlm_model or PILOT), ("basic", now.basic_model), ("reasoning", now.reasoning_model))
        return tuple((role, name) for role, name in roles if name)

    @property
    def owners(self) -> tuple[str, ...]:
        """The accounts of whoever asks, as conversations keep them."""
        return tuple(owner_text(account) for account in self.services.policy.accounts(self.person))

    async def conversation(self, number: str) -> Conversation:
        """The conversation, where it is one's own. Raises Unknown."""
        self.require(Right.USE)
        _ = self.token  # only what programs hold is told in conversations
        found = await self.services.store.conversations.get(number)
        if found is None or found.owner not in self.owners:
            raise Unknown(say("api.no_conversation"))
        return found

    async def files(self, contents: list[tuple[str, str]]) -> tuple[Attachment, ...]:
        """The files of a task, by name and reference. Raises Refused when one is not kept, or somebody else's."""
        accounts, own_files = self.services.policy.accounts(self.person), self.services.store.own_files
        admin = verdict(self.asked(), self.services.policy, Right.ADMIN).allowed
        for _, content in contents:
            if not admin and not await own_files.has(content, accounts, self.caller.home):
                raise Refused(say("refusal.file_missing"))
        try:
            return tuple([Attachment(name, await self.frames.load(content)) for name, content in contents])
        except KeyError:
            raise Refused(say("refusal.file_missing")) from None
