"""The border between the plan and the phones: sub-tasks in, events out, everything serialisable."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

from agent.control import Signal
from agent.events import RunEvent
from agent.files import GivenFile
from agent.models.base import Usage
from agent.questions import Answer
from agent.recorded_skills.step_record import PressVerdict
from agent.run_id import RunId
from agent.standing_yes import StandingYes


class RunOrder(BaseModel):
    """One sub-task for one phone. The same run and subtask number mean the same work: it is continued."""

    model_config = ConfigDict(frozen=True)

    run: RunId
    subtask: int = 1
    task: str
    """What the person asked, in full."""
    person: str = ""
    """The subject to whom memory belongs; "" where nobody is known."""
    goal: str
    """What this sub-task is to reach."""
    skill: str = ""
    """The skill that is to be followed; "" for none."""
    arguments: dict[str, str] = Field(default_factory=dict)
    """What it is to be done with, by the names of its parameters."""
    verdicts: tuple[PressVerdict, ...] = ()
    """What the gate's reader said when the skill was recorded, for a runner that does not share its memory."""
    phone: str = ""
    """The wished phone's stable id; "" for any free one."""
    plan: str = ""
    instructions: str = ""
    """The person's standing instructions, as a marked block; "" for none."""
    wanted: str = ""
    """What form the result is to have, in words for the model; "" where it may have any."""
    notes: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """What was read in the operator's documents for this task: no word of it leaves unasked."""
    goals: tuple[str, ...] = ()
    """What others were given to reach before: what is remembered that fits it may stand in `goal`, and so is private
    here too.
    """
    max_steps: int = Field(default=60, ge=1)
    files: tuple[GivenFile, ...] = ()
    """What came with the task; it is on the phone before the first step."""
    standing: tuple[StandingYes, ...] = ()
    """What a person has allowed ahead. It counts from the first sub-task on, and is used up over all of them."""


class RunOutOfReach(Exception):
    """Whoever does the run cannot be reached and may be at work on it: it is not begun elsewhere. A later start of the
    same sub-task attaches to it again.
    """


class Runner(Protocol):
    """Does sub-tasks on phones: of this machine, or of another one, for everything that crosses here is a model.

    What is asked of a run that is not at work yet, or between two sub-tasks, counts for the next one.
    """

    def start(self, order: RunOrder) -> AsyncIterator[RunEvent]:
        """Start the sub-task, or attach to it again after a restart; RunEnded is the last event.

        Ends without RunEnded only when the service is shutting down: the run is then continued by the next start.
        Raises RunOutOfReach.
        """
        ...

    async def warm_up(self, order: RunOrder) -> None:
        """The sub-task may follow, which is being decided: where a phone is free, look at it, and ask the model for the
        first action. Nothing is changed on the phone that a person could notice, and whoever else needs it gets it.
        Returns at once and raises nothing of what comes of it. `start` goes on with what fits its order.
        """
        ...

    async def cool_down(self, run: RunId) -> Usage:
        """The sub-task does not follow: give the phone back and drop what was begun. What that has cost."""
        ...

    async def answer(self, run: RunId, answer: Answer) -> None:
        """The answer to the run's open question; an answer to another one is ignored."""
        ...

    async def signal(self, run: RunId, signal: Signal) -> None:
        """Pause, resume, steer or cancel the run.

        A pause and a cancel take effect within a second, for which a hanging call is aborted. After a pause this
        returns when the run stands still, and raises TimeoutError when it does not in time; a resumed run looks at the
        phone anew; the events of a cancelled one end with RunEnded (cancelled).
        """
        ...

    async def rest(self, run: RunId) -> None:
        """No part of the task needs the phone for now: give it back as it was. The next start waits for a phone again
        and looks anew; until then everything else of the run is kept.
        """
        ...

    async def release(self, run: RunId) -> None:
        """The task is over: give the phone back as it was."""
        ...

    async def shutdown(self) -> None:
        """Stop every run at its next safe point and give its phone back; its events end without RunEnded."""
        ...
