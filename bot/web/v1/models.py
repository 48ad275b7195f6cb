"""What programs send and get. The API's document is made from these."""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, Strict, model_validator

from agent.files import GivenFile
from bot.domain.watch_words import MOST_CONDITION
from bot.tasks.files import MAX_FILES
from devices.inputs import Key

TEXT_LIMIT = 20_000
"""Characters of a task, a message or an answer."""
NAME_LIMIT = 100
TITLE_LIMIT = 200
PROMPT_LIMIT = 4_000
"""Characters of a conversation's system prompt, about 1,000 tokens: it stands in every prompt."""
MOST_ON_A_PAGE = 100

Item = TypeVar("Item")


class _Sent(BaseModel):
    """What a program sends: a field that is not known is a mistake, and a number in quotes is no number."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class _Got(BaseModel):
    model_config = ConfigDict(frozen=True)


Text = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT)]
Name = Annotated[str, Field(max_length=NAME_LIMIT)]


class Problem(_Got):
    """Why something was not done."""

    code: str = Field(description="Short and stable, for programs.")
    message: str = Field(description="A sentence for people, in the language that Accept-Language asks for.")
    details: Any = Field(default=None, description="More, where there is more to say.")


class Page(_Got, Generic[Item]):
    """One page of a list."""

    items: list[Item]
    next_cursor: str | None = Field(description="What to send as `cursor` for the next page; null on the last one.")
    has_more: bool


class Listed(_Got, Generic[Item]):
    """A list, a page at a time."""

    code: Literal["ok"] = "ok"
    data: Page[Item]


_MODEL = "One of GET /models: it decides, plans and works where no phone is needed. Empty for those that are set."
_PROMPT = "Standing instructions for all tasks that are given here from now on. They allow nothing."


class NewConversation(_Sent):
    """A place where tasks are given."""

    title: str = Field(default="", max_length=TITLE_LIMIT)
    model: Name = Field(default="", description=_MODEL)
    system_prompt: str = Field(default="", max_length=PROMPT_LIMIT, description=_PROMPT)


class ConversationChange(_Sent):
    """What is changed in a conversation; what is left out stays."""

    title: str | None = Field(default=None, max_length=TITLE_LIMIT)
    model: Name | None = Field(default=None, description=_MODEL)
    system_prompt: str | None = Field(default=None, max_length=PROMPT_LIMIT, description=_PROMPT)


class ConversationInfo(_Got):
    """A conversation. Times are Unix seconds."""

    id: str
    title: str
    model: str
    system_prompt: str
    created: float


class NewMessage(_Sent):
    """Something that is said in a conversation: an answer while a question is open, a note while a task is worked on,
    else a new task.
    """

    text: Text
    phone: Name = Field(default="", description="The phone of a new task, by name or id; empty for any free one.")
    quick: bool = Field(default=False, description="Go straight to the phone, without a plan.")


class MessageInfo(_Got):
    """A message of a conversation."""

    id: int
    role: Literal["user", "assistant"]
    text: str
    task: str | None = Field(description="The task that it is about.")
    question: str | None = Field(description="The question that it asks.")
    sent: float


class Taken(_Got):
    """What became of a message."""

    message: MessageInfo
    became: Literal["task", "answer", "note"]
    task: str


Arguments = Annotated[
    dict[Annotated[str, Field(max_length=NAME_LIMIT)], Annotated[str, Field(max_length=TEXT_LIMIT)]],
    Field(max_length=40),
]


class NewTask(_Sent):
    """A task: in words, or a skill with its arguments."""

    text: str = Field(default="", max_length=TEXT_LIMIT, description="Left out where a skill is named.")
    skill: Name = Field(default="", description="The name of the skill that is to be followed.")
    arguments: Arguments = Field(default_factory=dict, description="What the skill is to be done with, by parameter.")
    phone: Name = Field(default="", description="By name or id; several as `a,b`, or `all`; empty for any free one.")
    quick: bool = Field(default=False, description="Go straight to the phone, without a plan.")
    conversation: Name = Field(default="", description="Where it is given, so that its events are told there.")
    files: list[GivenFile] = Field(default_factory=list, max_length=MAX_FILES, description="What POST /files gave.")

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if not (self.text.strip() or self.skill):
            raise ValueError("a text or a skill is needed")
        return self


class ParameterInfo(_Got):
    """A parameter of a recorded skill."""

    name: str
    example: str = Field(description="What it was when the skill was recorded.")
    about: str


class RecordingInfo(_Got):
    """What a recorded skill was made of."""

    text: str = Field(description="The task in words, with its parameters in braces.")
    task: str = Field(description="The task that it was recorded from; empty where that is not known.")
    steps: int


class SkillFiguresInfo(_Got):
    """What the runs of a recorded skill have come to, and saved against the run that it was made of."""

    runs: int
    succeeded: int
    seconds: float
    tokens: int
    money: float | None = Field(description="Null where no price was known.")
    proven: bool = Field(description="Whether it has worked with other arguments than those it was made of.")
    again: str = Field(description="The task to save a new version from, since a model often had to help; else empty.")
    step: int = Field(description="Where it had to help, counted from 1; 0 for nowhere.")


class SkillInfo(_Got):
    """A way of doing something, which a task follows when it names it."""

    name: str
    description: str
    apps: list[str] = Field(description="The packages of the apps that it is for; empty for any.")
    version: int | None = Field(description="Of the recording; null for a skill in words alone.")
    parameters: list[ParameterInfo]
    may_change: bool = Field(description="Whether whoever asks may rename and delete it.")
    recording: RecordingInfo | None = Field(description="Null for a skill in words alone.")
    figures: SkillFiguresInfo | None = Field(description="Null for a skill in words alone, and before the first run.")


class RefusedSkill(_Got):
    """A folder that is no skill, and why."""

    folder: str
    why: str


class RefusedSkills(Listed[RefusedSkill]):
    """The folders that are no skills, and where they are."""

    root: str


class SkillName(_Sent):
    """The new name of a skill."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT)


