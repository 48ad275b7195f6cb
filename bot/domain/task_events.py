"""What happens to a task, as its log keeps it: what the agent tells, and what the service and people do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

from pydantic import BaseModel, ConfigDict

from agent.events import (
    Asked,
    FileFound,
    Planned,
    Resumed,
    SkillChosen,
    Started,
    Step,
    TaskEnded,
    Thinking,
    Waiting,
)
from agent.outcome import Outcome
from agent.ports.tool_calls import CallState
from bot.domain.task import Closing, TaskState


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class Accepted(_Event):
    """The task was taken in. `source` is the platform's id of the message that asked for it, "" for none."""

    type: Literal["accepted"] = "accepted"
    text: str
    source: str = ""


class StateChanged(_Event):
    """The task is in another state. Its end has an event of its own."""

    type: Literal["state"] = "state"
    state: TaskState


class StepDone(Step):
    """A step as the log keeps it, without its `record`. `index` counts the steps of the task from 0, those of all
    phones together.
    """

    index: int = 0
    phone_name: str = ""
    target: str = ""
    """What people call the thing that was touched, "" where that is not known."""


class Ended(TaskEnded):
    """The end of the task as the log keeps it. `quiet`: its own person has ended it, and needs no notice of that."""

    quiet: bool = False


class ToolCalled(_Event):
    """A tool that needs no phone is about to be used, or was refused; `call` is the id of the call."""

    type: Literal["tool call"] = "tool call"
    call: str
    member: str
    name: str
    arguments: dict[str, Any]


class ToolReturned(_Event):
    """What came of a call, as its record keeps it. `cached` says that it was taken from an equal call."""

    type: Literal["tool result"] = "tool result"
    call: str
    member: str
    name: str
    state: CallState
    result: dict[str, Any]
    cached: bool = False
    seconds: float = 0.0


class QuestionClosed(_Event):
    """A question is over: answered `by` somebody, or closed without an answer, and why. The answer is not kept here."""

    type: Literal["question closed"] = "question closed"
    question: str
    by: str = ""
    why: Closing | None = None


class Noted(_Event):
    """Somebody has given the task a note on its way."""

    type: Literal["note"] = "note"
    text: str
    by: str


ServiceEvent = Accepted | StateChanged | ToolCalled | ToolReturned | QuestionClosed | Noted
"""What the agent does not tell itself."""
LogEvent = (
    ServiceEvent | Planned | Thinking | SkillChosen | Waiting | Started | StepDone | Asked | Resumed | FileFound | Ended
)
KINDS: Final[dict[str, type[LogEvent]]] = {kind.model_fields["type"].default: kind for kind in get_args(LogEvent)}
"""The kinds of events by the names under which they are kept."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event of the log of a task, numbered from 1 without a gap; `at` is in Unix seconds.

    `part` is the id of the phone's part in which it happened, "" where one phone works or it is about the whole task.
    """

    task: str
    number: int
    at: float
    event: LogEvent
    part: str = ""
    done: int = 0
    """How many touches of phones and uses of tools there have been, this one included."""
    told: int = 0
    """The number of the last event of its conversation that it is, 0 for none."""
    message: int | None = None
    """The id of its message in the conversation."""
    is_deleted: bool = False
    """Whether that message was deleted: what it said is told no more."""
    position: int = 0
    """Its place among the events of all tasks: a later one has a higher one."""

    @property
    def is_last(self) -> bool:
        """Whether it is the end of the task, not only of one phone's part."""
        return isinstance(self.event, TaskEnded) and not self.part


def names_in_conversation(event: LogEvent, *, of_part: bool = False) -> tuple[str, ...]:
    """The events that readers of the task's conversation get for it, in order; most are one or none."""
    match event:
        case Accepted():
            return ("thinking_start",)
        case Thinking():
            return ("thinking",)
        case StepDone():
            return ("process_step",)
        case ToolCalled():
            return ("tool_calls",)
        case ToolReturned():
            return ("tool_result", "process_step")
        case Asked():
            return ("message",)
        case TaskEnded() if not of_part:
            trouble = event.outcome in {Outcome.FAILED, Outcome.BLOCKED}
            return ("error", "message", "done") if trouble else ("message", "done")
        case _:
            return ()
