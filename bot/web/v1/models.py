"""The models of the API's requests and answers that several of its routers share: lists, refusals, tasks, questions and
files. The OpenAPI document is generated from them.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Generic, Literal, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from agent.ports.journal import CallState
from agent.ports.stores import GivenFile
from agent.run import NeedsModel
from agent.task_results import JsonSchema
from bot.domain.task_request import TaskDraft, TaskOptions
from bot.tasks.files import MAX_FILES

TEXT_LIMIT = 20_000
"""Characters of a task, a message or an answer."""
NAME_LIMIT = 100
MOST_ON_A_PAGE = 100
MOST_NUMBER = 10**18 - 1
"""Largest number of a message."""

Item = TypeVar("Item")


class Sent(BaseModel):
    """The base class of request bodies. Unknown fields are errors, and values are not converted: "1" is not a
    number.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Got(BaseModel):
    """The base class of answers. Their docstrings and field descriptions appear in the OpenAPI document."""

    model_config = ConfigDict(frozen=True)


Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
Name = Annotated[str, Field(max_length=NAME_LIMIT)]
Arguments = Annotated[
    dict[Annotated[str, Field(max_length=NAME_LIMIT)], Annotated[str, Field(max_length=TEXT_LIMIT)]],
    Field(max_length=40),
]


class Problem(Got):
    """The answer to a request that was refused or failed."""

    code: str = Field(description="Short and stable, for programs.")
    message: str = Field(description="A sentence for people, in the language that Accept-Language asks for.")
    details: Any = Field(default=None, description="More, where there is more to say.")