class NewDraft(_Sent):
    """A task that is to become a skill."""

    task: str = Field(min_length=1, max_length=NAME_LIMIT)
    name: str = Field(min_length=1, max_length=NAME_LIMIT)
    parameters: Arguments | None = Field(
        default=None, description="Parameters with their values as they stand in the task; left out, they are proposed."
    )


class DraftInfo(_Got):
    """What would be saved of a task: POST /skills/drafts/{id}/save keeps exactly that."""

    id: str
    name: str
    text: str = Field(description="The task in words, with its parameters in braces.")
    parameters: list[ParameterInfo]
    steps: int
    by_model: int = Field(description="How many of its steps a model does each time.")
    always: list[str] = Field(description="Texts that are typed each time, whatever its arguments are.")


class OpenQuestionInfo(_Got):
    """A question that waits for an answer."""

    id: str
    kind: str
    text: str
    choices: list[str]
    detail: str
    picture: str | None
    expires: float


class TodoInfo(_Got):
    """A part of a task, and who of the team does it; the executor is the one with the phone."""

    title: str
    member: str
    state: str
    note: str


class SourceInfo(_Got):
    """A page that was read for a task."""

    title: str
    url: str


class TaskInfo(_Got):
    """A task. Times are Unix seconds."""

    id: str
    state: str
    outcome: str | None
    text: str
    summary: str
    data: str | None
    sources: list[SourceInfo] = Field(description="The pages that were read for it.")
    todos: list[TodoInfo] = Field(description="Its parts as they were last planned.")
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


class Note(_Sent):
    """Words for a task."""

    text: Text


class MaybeNote(_Sent):
    """Words for a task that goes on, or none."""

    text: str = Field(default="", max_length=TEXT_LIMIT)


class AnswerTo(_Sent):
    """An answer. `allow` and `deny` answer an approval."""

    text: Text = Field(repr=False)
    question: Name = Field(default="", description="Which one; needed where several are open.")


class StepInfo(_Got):
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
    effect: str
    denied: bool = Field(description="Whether a person did not allow it.")
    app: str
    package: str
    picture: str | None
    mark: list[int] | None
    tokens: dict[str, Any]
    seconds: float
    at: float


class PictureInfo(_Got):
    """A picture of a task: GET /pictures/{id} has its bytes."""

    id: str
    step: int


class FileInfo(_Got):
    """A file that was taken in for a later task."""

    content: str


class PhoneInfoOut(_Got):
    """A phone."""

    id: str
    name: str
    state: str
    usable: bool
    reason: str
    fix: str
    model: str
    android: str
    size: list[int] | None
    battery: int | None
    app: str
    app_name: str
    virtual: bool
    serial: str
    host: str = Field(description="The host that it is attached to, empty for the service's own machine.")
    lane: str = Field(description="How it is operated: fast, or plain for the reason beside it.")
    lane_reason: str
    pictures: str
    task: str | None = Field(description="The task that works on it, where it may be shown.")


class _Touch(_Sent):
    allow: Name = Field(default="", description="`details.allow` of the refusal that asked for an approval.")


class TapAt(_Touch):
    """A touch, in the phone's own pixels."""

    x: int = Field(ge=0, le=20_000)
    y: int = Field(ge=0, le=20_000)


class TypedText(_Touch):
    """Text for the focused field. What goes into a field for a password is kept nowhere."""

    text: str = Field(min_length=1, max_length=TEXT_LIMIT, repr=False)
    clear: bool = False
    submit: bool = False


