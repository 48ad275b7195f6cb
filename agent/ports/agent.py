"""The interface between bot and agent: a task goes in, events come out, and a person may step in at any time."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Final, Protocol

from pydantic import BaseModel, Field

from agent.events import TaskEvent
from agent.ports.stores import GivenFile
from agent.questions import Answer, StandingYes
from agent.task_results import JsonSchema, ResultSchema


class Guidance(BaseModel, frozen=True):
    """A person's preferences for how the tasks of one chat or place are worked on.

    They reach the models that decide, plan, work and summarise, but never the safety rules, the independent reader and
    the verification, which only know the task.
    """

    model: str = ""
    """The configured model that decides, plans and works without a phone; "" for each role's own. The model that acts
    on a phone is never changed, because it has its own dialect.
    """
    instructions: str = ""
    """The person's standing instructions, in addition to the task."""
    temperature: float | None = None
    """The sampling temperature of answers without a phone; None for the endpoint's default."""
    max_tokens: int | None = None
    """The maximum tokens of such answers; None for the endpoint's default."""

    @property
    def block(self) -> str:
        """The instructions as a marked block for prompts; "" if there are none."""
        if not self.instructions:
            return ""
        about = "The person's standing instructions, for all their tasks here (they allow nothing)"
        return f"\n\n{about}:\n<instructions>\n{_MARK.sub('‹', self.instructions)}\n</instructions>"


AS_SET: Final = Guidance()
"""Guidance that changes nothing."""
_MARK = re.compile(r"<(?=\s*/?\s*instructions\b)", re.IGNORECASE)


class EarlierTask(BaseModel, frozen=True):
    """An earlier task that the new one follows up: its text and result, which are always treated as data. `outcome` is
    "" if it has not ended.
    """

    text: str
    outcome: str
    summary: str
    data: str | None = None


class ReceivedText(BaseModel, frozen=True):
    """A text by others that the task began with, such as a phone notification; always treated as data."""

    source: str
    """Where the text comes from, in words for a model: "a notification of Messages on Pixel"."""
    text: str


class TaskOrder(BaseModel, frozen=True):
    """A person's request, ready for the agent. An order with a known `task` id continues that task."""

    task: str
    text: str
    person: str = ""
    """The owner of the memory used ("platform:id", linked accounts count as one); "" if unknown."""
    member: str = ""
    """The team member that does the task alone, without a plan; "" for whichever fits."""
    deep: bool | None = None
    """Whether the planner compares several approaches first; None for the configured default."""
    search: bool = False
    """Whether to search the web before planning, if a search is configured."""
    skill: str = ""
    """The skill to follow; "" for none."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """The skill's arguments, by parameter name."""
    phone: str = ""
    """The requested phone's stable id; "" for any free one."""
    quick: bool = False
    """Whether to go straight to the phone, without analysing the intent or planning."""
    max_steps: int = Field(default=60, ge=1)
    files: tuple[GivenFile, ...] = ()
    """Files that came with the task; they are on the phone before the first step."""
    result: ResultSchema | JsonSchema | None = Field(default=None, discriminator="type")
    """The form that the result must have, for code to compare or programs to read; None for words alone. With a JSON
    Schema, the task fails unless its data fit the schema.
    """
    standing: tuple[StandingYes, ...] = ()
    """What a person approved in advance, with the schedule that created the task."""
    guidance: Guidance = AS_SET
    earlier: tuple[EarlierTask, ...] = ()
    """The earlier tasks that this one follows up, the oldest first."""
    received: tuple[ReceivedText, ...] = ()
    """Texts by others that the task began with."""


class Agent(Protocol):
    """Carries out tasks. A task has at most one run on a phone at a time.

        async for event in agent.work(TaskOrder(task="7", text="Set an alarm for 7")):
            show(event)

    The other methods act on a task by its id while `work` runs, or before; for a task that has ended, they do nothing.
    """

    def work(self, order: TaskOrder) -> AsyncIterator[TaskEvent]:
        """Begin a task, or continue it where it stopped after a crash or shutdown; yields events up to TaskEnded.

        An open question is asked again (Asked with the same id). Only a shutdown ends the events without TaskEnded.
        """

    async def answer(self, task: str, answer: Answer) -> None:
        """Deliver the answer to the task's open question. An answer to any other question is ignored."""

    async def steer(self, task: str, note: str) -> None:
        """Leave a note that the agent reads before its next step."""

    async def pause(self, task: str) -> None:
        """Pause the task, even if a call hangs. Returns once nothing is being done any more. Raises TimeoutError if the
        work does not stop in time.
        """

    async def resume(self, task: str, note: str = "") -> None:
        """Continue after a pause, looking at the phone again. `note` is for the agent to read first."""

    async def cancel(self, task: str) -> None:
        """End the task within a second; its events end with TaskEnded (cancelled)."""

    async def shutdown(self) -> None:
        """Stop all work at the next safe point; every `work` iterator ends without TaskEnded."""
