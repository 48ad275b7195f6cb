"""What the executor's nodes work with: never stored, handed in again whenever a run is continued."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agent.control import Control
from agent.events import RunEvent
from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.early_reading import EarlyReadings
from agent.graph.executor.first_answer import FirstAnswer
from agent.graph.executor.proof import Looks
from agent.graph.executor.screen import PhoneScreen, ScreenState
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.guards.reading import Readings
from agent.local_time import LocalTime, time_on
from agent.models.base import ModelReply, Usage
from agent.ports.frames import Frames
from agent.ports.journal import Journal
from agent.ports.secrets import Secrets
from agent.recorded_skills.skill_file import RecordedSkill
from agent.run_config import ModelProfile, RunConfig
from agent.run_id import RunId
from agent.skills.library import Skills
from agent.tools.calling import Toolbox
from devices.phone import Phone


@dataclass(frozen=True)
class LearnedNames:
    """What recorded words, folded, are called on phones of this one's language, and `keep`, which replaces that."""

    known: Mapping[str, str]
    keep: Callable[[Mapping[str, str]], Awaitable[None]]


@dataclass
class RunMemory:
    """What this process remembers of a run, whichever phone it has. Empty after a restart."""

    screen: ScreenState = field(default_factory=ScreenState)
    """What was seen of the phone, kept by the run's `PhoneScreen`."""
    writing: asyncio.Future[None] | None = None
    """What came of the last input, on its way into the journal (`acting.written`)."""
    caption: asyncio.Task[ModelReply | None] | None = None
    """The call for the words on the card, until the step is closed."""
    shown: dict[tuple[int, int], str] = field(default_factory=dict)
    """The words beside the pictures of the image window, by sub-task and step."""
    early: EarlyReadings = field(default_factory=EarlyReadings)
    """The press that is read while the model still writes."""
    first_answer: FirstAnswer | None = None
    """The answer to the first request, where that was sent before the run began."""
    spent_ahead: Usage = field(default_factory=Usage)
    """What such requests have cost that came to nothing, until it is booked."""
    looks: Looks = field(default_factory=Looks)
    """What the looks of the sub-task have shown, for its proof by code."""
    told: set[str] = field(default_factory=set)
    """What is told once in a run, and was."""
    facts: tuple[str, ...] = ()
    """What the person wants to be remembered that fits the sub-task."""
    told_others: tuple[str, ...] = ()
    """What is remembered that others of the task were told: private here too, and in no prompt."""
    documents: tuple[str, ...] = ()
    """What was read in the operator's documents for the task, by whomever."""
    instructions: str = ""
    """The person's standing instructions, as a marked block of a prompt."""
    skill: str = ""
    """The skill that is followed, as a marked block of a prompt."""
    recorded: RecordedSkill | None = None
    """Its recording, where it has one that code can do again."""
    names: LearnedNames | None = None
    """What former runs have learned of its words in the language of this phone."""
    arguments: dict[str, str] = field(default_factory=dict)
    """What it is done with, by the names of its parameters."""


@dataclass(frozen=True)
class RunContext:
    """What the nodes of one run work with."""

    run: RunId
    person: str
    """The subject to whom the task belongs, "" where nobody is known."""
    phone: Phone
    screen: PhoneScreen
    fence: int
    """The number of the run's lease: the journal takes nothing of an older one."""
    config: RunConfig
    """The models, the dialects as they offer this run's actions, and the limits."""
    actions: ActionRegistry
    skills: Skills
    toolbox: Toolbox
    """The record of the calls of tools that need no phone."""
    policy: Policy
    readings: Readings
    """What the gate's reader has said before."""
    mask: Mask
    journal: Journal
    frames: Frames
    secrets: Secrets
    control: Control
    emit: Callable[[RunEvent], None]
    memory: RunMemory

    @property
    def profile(self) -> ModelProfile:
        """How the model is prompted that is shown the screen."""
        return self.config.profile_of(self.screen.model)

    @property
    def local_time(self) -> LocalTime | None:
        """The date and time on the phone now; None where it has not told its clock."""
        return time_on(self.phone.info, time.time())
