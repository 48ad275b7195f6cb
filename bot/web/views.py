"""What the page and the command line get to see of tasks, questions and phones, as plain JSON objects."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from bot.cards.card import card_text
from bot.cards.formatting import status_words
from bot.cards.question import question_text
from bot.checks.settings import Shown
from bot.domain.address import Address
from bot.domain.finding import Finding
from bot.domain.outgoing import Button, Menu
from bot.domain.task import OpenQuestion, Task, TaskState
from bot.monitoring.dependencies import Wait
from bot.monitoring.outage_notice import standstill_words
from bot.texts import say
from bot.views.model import model_json
from bot.views.tasks import Json, phone_json, task_json
from bot.web.chat import CAPABILITIES, HOME
from bot.web.standing import Standing
from devices.wording import said

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
