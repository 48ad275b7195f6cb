"""The events in a task's log: those that the agent reports, and those caused by the service and by people."""

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
from agent.ports.journal import CallState
from agent.run import Outcome
from bot.domain.task import Closing, TaskState


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class Accepted(_Event):
    """The task was accepted. `source` is the platform's id of the message that asked for it, "" for none."""

    type: Literal["accepted"] = "accepted"
    text: str
    source: str = ""


class StateChanged(_Event):
    """The task changed to another state. Its end is a different event."""

    type: Literal["state"] = "state"
    state: TaskState


class StepDone(Step):
    """A finished step as the log stores it, without its `record`.

    `index` counts the steps of the task from 0, over all its phones.
    """

    index: int = 0
    phone_name: str = ""
    target: str = ""
    """The label of the element that was touched; "" if unknown."""


class Ended(TaskEnded):
    """The end of the task as the log stores it. `quiet` means that the person who gave the task ended it, and needs no
    notification.
    """

    quiet: bool = False


class ToolCalled(_Event):
    """A tool that needs no phone is about to be called, or was refused.

    - `call`: Id of the call.
    - `member`: The team member that calls it.
    - `name`: The tool's name.
    """

    type: Literal["tool call"] = "tool call"
    call: str
    member: str
    name: str
    arguments: dict[str, Any]


class ToolReturned(_Event):
    """The result of a tool call.

    - `call`: Id of the call, as in `ToolCalled`.
    - `member`: The team member that called it.
    - `name`: The tool's name.
    - `cached`: Whether the result was taken from an equal earlier call.
    - `seconds`: Duration of the call.
    """

    type: Literal["tool result"] = "tool result"
    call: str
    member: str
    name: str
    state: CallState
    result: dict[str, Any]
    cached: bool = False
    seconds: float = 0.0


class QuestionClosed(_Event):
    """A question was answered by a person (`by`), or closed without an answer (`why`). The answer itself is not stored
    here.
    """

    type: Literal["question closed"] = "question closed"
    question: str
    by: str = ""
    why: Closing | None = None


class Noted(_Event):
    """A person gave the task a note while it was running."""

    type: Literal["note"] = "note"
    text: str
    by: str


ServiceEvent = Accepted | StateChanged | ToolCalled | ToolReturned | QuestionClosed | Noted
"""The events that the agent does not report itself."""
LogEvent = (
    ServiceEvent | Planned | Thinking | SkillChosen | Waiting | Started | StepDone | Asked | Resumed | FileFound | Ended
)
KINDS: Final[dict[str, type[LogEvent]]] = {kind.model_fields["type"].default: kind for kind in get_args(LogEvent)}
"""The event classes by the names under which they are stored."""


@dataclass(frozen=True, slots=True)
class LoggedEvent:
    """An event in the log of a task.

    - `number`: Counts the task's events from 1 without gaps.
    - `at`: Unix seconds.
    - `part`: Id of the part (one phone's share of the task) in which it happened; "" if it concerns the whole task.
    """

    task: str
    number: int
    at: float
    event: LogEvent
    part: str = ""
    done: int = 0
    """How many actions on phones and tool calls the task has made so far, this one included."""
    told: int = 0
    """Number of the last of the API conversation's events that it became; 0 if it became none."""
    message: int | None = None
    """The id of its message in the conversation."""
    is_deleted: bool = False
    """Whether that message was deleted, so that its text must not be shown."""
    position: int = 0
    """Its position among the events of all tasks, ascending."""

    @property
    def is_last(self) -> bool:
        """Whether it is the end of the whole task, not only of one phone's part."""
        return isinstance(self.event, TaskEnded) and not self.part


def names_in_conversation(event: LogEvent, *, of_part: bool = False) -> tuple[str, ...]:
    """Return the names of the API events that clients of the task's conversation receive for this event, in order;
    often none.

    `of_part` says that the event belongs to one phone's part of a task, whose end is not announced.
    """
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
