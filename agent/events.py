"""The events that the agent emits while it works, and the stream that they are read from. Every event can be
serialised; none of them refers to a chat.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from agent.effect_facts import Effects, is_denied
from agent.models.base import Usage
from agent.models.state import Cause
from agent.questions import Question
from agent.recorded_skills.step_record import StepRecord
from agent.run import NeedsModel, Outcome, RunId
from agent.task_results import Value


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class Todo(_Event):
    """One sub-task of a plan and its state."""

    title: str
    state: Literal["pending", "in progress", "completed", "failed", "declined", "refused"] = "pending"
    member: str = "executor"
    note: str = ""


class Source(_Event):
    """A web page read for the task: its address, and its title ("" if it has none)."""

    title: str
    url: str


class Planned(_Event):
    """The plan or its list of sub-tasks is new or has changed. `plan` is Markdown."""

    type: Literal["planned"] = "planned"
    plan: str
    todos: tuple[Todo, ...] = ()


class Thinking(_Event):
    """A streamed piece of a model's text or reasoning. `node` is the graph node or team member whose model it is."""

    type: Literal["thinking"] = "thinking"
    node: str
    text: str = ""
    reasoning: str = ""
    is_answer: bool = False
    """Whether `text` is part of the final answer to the task, while it is being written."""


class Waiting(_Event):
    """The run is waiting in the queue for a phone. `place` is its position, from 1."""

    type: Literal["waiting"] = "waiting"
    place: int
    phone: str


class Started(_Event):
    """The run has its phone and starts or continues working."""

    type: Literal["started"] = "started"
    run: RunId
    phone: str
    phone_name: str


class Seen(_Event):
    """A sub-task has taken its first screenshot, before its first step. `frame` refers to the stored picture."""

    type: Literal["seen"] = "seen"
    run: RunId
    frame: str


class Step(_Event):
    """A step is done.

    `frame` refers to the screenshot that the model was shown, `mark` is the touched point in its pixels, and `seconds`
    is how long the step took. `step`, `max_steps` and `usage` (the tokens so far) are those of the whole task in a
    task's events, and those of the sub-task in a runner's.
    """

    type: Literal["step"] = "step"
    run: RunId
    subtask: int
    step: int
    max_steps: int
    summary: str
    thought: str = ""
    action: dict[str, Any] = Field(default_factory=dict)
    effect: Effects = ()
    app: str = ""
    """The package of the app that the step was done in; `app_name` is the name people know it by."""
    app_name: str = ""
    frame: str | None = None
    mark: tuple[int, int] | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    record: StepRecord = StepRecord()
    """The actions with the elements that they touched and their screen, for making a skill."""

    @property
    def denied(self) -> bool:
        """Whether the step's action was not done because a person denied it."""
        return is_denied(self.effect)


class Asked(_Event):
    """The run waits for a person's answer."""

    type: Literal["asked"] = "asked"
    question: Question


class Resumed(_Event):
    """The answer to a question arrived, and the run goes on. `question` is its id."""

    type: Literal["resumed"] = "resumed"
    question: str


class FileFound(_Event):
    """A file from the phone to be sent to the chat; `content` is a reference to the stored bytes."""

    type: Literal["file"] = "file"
    name: str
    content: str


class Told(_Event):
    """A remark to show on the task's card in the chat, such as which phone the task waits for."""

    type: Literal["told"] = "told"
    text: str


class SkillChosen(_Event):
    """The agent chose this skill for the task; the person had not named one."""

    type: Literal["skill chosen"] = "skill chosen"
    skill: str
    arguments: dict[str, str] = Field(default_factory=dict)


class ModelAway(_Event):
    """The model does not answer at present, for the reason `cause`.

    It is tried again until `until` (Unix seconds), or `stand_in` answers in its place. If neither is set, the program
    has stopped waiting.
    """

    type: Literal["model away"] = "model away"
    cause: Cause = Cause.NO_CONNECTION
    until: float | None = None
    stand_in: str = ""


class RunEnded(_Event):
    """A sub-task on a phone is over. The run still has its phone: the task decides when to give it back."""

    type: Literal["run ended"] = "run ended"
    run: RunId
    subtask: int
    outcome: Outcome
    summary: str
    data: str | None = None
    on_screen: bool = False
    """Whether each line of `data` was a label on the last screen, so that code can compare it literally."""
    notes: tuple[str, ...] = ()
    steps: int = 0
    usage: Usage = Usage()
    frame: str | None = None
    sources: tuple[Source, ...] = ()
    needs_model: NeedsModel | None = None
    """Why the run required a model while none is configured; None if that is not so."""
    declined: tuple[str, ...] = ()
    """What a person denied in this run and did not allow later; shown to people word for word."""


class TaskEnded(_Event):
    """The task is over; this is its last event. `sources` are the pages read for it, to be listed below the result."""

    type: Literal["final"] = "final"
    outcome: Outcome
    summary: str
    data: str | None = None
    value: Value | None = None
    """The result in the form that the order asked for; None if it asked for none or there is none."""
    needs_model: NeedsModel | None = None
    """Why the task required a model while none is configured; None if that is not so."""
    steps: int = 0
    usage: Usage = Usage()
    frame: str | None = None
    sources: tuple[Source, ...] = ()


RunEvent = Annotated[
    Thinking | Waiting | Started | Seen | Step | Asked | Resumed | FileFound | Told | RunEnded,
    Field(discriminator="type"),
]
TaskEvent = Annotated[
    Planned
    | Thinking
    | SkillChosen
    | Waiting
    | Started
    | Seen
    | Step
    | Asked
    | Resumed
    | FileFound
    | Told
    | ModelAway
    | TaskEnded,
    Field(discriminator="type"),
]


E = TypeVar("E")


class _End:
    """Marks the end of the events."""


async def stream_events(work: Callable[[Callable[[E], None]], Awaitable[None]]) -> AsyncGenerator[E, None]:
    """Run `work(emit)` in the background and yield what it emits; its exception is raised at the end. Closing the
    generator cancels the work.
    """
    queue: asyncio.Queue[E | _End] = asyncio.Queue()

    async def run() -> None:
        try:
            await work(queue.put_nowait)
        finally:
            queue.put_nowait(_End())

    task = asyncio.create_task(run())
    try:
        while not isinstance(event := await queue.get(), _End):
            yield event
        await task
    finally:
        if not task.done():
            task.cancel()
            await asyncio.wait({task})
