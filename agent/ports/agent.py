"""The border between the bot and the agent: a task goes in, events come out, a person may step in at any time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Final, Protocol

from pydantic import BaseModel, ConfigDict, Field

from agent.events import TaskEvent
from agent.files import GivenFile
from agent.questions import Answer
from agent.result_schema import JsonSchema
from agent.result_value import ResultSchema
from agent.standing_yes import StandingYes


class Guidance(BaseModel):
    """How a person wants the tasks of one place to be thought about.

    It reaches who decides, plans, works and sums up, and never what guards them: the gate, the independent reader and
    the verification know the task alone.
    """

    model_config = ConfigDict(frozen=True)

    model: str = ""
    """The name of the configured model that decides, plans and works where no phone is needed; "" for each role's own.
    What acts on a phone stays the model that is set for it, whose dialect it speaks."""
    instructions: str = ""
    """The person's standing words, beside those of the task."""
    temperature: float | None = None
    """How freely answers without a phone are worded; None as the endpoint does it."""
    max_tokens: int | None = None
    """How long such answers may be; None as the endpoint does it."""

    @property
    def block(self) -> str:
        """The instructions as a marked block of a prompt, "" where there are none."""
        if not self.instructions:
            return ""
        about = "The person's standing instructions, for all their tasks here (they allow nothing)"
        return f"\n\n{about}:\n<instructions>\n{_MARK.sub('‹', self.instructions)}\n</instructions>"


AS_SET: Final = Guidance()
"""Nothing beyond what is set."""
_MARK = re.compile(r"<(?=\s*/?\s*instructions\b)", re.IGNORECASE)


class EarlierTask(BaseModel):
    """A task that the new one follows up: what was asked, and what came of it, which is data whatever it reads like.
    `outcome` is "" for one that has not ended.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    outcome: str
    summary: str
    data: str | None = None


class ReceivedText(BaseModel):
    """What others have written and a task began with, such as a phone's notification: data, whatever it reads like."""

    model_config = ConfigDict(frozen=True)

    source: str
    """Where it comes from, for a model: "a notification of Messages on Pixel"."""
    text: str


class TaskOrder(BaseModel):
    """What a person asked, ready for the agent. The same `task` id means the same work: it is continued."""

    model_config = ConfigDict(frozen=True)

    task: str
    text: str
    person: str = ""
    """The subject to whom memory belongs ("platform:id", linked accounts as one); "" where nobody is known."""
    member: str = ""
    """Who of the team is to do it alone, without a plan; "" for whoever fits."""
    deep: bool | None = None
    """Whether the planner weighs several ways first; None as it is set."""
    search: bool = False
    """Whether the web is searched before planning, where a search is set up."""
    skill: str = ""
    """The skill that is to be followed; "" for none."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """What it is to be done with, by the names of its parameters."""
    phone: str = ""
    """The wished phone's stable id; "" for any free one."""
    quick: bool = False
    """Straight to the phone, without intent and plan."""
    max_steps: int = Field(default=60, ge=1)
    files: tuple[GivenFile, ...] = ()
    """What came with the task; it is on the phone before the first step."""
    result: ResultSchema | JsonSchema | None = Field(default=None, discriminator="type")
    """The form that the result is to have, for code to compare or programs to read it; None for words alone. By a
    JSON Schema the data are a document that fits it, or the task has failed.
    """
    standing: tuple[StandingYes, ...] = ()
    """What a person has allowed ahead, with the schedule that the task comes from."""
    guidance: Guidance = AS_SET
    earlier: tuple[EarlierTask, ...] = ()
    """The tasks that this one follows up, the oldest first."""
    received: tuple[ReceivedText, ...] = ()
    """Texts of others that it began with."""


class Agent(Protocol):
    """Does tasks. One task has one run on a phone at a time, whose id names the task."""

    def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        """Begin the task, or continue it where it stopped (crash, shutdown); ends with TaskEnded.

        A question that was open is told again (Asked, same id). Ends without TaskEnded only on shutdown.
        """
        ...

    async def answer(self, task: str, answer: Answer) -> None:
        """The answer to the task's open question; one for another question is ignored."""
        ...

    async def steer(self, task: str, note: str) -> None:
        """A note that the agent reads before its next step."""
        ...

    async def pause(self, task: str) -> None:
        """Stand still, within a second, also while a call hangs. Returns when nothing moves any more."""
        ...

    async def resume(self, task: str, note: str = "") -> None:
        """Go on after a pause, with a fresh look at the phone."""
        ...

    async def cancel(self, task: str) -> None:
        """End the task within a second; its events end with TaskEnded (cancelled)."""
        ...

    async def shutdown(self) -> None:
        """Stop all work at the next safe point; every `work` iterator ends without TaskEnded."""
        ...
