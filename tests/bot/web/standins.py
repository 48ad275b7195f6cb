"""Stand-ins at the protocols behind the console: tasks, phones, questions, checks, an intake, runs."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from PIL import Image
from pydantic import SecretStr

from agent.events import Asked, ModelAway, Told
from agent.models.base import Usage
from agent.models.state import ModelState, ModelStatus
from agent.questions import Question, QuestionKind
from agent.run import Outcome, RunId
from bot.checks.settings import Shown, shown
from bot.config.settings import Settings
from bot.domain.address import Address, MessageRef, Person, Place
from bot.domain.finding import Finding
from bot.domain.incoming import Incoming, Invocation, Press
from bot.domain.outgoing import Reply
from bot.domain.task import Answered, OpenQuestion, PartNow, StepRow, Task, TaskState
from bot.domain.task_events import Accepted, LogEvent, LoggedEvent, QuestionClosed, StepDone
from bot.monitoring.dependencies import Listener, Wait
from bot.store.search import Choices, TaskFilter
from bot.store.task_events import AT_ONCE
from bot.web.chat import HOME, OPERATOR
from devices.errors import PhoneError
from devices.geometry import Size
from devices.phone import Health, Phone, PhoneInfo
from tests.bot.records import a_task
from tests.fakes.instant_phone import InstantPhone


def address(thread: str) -> Address:
    """A thread of the console; "" is the console itself."""
    return replace(HOME, thread=thread)


def picture(colour: str = "teal", size: tuple[int, int] = (90, 200)) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", size, colour).save(target, "PNG")
    return target.getvalue()


def task(number: str = "1", **changes: object) -> Task:
    values: dict[str, object] = {
        "id": number,
        "text": "open settings",
        "person": OPERATOR,
        "origin": address(""),
        "anchor": "",
        "place": address(f"t{number}"),
        "usage": Usage(input=1200, output=90),
        "created": time.time() - 60,
        "started": time.time() - 55,
    }
    return a_task(**(values | changes))


def question(kind: QuestionKind, number: str = "1", message: MessageRef | None = None) -> OpenQuestion:
    asked = Question(id=f"q{number}", run=RunId(number), kind=kind, text="What is it?")
    now = time.time()
    return OpenQuestion(number, asked, now, now + 900, message, None, "", expired=False)


def done(row: StepRow) -> StepDone:
    """A step as the log has it."""
    told = {name: getattr(row, name) for name in StepDone.model_fields if hasattr(row, name)}
    return StepDone.model_validate(told)


PHONE = PhoneInfo(
    id="pixel",
    serial="emulator-5554",
    name="Pixel 7",
    health=Health.READY,
    size=Size(1080, 2400),
    battery=81,
    app="Settings",
)


@dataclass
class Tables:
    """Tasks, questions, steps and phones as the console sees them."""

    tasks: list[Task] = field(default_factory=list)
    questions: list[OpenQuestion] = field(default_factory=list)
    answers: list[tuple[str, str]] = field(default_factory=list)
    """What was answered, by question."""
    steps: list[StepRow] = field(default_factory=list)
    parts: list[Task] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    ending: frozenset[str] = frozenset()
    statuses: dict[str, Told | ModelAway] = field(default_factory=dict)
    phones: list[PhoneInfo] = field(default_factory=lambda: [PHONE])
    screen: Image.Image | PhoneError | None = field(default_factory=lambda: Image.new("RGB", (1080, 2400), "navy"))
    model: ModelState = field(default_factory=lambda: ModelState(ModelStatus.OFFLINE))
    waits: tuple[Wait, ...] = ()
    glances: list[str] = field(default_factory=list)
    listeners: list[Callable[[str], None]] = field(default_factory=list)
    outage_listeners: list[Listener] = field(default_factory=list)
    closed: list[OpenQuestion] = field(default_factory=list)
    events: list[LoggedEvent] = field(default_factory=list)
    epoch: str = ""
    event_listeners: list[Callable[..., None]] = field(default_factory=list)
    reads: int = 0
    event_reads: int = 0

    def happens(self, task: str, *events: LogEvent, part: str = "") -> None:
        """Append to the log of a task, which begins with what was asked."""
        for event in events:
            number = len([one for one in self.events if one.task == task]) + 1
            if number == 1 and not isinstance(event, Accepted):
                self.happens(task, Accepted(text="open settings"))
                number = 2
            position = len(self.events) + 1
            self.events.append(LoggedEvent(task, number, time.time(), event, part, position=position))
            self._append(task, event)

    def asks(self, *questions: OpenQuestion) -> None:
        """Each is open from now on, and stands in the log of its task."""
        for one in questions:
            self.happens(one.task, Asked(question=one.question))
        self.questions = [*self.questions, *questions]

    def does(self, *steps: StepRow) -> None:
        """Steps of a run, as the table and the log keep them."""
        for row in steps:
            self.happens(row.task, done(row), part=row.part)
        self.steps = [*self.steps, *steps]

    def _append(self, number: str, event: LogEvent) -> None:
        for listener in tuple(getattr(self, "event_listeners", ())):
            listener(task(number), event)

    def __setattr__(self, name: str, value: object) -> None:
        """Whatever a test puts in is told, as the task service and the phones do."""
        object.__setattr__(self, name, value)
        if name == "questions":
            self._append("1", QuestionClosed(question=""))
        if name == "steps" and self.steps:
            self._append(self.steps[-1].task, done(self.steps[-1]))
        if name not in {"listeners", "reads", "event_reads"}:
            for listener in getattr(self, "listeners", ()):
                listener("")


class TaskTable:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def recent(self, limit: int, *, before: str | None = None) -> Sequence[Task]:
        return tuple(one for one in self._tables.tasks if before is None or int(one.id) < int(before))[:limit]

    def subscribe(self, listener: Callable[[str], None]) -> Callable[[], None]:
        self._tables.listeners.append(listener)
        return lambda: self._tables.listeners.remove(listener)

    async def get(self, task: str) -> Task | None:
        return next((one for one in self._tables.tasks if one.id == task), None)

    async def around(self, tasks: Collection[str]) -> Sequence[Task]:
        """All there are: the tables tell of none which has changed."""
        assert tasks
        self._tables.reads += 1
        return (*self._tables.tasks, *self._tables.parts)

    async def active(self) -> Sequence[Task]:
        self._tables.reads += 1
        return tuple(one for one in (*self._tables.tasks, *self._tables.parts) if one.state is not TaskState.ENDED)

    async def place_in_queue(self, task: str) -> int | None:
        return self._tables.places.get(task)

    def holding(self) -> frozenset[str]:
        known = (*self._tables.tasks, *self._tables.parts)
        return frozenset(one.id for one in known if one.phone and one.state is TaskState.WORKING)

    async def last_step(self, task: str) -> StepRow | None:
        return next((step for step in reversed(self._tables.steps) if step.task == task), None)

    def ending(self, task: str) -> bool:
        return task in self._tables.ending

    def status(self, task: str) -> Told | ModelAway | None:
        return self._tables.statuses.get(task)


class TaskFinder:
    """Looks through the same tables, as the store does."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def find(self, wanted: TaskFilter, limit: int, *, before: str | None = None) -> Sequence[Task]:
        def fits(one: Task) -> bool:
            return (
                all(word in f"{one.text} {one.summary}".casefold() for word in wanted.text.casefold().split())
                and wanted.standing in {"", one.state, one.outcome}
                and wanted.phone in {"", one.phone}
                and (not wanted.platform or (wanted.platform, wanted.person) == (one.person.platform, one.person.id))
            )

        earlier = [one for one in self._tables.tasks if before is None or int(one.id) < int(before)]
        return [one for one in earlier if fits(one)][:limit]

    async def choices(self, accounts: Collection[Person] | None = None) -> Choices:
        assert accounts is None
        people = {(one.person.platform, one.person.id, one.person.name) for one in self._tables.tasks}
        return Choices(sorted({(one.phone, one.phone_name) for one in self._tables.tasks}), sorted(people))


