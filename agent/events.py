"""What the agent tells the outside while it works. Every event is serialisable; nodes know no chat."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.effect_facts import Effects, is_denied
from agent.models.base import Usage
from agent.models.cause import Cause
from agent.outcome import NeedsModel, Outcome
from agent.questions import Question
from agent.recorded_skills.step_record import StepRecord
from agent.result_value import Value
from agent.run_id import RunId


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)


class Todo(_Event):
    """One sub-task of a plan."""

    title: str
    state: Literal["pending", "in progress", "completed", "failed", "declined", "refused"] = "pending"
    member: str = "executor"
    note: str = ""


class Source(_Event):
    """A page that was read for the task: its title ("" where it has none) and its address."""

    title: str
    url: str


class Planned(_Event):
    """The plan or its todo list is new or changed."""

    type: Literal["planned"] = "planned"
    plan: str
    todos: tuple[Todo, ...] = ()


class Thinking(_Event):
    """A piece of what a model writes or thinks: `node` is who, a member by its name."""

    type: Literal["thinking"] = "thinking"
    node: str
    text: str = ""
    reasoning: str = ""
    is_answer: bool = False
    """Whether `text` is of the answer to the whole task, as it is written."""


class Waiting(_Event):
    """The run waits for a phone; `place` counts from 1."""

    type: Literal["waiting"] = "waiting"
    place: int
    phone: str


class Started(_Event):
    """The run has its phone and works (again)."""

    type: Literal["started"] = "started"
    run: RunId
    phone: str
    phone_name: str


class Seen(_Event):
    """The run has its first look at the phone, before there is any step."""

    type: Literal["seen"] = "seen"
    run: RunId
    frame: str


class Step(_Event):
    """One step is done. `mark` is where the touch went, in pixels of the frame, `usage` what the task used so far."""

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
    """The package of the app that the step was done in, and what people call it."""
    app_name: str = ""
    frame: str | None = None
    mark: tuple[int, int] | None = None
    usage: Usage = Usage()
    seconds: float = 0.0
    record: StepRecord = StepRecord()
    """What it touched, and on what screen."""

    @property
    def denied(self) -> bool:
        """Whether a person did not allow what it was about to do."""
        return is_denied(self.effect)


class Asked(_Event):
    """The run waits for a person."""

    type: Literal["asked"] = "asked"
    question: Question


class Resumed(_Event):
    """The answer arrived; the run goes on."""

    type: Literal["resumed"] = "resumed"
    question: str


class FileFound(_Event):
    """A file from the phone for the chat; `content` is a reference to stored bytes."""

    type: Literal["file"] = "file"
    name: str
    content: str


class Told(_Event):
    """Something a person should see on the card, such as a phone that is being waited for."""

    type: Literal["told"] = "told"
    text: str


class SkillChosen(_Event):
    """The task follows a skill that nobody has named: who looked at the request has chosen it."""

    type: Literal["skill chosen"] = "skill chosen"
    skill: str
    arguments: dict[str, str] = Field(default_factory=dict)


class ModelAway(_Event):
    """The model gives no answer for now. It is asked again until `until` (Unix seconds), or `stand_in` answers in its
    place; with neither nobody waits for it any more. `cause` is why.
    """

    type: Literal["model away"] = "model away"
    cause: Cause = Cause.NO_CONNECTION
    until: float | None = None
    stand_in: str = ""


class RunEnded(_Event):
    """A sub-task on a phone is over. The lease is kept: the task decides when it ends."""

    type: Literal["run ended"] = "run ended"
    run: RunId
    subtask: int
    outcome: Outcome
    summary: str
    data: str | None = None
    on_screen: bool = False
    """Whether each line of `data` stood as a label on the last screen, so that code can compare it as it is."""
    notes: tuple[str, ...] = ()
    steps: int = 0
    usage: Usage = Usage()
    frame: str | None = None
    sources: tuple[Source, ...] = ()
    needs_model: NeedsModel | None = None
    """What it lacked, where it took a model and none is set."""
    declined: tuple[str, ...] = ()
    """What a person did not allow in this run, nor since; each is told to people as it stands."""


class TaskEnded(_Event):
    """The end of the task, told once. `sources` are the pages that were read for it, to be shown below the result."""

    type: Literal["final"] = "final"
    outcome: Outcome
    summary: str
    data: str | None = None
    value: Value | None = None
    """The result in the form that the order asked for; None where it asked for none, or there is none."""
    needs_model: NeedsModel | None = None
    """What it lacked, where it took a model and none is set."""
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
