"""The interface between the plan and the phones: sub-tasks go in, events come out, and all of it can be serialised."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from pydantic import BaseModel, Field

from agent.control import Signal
from agent.events import RunEvent
from agent.models.base import Usage
from agent.ports.stores import GivenFile
from agent.questions import Answer, StandingYes
from agent.recorded_skills.step_record import PressVerdict
from agent.run import RunId


class RunOrder(BaseModel, frozen=True):
    """One sub-task for one phone. An order with a known run and subtask number continues that sub-task."""

    run: RunId
    subtask: int = 1
    task: str
    """The person's request, in full."""
    person: str = ""
    """The owner of the memory used; "" if unknown."""
    goal: str
    """The result that this sub-task should reach."""
    skill: str = ""
    """The skill to follow; "" for none."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """The skill's arguments, by parameter name."""
    verdicts: tuple[PressVerdict, ...] = ()
    """What the independent reader said about presses when the skill was recorded, for a runner on another machine."""
    phone: str = ""
    """The requested phone's stable id; "" for any free one."""
    plan: str = ""
    instructions: str = ""
    """The person's standing instructions as a marked block; "" for none."""
    wanted: str = ""
    """The required form of the result, in words for the model; "" if any form will do."""
    notes: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Passages from the operator's documents read for this task; their words may not leave without approval."""
    goals: tuple[str, ...] = ()
    """The goals that other workers were given before. Remembered facts that match them may be repeated in `goal`, so
    those facts are private here too.
    """
    max_steps: int = Field(default=60, ge=1)
    files: tuple[GivenFile, ...] = ()
    """Files that came with the task; they are on the phone before the first step."""
    standing: tuple[StandingYes, ...] = ()
    """What a person approved in advance. It is used up across all sub-tasks of the run."""


class RunOutOfReach(Exception):
    """The machine that works on the run cannot be reached but may still be working, so the run is not started
    elsewhere. A later start of the same sub-task connects to it again.
    """


class Runner(Protocol):
    """Does sub-tasks on phones of this machine or another one, so everything that crosses this interface is
    serialisable.

    Signals to a run that is not working yet, or is between two sub-tasks, apply to its next sub-task. An example:

        async for event in runner.start(RunOrder(run=RunId("7"), task=task, goal="Open the clock")):
            emit(event)
        await runner.release(RunId("7"))
    """

    def start(self, order: RunOrder) -> AsyncIterator[RunEvent]:
        """Start the sub-task, or connect to it again after a restart. RunEnded is the last event.

        Only a shutdown of the service ends the events without RunEnded; the next start then continues the run. Raises
        RunOutOfReach.
        """

    async def warm_up(self, order: RunOrder) -> None:
        """Prepare a sub-task that may follow: if a phone is free, look at it and ask the model for the first action.

        Nothing changes on the phone that a person could notice, and the phone goes to any run that needs it. Returns at
        once and never raises for what happens later. `start` uses whatever matches its order.
        """

    async def cool_down(self, run: RunId) -> Usage:
        """Drop what `warm_up` prepared, because the sub-task does not follow, and return the tokens that it cost."""

    async def answer(self, run: RunId, answer: Answer) -> None:
        """Deliver the answer to the run's open question. An answer to any other question is ignored."""

    async def signal(self, run: RunId, signal: Signal) -> None:
        """Pause, resume, steer or cancel the run.

        Pause and cancel take effect within a second, aborting a call that hangs. For a pause, this returns when the run
        has stopped moving and raises TimeoutError if it does not in time. A resumed run looks at the phone again. The
        events of a cancelled run end with RunEnded (cancelled).
        """

    async def rest(self, run: RunId) -> None:
        """Give the phone back in its former state, because no part of the task needs it for now.

        The next start waits for a phone and looks at it again; the run keeps everything else.
        """

    async def release(self, run: RunId) -> None:
        """Give the phone back in its former state, because the task is over."""

    async def shutdown(self) -> None:
        """Stop every run at its next safe point and give its phone back. Its events end without RunEnded."""