class QuestionTable:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    async def open(self) -> Sequence[OpenQuestion]:
        return tuple(self._tables.questions)

    async def of(self, task: str) -> Sequence[OpenQuestion]:
        return [one for one in (*self._tables.questions, *self._tables.closed) if one.task == task]


class EventTable:
    """The logs of the tasks."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def on_append(self, listener: Callable[..., None]) -> Callable[[], None]:
        self._tables.event_listeners.append(listener)
        return lambda: self._tables.event_listeners.remove(listener)

    async def of_task(self, task: str, after: int = 0, limit: int = AT_ONCE) -> Sequence[LoggedEvent]:
        self._tables.event_reads += 1
        return [one for one in self._tables.events if one.task == task and one.number > after][:limit]

    async def since(self, position: int, limit: int = AT_ONCE) -> Sequence[LoggedEvent]:
        self._tables.event_reads += 1
        return [one for one in self._tables.events if one.position > position][:limit]

    async def latest(self) -> int:
        return self._tables.events[-1].position if self._tables.events else 0

    async def epoch(self) -> str:
        return self._tables.epoch

    async def missed(self, position: int) -> int:
        return len(await self.since(position, len(self._tables.events)))


class ServedTasks(TaskTable):
    """What the API asks of the task service, from the same tables."""

    async def working_on(self, phone: str) -> Task | None:
        return next((one for one in await self.active() if one.phone == phone and one.state != TaskState.QUEUED), None)

    async def steps(self, task: str, *, after: int = 0) -> Sequence[StepRow]:
        return [step for step in self._tables.steps if step.task == task][after:]

    async def question(self, question: str) -> OpenQuestion | None:
        known = (*self._tables.questions, *self._tables.closed)
        return next((one for one in known if one.question.id == question), None)

    async def parts(self, task: str) -> Sequence[Task]:
        return [one for one in self._tables.parts if one.parent == task]

    async def parts_now(self, task: str) -> tuple[PartNow, ...]:
        return tuple([PartNow(part, await self.last_step(part.id), None) for part in await self.parts(task)])

    async def open_questions(self, *, task: str) -> Sequence[OpenQuestion]:
        return [one for one in self._tables.questions if one.task == task]

    async def known(self, task: str) -> Task:
        return next(one for one in self._tables.tasks if one.id == task)

    async def answer(self, question: str, text: str, by: Person) -> Answered:  # noqa: ARG002 - as the service has it
        self._tables.answers.append((question, text))
        return Answered(won=True, question=next(one for one in self._tables.questions if one.question.id == question))


class PhoneList:
    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def list(self) -> tuple[PhoneInfo, ...]:
        return tuple(self._tables.phones)

    async def wait_for_change(self) -> None:
        await asyncio.Event().wait()

    def get(self, phone_id: str) -> Phone:
        return ShownPhone(self._tables, phone_id)


class ShownPhone(InstantPhone):
    """Shows what the test has put on its screen, and tells that it was looked at."""

    def __init__(self, tables: Tables, phone: str) -> None:
        super().__init__()
        self._tables = tables
        self._phone = phone

    async def glance(self) -> Image.Image | None:
        self._tables.glances.append(self._phone)
        if isinstance(self._tables.screen, PhoneError):
            raise self._tables.screen
        return self._tables.screen


class Checks:
    """Two findings of each kind, and two settings."""

    def settings(self) -> Sequence[Shown]:
        return shown(Settings(vlm_api_key=SecretStr("hush-hush"), vlm_model="my-model"))

    async def near(self) -> Sequence[Finding]:
        return [
            Finding("files", "good", "Data directory data"),
            Finding("files", "bad", "Only 1 GB free.", "Make room."),
        ]

    async def far(self) -> Sequence[Finding]:
        return [Finding("model", "good", "my-model accepts pictures.")]


class TinyIntake:
    """Remembers what came in, and answers with what the test prepared."""

    def __init__(self) -> None:
        self.messages: list[Incoming] = []
        self.calls: list[Invocation] = []
        self.presses: list[Press] = []
        self.reply: Callable[[Incoming | Invocation | Press], Reply] = lambda _: Reply()
        self.came = asyncio.Event()

    async def message(self, incoming: Incoming) -> Reply:
        self.messages.append(incoming)
        return self._answer(incoming)

    async def invoke(self, invocation: Invocation) -> Reply:
        self.calls.append(invocation)
        return self._answer(invocation)

    async def press(self, press: Press) -> Reply:
        self.presses.append(press)
        return self._answer(press)

    def suggestions(self, person: Person, place: Place, option: str, typed: str) -> tuple[tuple[str, str], ...]:
        return ((f"{person.name} {place.address} {option}", typed),)

    def _answer(self, what: Incoming | Invocation | Press) -> Reply:
        self.came.set()
        return self.reply(what)


def ended(number: str, outcome: Outcome, **changes: object) -> Task:
    return task(number, state=TaskState.ENDED, outcome=outcome, ended=time.time() - 10, **changes)
