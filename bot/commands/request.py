"""A command on its way: who asks, where, and what the commands work with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from zoneinfo import ZoneInfo

from agent.models.base import Model
from agent.models.transcription import Transcriber
from agent.ports.agent import AS_SET, Guidance
from agent.ports.frames import Frames
from agent.ports.memory import Memory
from agent.skills.library import Skills
from agent.standing_yes import StandingYes
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.chat import Chat
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Message, Reply, Turn, at_once
from bot.domain.right import OPERATOR_PLATFORMS, Right
from bot.domain.task import Task
from bot.domain.watch import TaskWatch
from bot.people.access import AccessDecision, Policy, authorize
from bot.people.quotas import Quotas
from bot.people.rights import Rights
from bot.people.subjects import Naming
from bot.runtime.settings import RuntimeSettings
from bot.store.store import Store
from bot.tasks.hands import Hands
from bot.tasks.service import TaskService
from bot.views.tools import ToolOffer
from devices.phone import Phones

UTC = ZoneInfo("UTC")


@dataclass(frozen=True, slots=True)
class Services:
    """What the commands work with."""

    task_service: TaskService
    store: Store
    phones: Phones
    rights: Rights
    quotas: Quotas
    live: RuntimeSettings
    hands: Hands
    chats: Mapping[str, Chat]
    """By platform; they may be added after this was made."""
    zone: ZoneInfo = UTC
    """By which days begin and schedules are read."""
    clock: Callable[[], float] = time.time
    """Gives Unix seconds."""
    turns: Callable[[Place], Turn] = lambda _place: at_once
    """What a message waits for that answers somebody at a place."""
    press_turns: Callable[[Place], Turn] = lambda _place: at_once
    """What the change of a pressed message waits for."""
    transcriber: Callable[[], Transcriber | None] = lambda: None
    """Writes down what people say, None where no endpoint for that is set."""
    standstill: Callable[[], str] = str
    """Why no work can go on at the moment, as a sentence; "" while it can."""

    namings: Mapping[str, Naming] = field(default_factory=dict)
    """How people are named in what is typed, by platform."""
    skills: Skills = field(default_factory=Skills)
    tools: Callable[[], ToolOffer] = ToolOffer
    """The tools that need no phone, as they are now."""
    reasoning: Callable[[], Model] | None = None
    """The model that plans, None where commands ask none."""

    @property
    def policy(self) -> Policy:
        """Who may do what at this moment."""
        return self.rights.policy

    @property
    def memory(self) -> Memory:
        """What people have told the service to remember."""
        return self.store.memory(self.policy.subjects)

    @property
    def frames(self) -> Frames:
        """Where screenshots are kept."""
        return self.store.frames


@dataclass(frozen=True, slots=True)
class Request:
    """One command from one person at one place.

    `prefix` is what stood before the command ("" when it was not typed), `files` what is attached.
    """

    person: Person
    place: Place
    event: str
    call: CommandCall
    message: MessageRef | None = None
    prefix: str = ""
    files: tuple[Attachment, ...] = ()
    stale: bool = False
    """Written while the service was away, at `written` (Unix seconds): kept and listed, not done."""
    written: float = 0.0
    text: str = ""
    """What was typed, as it was; "" when it was not."""
    lead: str = ""
    """What commands begin with there; "" where it is not known."""
    carries: bool = False
    """Whether files came with it, fetched or not."""
    device: str = ""
    """The phone that was picked beside the words; "" for none."""
    picked: bool = False
    """Picked from a list, with typed options: nothing was typed."""
    standing: tuple[StandingYes, ...] = ()
    """What a person has allowed ahead with the schedule that asks now."""
    guidance: Guidance = AS_SET
    watch: TaskWatch | None = None
    """The reading that is asked for, by a schedule that watches."""

    @property
    def address(self) -> Address:
        """Where it was asked."""
        return self.place.address

    def option(self, name: str) -> str:
        """The option's value, "" when it is not given."""
        return self.call.options.get(name, "").strip()

    def flag(self, name: str) -> bool:
        """Whether a flag is given; typed surfaces send "false" for one that is off."""
        return self.option(name).lower() in {"true", "1", "yes"}


class Refused(Exception):
    """The command is not done; the text says why and what to do, for the person who asked."""

    def with_text(self, text: str) -> Refused:
        """A refusal for what this one is for, in other words."""
        return Refused(text)


class Unknown(Refused):
    """What the request names does not exist for whoever asks."""


class NotAllowed(Refused):
    """The person may not do that; `check` names what refused it, for the audit."""

    def __init__(self, text: str, check: str) -> None:
        super().__init__(text)
        self.check = check

    def with_text(self, text: str) -> NotAllowed:
        """A refusal for what this one is for, in other words."""
        return NotAllowed(text, self.check)


def verdict(
    request: Request, policy: Policy, right: Right, *, owner: Person | None = None, phone: str = ""
) -> AccessDecision:
    """What access says about this request."""
    return authorize(request.person, request.place, right, policy, owner=owner, phone=phone)


def require(request: Request, policy: Policy, right: Right, *, owner: Person | None = None, phone: str = "") -> None:
    """Raise NotAllowed with the reason unless the person may."""
    found = verdict(request, policy, right, owner=owner, phone=phone)
    if not found.allowed:
        raise NotAllowed(found.reason, found.checks[-1].name)


class TooLate(Exception):
    """What `request` asks for was written while the service was away and must not be done by itself."""

    def __init__(self, request: Request) -> None:
        super().__init__(request.call.name)
        self.request = request


def refuse_late(request: Request) -> None:
    """Raise TooLate for what was written while the service was away."""
    if request.stale:
        raise TooLate(request)


def may_see(request: Request, policy: Policy, task: Task) -> bool:
    """Whether a task may be shown here."""
    return may_show(request, policy, task.origin, task.person)


def may_show(request: Request, policy: Policy, origin: Address, owner: Person) -> bool:
    """Whether what was asked there may be shown here: what comes from this chat, and in private one's own (an admin:
    all). The operator sees everything.

    What was given in a private chat does not show up in a group, not even for its owner.
    """
    if request.person.platform in OPERATOR_PLATFORMS:
        return verdict(request, policy, Right.ADMIN).allowed
    here = request.address
    if (here.platform, here.account, here.guild, here.chat) == (
        origin.platform,
        origin.account,
        origin.guild,
        origin.chat,
    ):
        return True
    admin = verdict(request, policy, Right.ADMIN).allowed
    return request.place.private and (admin or policy.same(request.person, owner))


def plain(text: str, *, heading: str = "") -> Reply:
    """A short answer."""
    return Reply(Message(heading=heading, body=text))


def aside(text: str, *, heading: str = "", footer: str = "") -> Reply:
    """An answer or a refusal that only the person who asked sees, where the platform can do that."""
    return Reply(Message(heading=heading, body=text, footer=footer, private=True))
