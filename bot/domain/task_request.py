"""A task as a person asks for it, from their words to the request that the service accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.files import GivenFile
from agent.ports.agent import AS_SET, Guidance, ReceivedText
from agent.result_schema import JsonSchema
from agent.standing_yes import StandingYes
from bot.domain.address import Address, Person
from bot.domain.trigger import TaskTrigger
from bot.domain.watch import TaskWatch

MAX_STEPS: Final = 60
"""Maximum steps of a task unless another limit is set."""


class TaskOptions(BaseModel):
    """How a task is to be done. Every surface offers these fields."""

    model_config = ConfigDict(frozen=True)

    quick: bool = Field(default=False, description="Go straight to the phone, without a plan.")
    deep: bool = Field(default=False, description="Weigh several plans first, also where that is not set.")
    search: bool = Field(default=False, description="Search the web before planning.")
    member: Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)] = Field(
        default="", description="Who of the team does it alone; empty for whoever fits."
    )


PLAIN: Final = TaskOptions()
"""Nothing beyond what is set."""


@dataclass(frozen=True, slots=True)
class SkillCall:
    """A skill that a task follows."""

    name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The arguments by parameter name."""


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task in a person's words, before its phones and its skill are looked up."""

    text: str
    device: str = ""
    """Phones by name or id: one, several as `a,b`, or `all`; "" for any free one."""
    options: TaskOptions = PLAIN
    skill: SkillCall | None = None
    follows: str = ""
    """The number of the task that it follows up, as typed; "" for none."""
    max_steps: int | None = None
    """Maximum steps; None for the service's limit, which cannot be exceeded."""
    result_schema: JsonSchema | None = None
    """The JSON schema of its result; None for that of its skill, or for a result in words."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a task was asked for, and by which message."""

    address: Address
    event: str
    """The platform's id of the message, so that it is accepted once only; "" always counts as new."""
    anchor: str = ""
    """The id of the message at that place; "" if there is none, as for a slash command."""
    private: bool = False
    """Whether it was asked in a private chat."""


@dataclass(frozen=True, slots=True)
class WishedPhone:
    """One of the phones that a task is meant for."""

    id: str
    """`all` of a task that was turned down before the phones of that moment were looked up."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Entitlement:
    """Which phones a person was allowed to use when they asked, and what is needed to check that again later."""

    phones: tuple[str, ...] = ()
    """The ids of the only phones they may use; () for every phone."""
    by_role: bool = False
    """The right came with a role of that moment, and roles are not kept: it cannot be looked at again."""


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a person asked, as the service takes it; a task keeps the one that it was accepted with."""

    text: str
    person: Person
    origin: Origin
    phones: tuple[WishedPhone, ...] = ()
    """The phones, each of which does all of it; () for any free one."""
    files: tuple[GivenFile, ...] = ()
    """What came with it."""
    options: TaskOptions = PLAIN
    max_steps: int = MAX_STEPS
    skill: SkillCall | None = None
    """The skill that it is to follow, or that was chosen for it while it was planned."""
    result_schema: JsonSchema | None = None
    """The form of its result; None for words."""
    guidance: Guidance = AS_SET
    follows: str = ""
    """The id of the task that it follows up, whose result it begins with; "" for none."""
    watch: TaskWatch | None = None
    """The reading that it is, which has no card and whose end is only told when there is news; None for any other."""
    standing: tuple[StandingYes, ...] = ()
    """What a person has allowed ahead with the schedule that it comes from."""
    trigger: TaskTrigger | None = None
    """What began it, where a notification did."""
    received: tuple[ReceivedText, ...] = ()
    """Texts of others that it began with."""
    entitled: Entitlement | None = None
    """Which phones the person may use; None when that is not looked at."""