class PressedKey(_Touch):
    """A key of the phone."""

    key: Annotated[Key, Strict(False)]


class OpenedApp(_Touch):
    """An app, by its name on the launcher or its package."""

    name: str = Field(min_length=1, max_length=200)


class TouchedInfo(_Got):
    """What an input met: the app that was in front, and the label of what is there."""

    app: str
    target: str


class NewSchedule(_Sent):
    """A task that is given again at set times: in words, or a skill with its arguments. With `tell_me_when` it is a
    watch, which is paused until POST /schedules/{id}/resume says yes to what was understood of those words.
    """

    rule: str = Field(min_length=1, max_length=NAME_LIMIT, description="`every 2h`, `at 18:00`, `cron 0 8 * * 1-5`.")
    text: str = Field(default="", max_length=TEXT_LIMIT, description="Left out where a skill is named.")
    skill: Name = Field(default="", description="The name of the skill that is followed each time.")
    arguments: Arguments = Field(default_factory=dict, description="What the skill is done with, by parameter.")
    tell_me_when: str = Field(
        default="", max_length=MOST_CONDITION, description="Makes it a watch: `the price is below $50`, `it changes`."
    )
    phone: Name = ""
    zone: Name = ""

    @model_validator(mode="after")
    def _of_something(self) -> Self:
        if not (self.text.strip() or self.skill):
            raise ValueError("a text or a skill is needed")
        return self


class ReadingsInfo(_Got):
    """What a watch reads, in words; a value that is not there yet is empty."""

    reads: str
    when: str = Field(description="When it is told.")
    value: str = Field(description="The last one that was read.")
    read: float | None = Field(description="When that was, in Unix seconds; null where it is not known.")
    now: str = Field(description="The last one that was told.")
    before: str = Field(description="The one before that.")
    misses: int = Field(description="How often in a row nothing was found.")


class ScheduleInfo(_Got):
    """A schedule. Times are Unix seconds."""

    id: str
    rule: str
    zone: str
    text: str
    person: str
    person_name: str
    platform: str
    options: dict[str, str]
    due: float
    paused: bool
    task: str | None
    allowed: dict[str, Any] | None = Field(description="What a person has allowed ahead for it.")
    watch: dict[str, Any] | None = Field(description="What is read and compared each time, where it watches.")
    last: dict[str, Any] | None = Field(description="The last reading.")
    readings: ReadingsInfo | None = Field(description="The same in words, where it watches.")
    told: str = Field(default="", description="What there is to say of it when it was made or changed.")


class ModelInfo(_Got):
    """A model that is set, and what it is used for."""

    role: str
    name: str


class ToolInfo(_Got):
    """A tool that is used where no phone is needed."""

    name: str
    about: str


class UsageSum(_Got):
    """What tasks have used."""

    tasks: int
    steps: int
    seconds: float
    tokens: dict[str, Any]
    unpriced: int
    voice: dict[str, Any]


class UsageInfo(UsageSum):
    """What one day, person, phone, role or model has used."""

    key: str
    label: str


class Statistics(Listed[UsageInfo]):
    """What was used, by group, and the sum."""

    total: UsageSum


class QuotaInfo(_Got):
    """What is used of one's tier today; `tier` is null for who is not limited."""

    tier: str | None
    ends: float | None = None
    used: dict[str, float] = Field(default_factory=dict)
    limits: dict[str, float | None] = Field(default_factory=dict)


class WhoInfo(_Got):
    """Who asks."""

    token: str = Field(description="Its name; empty for the operator, who needs none.")
    person: str
    name: str
    rights: list[str]
    phones: list[str] = Field(description="The only phones that the rights are for; empty for all.")
    expires: float | None


class GrantInfo(_Got):
    """A right that somebody has."""

    person: str
    right: str
    phone: str
    from_settings: bool


class AuditInfo(_Got):
    """One thing that somebody did."""

    id: int
    at: float
    kind: str
    person: str
    name: str
    task: str | None
    detail: Any


class HostInfo(_Got):
    """A machine with phones that works for this service."""

    name: str
    state: str = Field(description="How it stands, in words.")
    usable: bool = Field(description="Whether it can be given work now.")
    joined: float
    version: str = Field(description="Of the program there; empty while it is not known.")
    phones: list[str]


class Hosts(Listed[HostInfo]):
    """The hosts that have joined. `switched_on` is false where this service takes none; `FLEET_URL` switches it on."""

    switched_on: bool


class NewHost(_Sent):
    """A host that is invited: 1 to 32 lowercase letters, digits and dashes."""

    name: str = Field(min_length=1, max_length=NAME_LIMIT)


class Invitation(_Got):
    """What a host joins with, once. It is not told again."""

    command: str = Field(description="What is run on the machine with the phones.")
    minutes: int = Field(description="How long it can be used.")
