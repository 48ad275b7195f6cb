"""The services and in-memory data that the executor's nodes work with. They are never stored; a continued run gets new
ones.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from agent.control import Control
from agent.events import RunEvent
from agent.graph.executor.action_spec import ActionRegistry
from agent.graph.executor.proof import ScreenHistory
from agent.graph.executor.screen import PhoneScreen, ScreenState
from agent.graph.executor.speculative import EarlyReadings, FirstAnswer
from agent.guards.masking import Mask
from agent.guards.policy import Policy
from agent.guards.reading import Readings
from agent.local_time import LocalTime, time_on
from agent.models.base import ModelReply, Usage
from agent.ports.journal import Journal
from agent.ports.stores import Frames, Secrets
from agent.recorded_skills.skill_file import RecordedSkill
from agent.run import RunId
from agent.run_config import ModelProfile, RunConfig
from agent.skills.library import Skills
from agent.tools.calling import Toolbox
from devices.phone import Phone


@dataclass(frozen=True)
class LearnedNames:
    """Translations of a recording's words, by casefolded recorded word, that earlier runs learned on phones with this
    phone's language. `keep` replaces the stored translations.
    """

    known: Mapping[str, str]
    keep: Callable[[Mapping[str, str]], Awaitable[None]]


@dataclass
class RunMemory:
    """What this process remembers about a run, even if the run changes phones. It is empty after a restart."""

    screen: ScreenState = field(default_factory=ScreenState)
    """What was seen on the phone; maintained by the run's `PhoneScreen`."""
    writing: asyncio.Future[None] | None = None
    """The pending write of the last input's result to the journal (`acting.written`)."""
    caption: asyncio.Task[ModelReply] | None = None
    """The pending model call for the step's caption on the card, until the step is closed."""
    shown_texts: dict[tuple[int, int], str] = field(default_factory=dict)
    """The text that the model was shown next to each picture of the image window, by sub-task and step."""
    early: EarlyReadings = field(default_factory=EarlyReadings)
    """The press that the independent reader, a second model, judges while the acting model is still writing."""
    first_answer: FirstAnswer | None = None
    """The running answer to the first request, if it was sent before the run began."""
    spent_ahead: Usage = field(default_factory=Usage)
    """The cost of early first requests that were not used, until it is added to the run's usage."""
    screen_history: ScreenHistory = field(default_factory=ScreenHistory)
    """What each step's observation showed, so that code can prove that the sub-task is done."""
    sent_notices: set[str] = field(default_factory=set)
    """Keys of the one-time messages that this run has already sent."""
    facts: tuple[str, ...] = ()
    """Remembered facts about the person that fit the sub-task."""
    facts_of_others: tuple[str, ...] = ()
    """Remembered facts that other workers of the task were told. They count as private in this run too, but are in no
    prompt.
    """
    documents: tuple[str, ...] = ()
    """Passages of the operator's documents that any worker read for the task."""
    instructions: str = ""
    """The person's standing instructions as a marked prompt block."""
    skill: str = ""
    """The skill to follow as a marked prompt block."""
    recorded: RecordedSkill | None = None
    """The skill's recording, if it has one that code can replay."""
    names: LearnedNames | None = None
    """Translations of the skill's words that earlier runs learned for this phone's language."""
    arguments: dict[str, str] = field(default_factory=dict)
    """The skill's arguments, by parameter name."""


@dataclass(frozen=True)
class RunContext:
    """The services and settings that the nodes of one run work with."""

    run: RunId
    person: str
    """The person that the task belongs to; "" if unknown."""
    phone: Phone
    screen: PhoneScreen
    fence: int
    """The number of the run's lease: the journal rejects writes of an older lease."""
    config: RunConfig
    """The models, the dialects with this run's actions, and the limits."""
    actions: ActionRegistry
    skills: Skills
    toolbox: Toolbox
    """The tools that need no phone, with what their callers share: call record, policy and task files."""
    policy: Policy
    readings: Readings
    """Earlier judgements of the gate's independent reader."""
    mask: Mask
    journal: Journal
    frames: Frames
    secrets: Secrets
    control: Control
    emit: Callable[[RunEvent], None]
    memory: RunMemory

    @property
    def profile(self) -> ModelProfile:
        """How the model that sees the screen is prompted."""
        return self.config.profile_of(self.screen.model)

    @property
    def local_time(self) -> LocalTime | None:
        """The current date and time on the phone; None until it has reported its clock."""
        return time_on(self.phone.info, time.time())