class Page(Got, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None = Field(description="What to send as `cursor` for the next page; null on the last one.")
    has_more: bool


class Listed(Got, Generic[Item]):
    """A list, of which each answer contains one page."""

    code: Literal["ok"] = "ok"
    data: Page[Item]


RESULT_SCHEMA: Final = (
    "A JSON Schema (draft 2020-12, without pattern and outside references): `data` is a JSON document that is valid "
    "against it, or the task has failed."
)


def _usable(document: dict[str, Any]) -> dict[str, Any]:
    return JsonSchema(document=document).document


Schema = Annotated[dict[str, Any], AfterValidator(_usable)]
"""A JSON Schema that can be used for results."""


def plain_options(wish: TaskOptions) -> TaskOptions:
    """Return only the options of a request that has more."""
    return TaskOptions(**wish.model_dump(include=set(TaskOptions.model_fields)))


class HowTo(TaskOptions, Sent):
    """The phone on which a task is to be done, and its options."""

    phone: Name = Field(default="", description="By name or id; several as `a,b`, or `all`; empty for any free one.")
    member: Name = Field(default="", description="Who of the team does it alone; empty for whoever fits.")
    max_steps: int | None = Field(default=None, ge=1, description="At most so many steps, and not more than is set.")
    result_schema: Schema | None = Field(default=None, description=RESULT_SCHEMA)

    def draft(self, text: str) -> TaskDraft:
        """Return the draft of a task with this text and these options."""
        schema = None if self.result_schema is None else JsonSchema(document=self.result_schema)
        return TaskDraft(text, self.phone, plain_options(self), max_steps=self.max_steps, result_schema=schema)


class WhatToDo(HowTo):
    """What to do, as text or as a skill with its arguments, and how."""

    text: str = Field(default="", max_length=TEXT_LIMIT, description="May be left out if a skill is named.")
    skill: Name = Field(default="", description="The name of the skill to follow.")
    arguments: Arguments = Field(default_factory=dict, description="Values for the skill's parameters, by name.")

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if not (self.text.strip() or self.skill):
            raise ValueError("a text or a skill is needed")
        return self


class NewTask(WhatToDo):
    """A task to start now."""

    follows: Name = Field(default="", description="The task that it follows up; in a conversation the last one there.")
    conversation: Name = Field(default="", description="Where it is given, so that its events are told there.")
    files: list[GivenFile] = Field(default_factory=list, max_length=MAX_FILES, description="What POST /files gave.")


class OpenQuestionInfo(Got):
    """A question that waits for an answer."""

    id: str
    kind: str
    text: str
    choices: list[str]
    detail: str
    picture: str | None
    expires: float


class TodoInfo(Got):
    """One item of a task's plan, and the team member who does it. The member `executor` is the one with the phone."""

    title: str
    member: str
    state: str
    note: str


class SourceInfo(Got):
    """A page that was read for a task."""

    title: str
    url: str


class TaskInfo(Got):
    """A task. Times are Unix seconds."""

    id: str
    state: str
    outcome: str | None
    text: str
    summary: str
    data: str | None
    sources: list[SourceInfo] = Field(description="The pages that were read for it.")
    needs_model: NeedsModel | None = Field(description="Where it takes a model and none is set: what comes near to it.")
    todos: list[TodoInfo] = Field(description="Its parts as they were last planned.")
    files: list[FileInfo] = Field(description="What goes to the phone with it, before its first step.")
    phone: str
    phone_name: str
    phones: int
    person: str
    person_name: str
    platform: str = Field(description="Where it was given.")
    thread: str | None = Field(description="Its thread in one's own chat; null when it lives elsewhere.")
    anchor: str = Field(description="The message of one's own chat that asked for it; empty for none.")
    follows: str = Field(description="The task that it follows up; empty for none.")
    conversation: str | None
    quick: bool
    steps: int
    max_steps: int
    place_in_queue: int | None
    tokens: dict[str, Any]
    created: float
    started: float | None
    ended: float | None
    picture: str | None
    questions: list[OpenQuestionInfo] = Field(description="Those that wait for an answer.")
    told: str = Field(default="", description="What there is to say of what was just done to it.")


class Note(Sent):
    """A note for a task."""

    text: Text


class MaybeNote(Sent):
    """An optional note for a task that is resumed."""

    text: str = Field(default="", max_length=TEXT_LIMIT)


class Repeat(Sent):
    """Changes for the repetition of a task."""

    changes: str = Field(default="", max_length=TEXT_LIMIT, description="What is added to its text.")
    phone: Name = Field(default="", description="As for a task; empty for the same one.")
    quick: bool | None = Field(default=None, description="null for as quick as before.")
    files: list[GivenFile] = Field(default_factory=list, max_length=MAX_FILES, description="Beside its own ones.")


class AnswerTo(Sent):
    """An answer to a question. For an approval it is `allow`, `deny` or, if the question offers it, `allow for this
    task`.
    """

    text: Text | None = Field(repr=False, description="null: nobody will answer, and the task ends as blocked.")
    question: Name = Field(default="", description="Which one; needed where several are open.")


class StepInfo(Got):
    """A step of a task."""

    index: int
    part: str = Field(description="The part of the task that did it, where several phones work on it.")
    subtask: int
    step: int
    max_steps: int
    phone: str
    summary: str
    thought: str
    action: dict[str, Any]
    target: str = Field(description="What people call the thing that was touched, where that is known.")
    effect: str
    denied: bool = Field(description="Whether a person did not allow it.")
    app: str
    package: str
    picture: str | None
    mark: list[int] | None
    tokens: dict[str, Any]
    seconds: float
    at: float


class ToolCallInfo(Got):
    """One use of a tool that needs no phone."""

    id: str
    member: str = Field(description="Who of the team used it.")
    name: str
    arguments: dict[str, Any]
    state: CallState
    text: str = Field(description="What came of it.")
    cached: bool = Field(description="Whether the result is that of an equal call.")
    seconds: float
    at: float


class PictureInfo(Got):
    """A picture of a task; GET /tasks/{task}/pictures/{id} returns its bytes."""

    id: str
    step: int


class FileInfo(Got):
    """A file of a task, or one that was uploaded for a later task."""

    name: str = Field(description="Its own name, empty where none was sent.")
    content: str
