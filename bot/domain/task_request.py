"""Types for a task as a person asks for it, from their words to the request that the service accepts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from agent.ports.agent import AS_SET, Guidance, ReceivedText
from agent.ports.stores import GivenFile
from agent.questions import StandingYes
from agent.task_results import JsonSchema
from bot.domain.address import Address, Person
from bot.domain.trigger import TaskTrigger
from bot.domain.watch import TaskWatch

MAX_STEPS: Final = 60
"""Maximum steps of a task unless another limit is set."""


class TaskOptions(BaseModel):
    """How a task is to be done. Every way to give a task (chat, console, API, command line) offers these options."""

    model_config = ConfigDict(frozen=True)

    quick: bool = Field(default=False, description="Go straight to the phone, without a plan.")
    deep: bool = Field(default=False, description="Weigh several plans first, also where that is not set.")
    search: bool = Field(default=False, description="Search the web before planning.")
    member: Annotated[str, StringConstraints(strip_whitespace=True, to_lower=True)] = Field(
        default="", description="Who of the team does it alone; empty for whoever fits."
    )


PLAIN: Final = TaskOptions()
"""No options, so that the settings apply."""


@dataclass(frozen=True, slots=True)
class SkillCall:
    """A skill that a task follows, with its arguments."""

    name: str
    arguments: Mapping[str, str] = field(default_factory=dict)
    """The arguments by parameter name."""


@dataclass(frozen=True, slots=True)
class TaskDraft:
    """A task as a person worded it, before its phones and its skill are looked up."""

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
    """Where a person gave a task, and in which message."""

    address: Address
    event: str
    """The platform's id of the message, so that it is accepted once only; "" always counts as new."""
    anchor: str = ""
    """The id of the message at that place; "" if there is none, as for a slash command."""
    private: bool = False
    """Whether it was asked in a private chat."""


@dataclass(frozen=True, slots=True)
class WishedPhone:
    """A phone on which a task is to be done."""

    id: str
    """`all` in a task that was refused before the available phones were looked up."""
    name: str = ""


@dataclass(frozen=True, slots=True)
class Entitlement:
    """Which phones a person was allowed to use when they gave a task, stored so that it can be checked again later."""

    phones: tuple[str, ...] = ()
    """The ids of the only phones they may use; () for every phone."""
    by_role: bool = False
    """Whether the right came from a role. Roles are not stored, so it cannot be checked again."""


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What a person asked for, in the form that the service accepts. A task stores the request that it was accepted
    with.
    """

    text: str
    person: Person
    origin: Origin
    phones: tuple[WishedPhone, ...] = ()
    """The phones, each of which does all of it; () for any free one."""
    files: tuple[GivenFile, ...] = ()
    """The files that came with it."""
    options: TaskOptions = PLAIN
    max_steps: int = MAX_STEPS
    skill: SkillCall | None = None
    """The skill that it is to follow, or that was chosen for it while it was planned."""
    result_schema: JsonSchema | None = None
    """The form of its result; None for words."""
    guidance: Guidance = AS_SET
    follows: str = ""
    """The id of the task that it follows up, whose result it starts from; "" for none."""
    watch: TaskWatch | None = None
    """Set if the task makes one reading for a watch: it has no card, and its end is reported only if there is news."""
    standing: tuple[StandingYes, ...] = ()
    """Standing approvals of the schedule that it comes from."""
    trigger: TaskTrigger | None = None
    """The trigger that started it, if a notification did."""
    received: tuple[ReceivedText, ...] = ()
    """Texts by other people that it was started with, such as a notification's."""
    entitled: Entitlement | None = None
    """Which phones the person may use; None if that is not checked."""
