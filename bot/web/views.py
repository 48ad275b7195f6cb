"""What the page and the command line get to see of tasks, questions and phones, as plain JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, tzinfo
from typing import Final, Protocol

from agent.events import ModelAway, Told
from agent.models.state import ModelState
from bot.application.services import Services
from bot.cards.card import CardFacts, card_text
from bot.cards.formatting import status_words
from bot.cards.question import question_text
from bot.checks.settings import Shown
from bot.domain.address import Address
from bot.domain.finding import Finding
from bot.domain.outgoing import Button, Menu
from bot.domain.task import OpenQuestion, PartNow, Task, TaskState
from bot.monitoring.dependencies import Wait
from bot.monitoring.outage_notice import STORE, standstill_words
from bot.tasks.queries import ahead_of
from bot.texts import say
from bot.views.model import model_json
from bot.views.tasks import Json, phone_json, task_json
from bot.web.chat import CAPABILITIES, HOME
from devices.phone import PhoneInfo
from devices.wording import said

TASKS_SHOWN = 100
"""Tasks in the list of the page."""
HOLDING_UP: Final = (STORE, "disk", "memory", "adb")
"""What nothing goes on without. The model and the phones are shown by themselves, chats where they are connected."""
HOLDS = frozenset({TaskState.WORKING, TaskState.WAITING, TaskState.PAUSED})
"""A task in one of these states has its phone, or will go on where it left it."""


class ConsoleChecks(Protocol):
    """What the service finds when it looks at itself."""

    def settings(self) -> Sequence[Shown]:
        """What is set, without secrets."""
        ...

    async def near(self) -> Sequence[Finding]:
        """What costs nothing."""
        ...

    async def far(self) -> Sequence[Finding]:
        """What is asked elsewhere: the model and the chats' platforms. May take a minute, and costs some tokens."""
        ...


def console_task_json(task: Task, home: Address = HOME) -> Json:
    """A task, with where it is in the console at `home`."""
    more = {"follows": task.request.follows, "todos": [todo.model_dump(mode="json") for todo in task.todos]}
    return task_json(task) | place_json(task, home) | more


def place_json(task: Task, home: Address) -> Json:
    """`thread`: the task's place in that chat, null when it lives in another one; and `anchor`: the message there that
    asked for it, "" for none.
    """
    here = task.place if task.place is not None and is_at(task.place, home) else None
    return {
        "thread": None if here is None else here.thread,
        "anchor": task.request.origin.anchor if is_at(task.origin, home) else "",
    }


def work_json(task: Task, place: int | None) -> Json:
    """What a phone does or will do: a task, or one phone's part of it. `task` is the one that people know."""
    return {
        "task": task.parent or task.id,
        "called": task.called,
        "phone": task.phone,
        "state": task.state.value,
        "holds": task.state in HOLDS,
        "place": place,
        "text": task.text,
        "person": task.person.name or task.person.id,
        "platform": task.origin.platform,
        "steps": task.steps,
        "frame": task.frame,
        "created": task.created,
    }


def button_json(button: Button) -> Json:
    """A button: its label, what a press of it sends back, and its style."""
    return {"label": button.label, "data": button.data, "style": button.style}


def menu_json(menu: Menu) -> Json:
    """A list of which one choice is taken."""
    return {"choices": [button_json(choice) for choice in menu.choices], "prompt": menu.prompt}


def is_at(place: Address, home: Address) -> bool:
    """Whether the place is in that chat of the console."""
    return (place.platform, place.chat) == (home.platform, home.chat)


def question_json(open_question: OpenQuestion, task: Task, *, allowed: bool = True) -> Json:
    """An open question of a task or of one phone's part; `allowed` says whether who reads this may answer it. `told` is
    what it reads, with its buttons.
    """
    question = open_question.question
    shown = question_text(
        open_question, task, now=open_question.asked, menu_choices=CAPABILITIES.menu_choices, counts_down=True
    )
    return {
        "question": question.id,
        "task": task.parent or task.id,
        "kind": question.kind.value,
        "text": question.text,
        "choices": list(question.choices),
        "detail": question.detail,
        "again": question.again,
        "sends": question.sends,
        "to": None if question.to is None else question.to.model_dump(),
        "anew": question.before is not None,
        "frame": question.frame,
        "asked": open_question.asked,
        "expires": open_question.expires,
        "allowed": allowed,
        "told": {
            "heading": shown.heading,
            "body": shown.body,
            "footer": shown.footer,
            "buttons": [button_json(button) for row in shown.buttons for button in row],
            "menu": None if shown.menu is None else menu_json(shown.menu),
        },
    }


@dataclass(frozen=True, slots=True)
class Standing:
    """How tasks, phones, questions and the model stand at one moment. `places` are places in the queue by task, `waits`
    is what holds up everything; `facts` and `statuses` are what the cards of active tasks tell, by task.
    """

    tasks: tuple[Task, ...]
    active: tuple[Task, ...]
    places: Mapping[str, int | None]
    phones: tuple[PhoneInfo, ...]
    questions: tuple[OpenQuestion, ...]
    model: ModelState
    waits: tuple[Wait, ...] = ()
    facts: Mapping[str, CardFacts] = field(default_factory=dict)
    statuses: Mapping[str, Told | ModelAway] = field(default_factory=dict)
    zone: tzinfo = UTC

    def parts(self, task: str) -> tuple[Task, ...]:
        """The active parts of a task for several phones."""
        return tuple(one for one in self.active if one.parent == task)


def waits_of(services: Services) -> tuple[Wait, ...]:
    """What holds up everything at the moment."""
    return tuple(wait for wait in services.waits() if wait.what in HOLDING_UP)


async def standing_of(services: Services, before: Standing | None = None) -> Standing:
    """How everything stands now: three reads of the store, and one for each active task that is another than
    `before`.
    """
    tasks = services.task_service
    active = tuple(await tasks.active())
    recent = tuple(await tasks.recent(TASKS_SHOWN))
    listed = {task.id for task in recent}
    old = [task for task in active if not task.parent and task.id not in listed]
    places = {task.id: await tasks.place_in_queue(task.id) for task in active if not task.parts}
    questions = await services.store.questions.open()
    phones = services.phones.list()
    shown = (*recent, *reversed(old))
    statuses = {task.id: status for task in active if (status := tasks.status(task.id)) is not None}
    now = Standing(
        shown, active, places, phones, questions, services.model(), waits_of(services), {}, statuses, services.zone
    )
    known = {} if before is None else {task.id: task for task in before.active}
    facts = {}
    for task in active:
        if task.parent:
            continue
        same = before is not None and known.get(task.id) == task and before.parts(task.id) == now.parts(task.id)
        facts[task.id] = await _facts(task, now, services, before.facts.get(task.id) if before and same else None)
    return replace(now, facts=facts)


async def _facts(task: Task, now: Standing, services: Services, known: CardFacts | None) -> CardFacts:
    """What the card of the task tells; `known` is what it told before, of the same task."""
    tasks, place = services.task_service, now.places.get(task.id)
    step = await tasks.last_step(task.id) if known is None else known.step
    parts = (await tasks.parts_now(task.id) if task.parts else ()) if known is None else known.parts
    ahead = None if place is None else ahead_of(task, place, now.active, now.tasks)
    here = tuple(PartNow(part.task, part.step, now.places.get(part.task.id)) for part in parts)
    return CardFacts(step, place, ahead, tasks.ending(task.id), here)


def state_json(
    standing: Standing, home: Address = HOME, allowed: Callable[[OpenQuestion], bool] = lambda _question: True
) -> Json:
    """All that the page of `home` shows beside the messages; `allowed` says which questions may be answered there."""
    active = {task.id: task for task in standing.active}
    return {
        "tasks": [console_task_json(task, home) | {"card": card_json(task, standing)} for task in standing.tasks],
        "work": [work_json(task, standing.places[task.id]) for task in standing.active if task.id in standing.places],
        "devices": [phone_json(phone, standing.active) for phone in standing.phones],
        "questions": [
            question_json(one, active[one.task], allowed=allowed(one))
            for one in standing.questions
            if one.task in active
        ],
        "model_state": model_json(standing.model),
        "held_up": [_held_up(wait) for wait in standing.waits],
    }


def card_json(task: Task, standing: Standing) -> Json | None:
    """What stands beside the phone of a task that has not ended: the screen with the place that was touched, what is
    being done, and the buttons; None for any other.
    """
    facts = standing.facts.get(task.id)
    if facts is None:
        return None
    statuses = standing.statuses
    card = card_text(task, facts, note=lambda each: status_words(statuses.get(each), standing.zone), counts_down=True)
    frame, mark = facts.screen(task)
    buttons = [button_json(button) for row in card.buttons for button in row]
    return {"body": card.body, "footer": card.footer, "buttons": buttons, "frame": frame, "mark": mark}


def _held_up(wait: Wait) -> str:
    """Why no work can go on or soon will not, and what ends that where the machine's owner can."""
    remedy = say(f"check.waits.fix.{wait.what}") if wait.what in {"disk", "memory"} else ""
    return f"{standstill_words([wait]) or said(wait.why)} {remedy}".rstrip()


def changes_json(before: Json, now: Json) -> Json:
    """What is another in `now`: of the tasks only those that are, of all else the whole list. Nothing: an empty one."""
    known = {task["task"]: task for task in before["tasks"]}
    tasks = [task for task in now["tasks"] if known.get(task["task"]) != task]
    changed = {name: value for name, value in now.items() if name != "tasks" and before[name] != value}
    return changed | ({"tasks": tasks} if tasks else {})
