"""Composes the messages that ask people a question, with the screenshot and buttons, and their text once it is
answered.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Required, TypedDict, Unpack

from agent.ports.leases import GIVE_BACK_S
from agent.ports.stores import Frames
from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, Question, QuestionKind
from bot.cards.buttons import LABEL_LIMIT, VERSION, ButtonAction, button, stop_button, stop_phone_button
from bot.cards.formatting import duration, in_own_thread, shortened, title_of
from bot.cards.picture import screen_picture, sheet_picture
from bot.domain.outgoing import Button, Menu, Message, Picture, Tone
from bot.domain.task import OpenQuestion, Task, locator
from bot.texts import say

CHOICE_BUTTONS = 5
"""More choices than this are shown as a menu: a message on Discord has five rows of buttons."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The choices of a question as a message shows them: as buttons, as a menu, or only as text.

    `lines` list the choices with numbers if they are too long for labels, or too many for buttons and menu.
    """

    how: str
    """How to answer, in one sentence."""
    rows: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    lines: tuple[str, ...] = ()


def offer_of(question: Question, menu_choices: int) -> Offer:
    """Return how to show the choices of an open question on a platform whose menus hold `menu_choices` entries (0: no
    menus).

    In any case the person may also answer in words or with the number of a choice.
    """
    choices = question.choices
    if not choices:
        return Offer(say("asking.ask.how_words"))
    whole = all(len(choice) <= LABEL_LIMIT for choice in choices)
    lines = tuple(f"{number}. {choice}" for number, choice in enumerate(choices, 1))
    if whole and len(choices) <= CHOICE_BUTTONS:
        return Offer(say("asking.ask.how"), tuple((one,) for one in _buttons(question, choices)))
    if len(choices) > menu_choices:
        return Offer(say("asking.ask.how_number"), lines=lines)
    turner = f"{VERSION}:{ButtonAction.PAGE}:{locator(question.id)}"
    menu = Menu(_buttons(question, choices if whole else lines), say("question.choose"), turner)
    return Offer(say("asking.ask.how_menu"), menu=menu, lines=() if whole else lines)


def _buttons(question: Question, labels: tuple[str, ...]) -> tuple[Button, ...]:
    place = locator(question.id)
    return tuple(
        button(ButtonAction.ANSWER, place, label, choice=str(number)) for number, label in enumerate(labels, 1)
    )


BUTTON_ROWS = 5
"""Discord's limit. With five choices there is no room for a Stop button; the card has one."""
ANSWER_LIMIT = 200
HEADING_LIMIT = 180
"""Characters of a question that is its own heading; platforms cut longer ones."""

_KEYS = {
    QuestionKind.ASK: "ask",
    QuestionKind.APPROVE: "approve",
    QuestionKind.TAKE_OVER: "take_over",
    QuestionKind.SECRET: "secret",
}

_BY_MESSAGE = {QuestionKind.TAKE_OVER, QuestionKind.SECRET}
"""Kinds of questions that can also be answered by a message in the chat."""


class QuestionOptions(TypedDict, total=False):
    """The options of `question_text`."""

    now: Required[float]
    menu_choices: int
    repeated: bool
    counts_down: bool
    titled: bool


async def render_question(
    open_question: OpenQuestion, task: Task, *, frames: Frames, **options: Unpack[QuestionOptions]
) -> Message:
    """Return the question as a message with its screenshot, which notifies and mentions the task's person."""
    message = question_text(open_question, task, **options)
    return replace(message, picture=await question_picture(open_question.question, frames))


def question_text(
    open_question: OpenQuestion,
    task: Task,
    *,
    now: float,
    menu_choices: int = 0,
    repeated: bool = False,
    counts_down: bool = False,
    titled: bool = False,
) -> Message:
    """Return the message of a question without its picture.

    - `task`: The task that asks; if it runs on several phones, the part of the one that asks.
    - `now`: Unix seconds.
    - `menu_choices`: How many choices a menu of the platform holds; 0 if there are no menus.
    - `repeated`: Whether the message may have arrived before, so that it says so.
    - `counts_down`: Whether the chat itself shows the time left, the task and kind of the question, and where to
      answer.
    - `titled`: Whether it is sent to the task's own thread, whose title names the task.
    """
    question = open_question.question
    offer = offer_of(question, menu_choices) if question.kind is QuestionKind.ASK else None
    rows = _answer_rows(question, task) if offer is None else offer.rows
    stop = stop_phone_button(task.id, task.phone_name) if task.parent else stop_button(task.id)
    heading, body, below = _words(question, task, titled=titled)
    footer = [
        "" if counts_down else below,
        say("asking.approve.pictures") if question.before is not None else "",
        _how(question.kind, offer, page=counts_down),
        say("asking.approve.for_task") if question.to is not None else "",
        "" if counts_down else say("question.expires", time=_left(open_question.expires - now)),
        _held(open_question, task, now),
        say("final.repeated") if repeated else "",
    ]
    return Message(
        heading=heading,
        body="\n".join([*body, *(offer.lines if offer is not None else ())]),
        footer="\n".join(line for line in footer if line),
        buttons=(*rows, (stop,))[:BUTTON_ROWS],
        menu=None if offer is None else offer.menu,
        notify=True,
        tone=Tone.WAITING,
        task=task.parent or task.id,
        mention=task.person,
    )


def _how(kind: QuestionKind, offer: Offer | None, *, page: bool) -> str:
    """How to answer, in one sentence; on the console's `page` a field and buttons say most of it."""
    if offer is not None:
        return "" if page else offer.how
    return say(f"asking.{_KEYS[kind]}.{'how_page' if page and kind in _BY_MESSAGE else 'how'}")


def _held(open_question: OpenQuestion, task: Task, now: float) -> str:
    """Say for how long the task still keeps its phone while it waits for the answer; "" if it holds none, if the
    question expires no later than that, or if that time is over.
    """
    left = open_question.asked + GIVE_BACK_S - now
    if not task.holds_phone or open_question.expires - open_question.asked <= GIVE_BACK_S or left <= 0:
        return ""
    return say("question.held", phone=task.phone_name, time=_left(left))


def _left(seconds: float) -> str:
    """Return the time left in words, in whole minutes from one minute on."""
    return duration(seconds if seconds < 60 else round(seconds / 60) * 60)


async def question_picture(question: Question, frames: Frames) -> Picture | None:
    """Return the screenshot that a question is about; if it is asked again, next to the screenshot that was approved
    before.

    None if there is none (any more) or it cannot be read.
    """
    if question.before is None or question.frame is None:
        return await screen_picture(frames, question.frame)
    return await sheet_picture(frames, {1: question.before, 2: question.frame})


def render_answered(open_question: OpenQuestion, task: Task) -> Message:
    """Return the new contents of a closed question's message: who answered what, or why it was closed without an
    answer. It has no buttons, and never shows a secret.
    """
    question = open_question.question
    there = open_question.message is not None and open_question.message.address == task.place
    heading, body, below = _words(question, task, titled=there and in_own_thread(task))
    lines = [closed_words(open_question), below]
    tone = Tone.CANCELLED if open_question.answer is None else Tone.WORKING
    told = task.parent or task.id
    return Message(heading, "\n".join(body), "\n".join(line for line in lines if line), tone=tone, task=told)


def closed_words(open_question: OpenQuestion) -> str:
    """Return the sentence that says how a question was closed, and how long after it was asked if that is known."""
    line = closed_line(open_question)
    if open_question.closed is None:
        return line
    return "\n".join([line, say("question.after", time=duration(open_question.closed - open_question.asked))])


def closed_line(open_question: OpenQuestion) -> str:
    """Return the sentence that says how a question was closed, or that it is open."""
    if open_question.answer is None and open_question.closing is not None:
        return say(f"question.closed.{open_question.closing}")
    if open_question.answer is None:
        return say("question.expired") if open_question.expired else say("question.open")
    by = open_question.answered_by or say("question.somebody")
    if open_question.question.kind is QuestionKind.SECRET:
        return say("question.answered_secret", by=by)
    return say("question.answered", by=by, answer=answer_words(open_question.question, open_question.answer))


def answer_words(question: Question, answer: str) -> str:
    """Return an answer in the form that people read: a word instead of a constant, and shortened."""
    if question.kind is QuestionKind.APPROVE and answer in {ALLOW, DENY}:
        return say(f"word.{answer}")
    if question.kind is QuestionKind.APPROVE and answer == ALLOW_FOR_TASK and question.to is not None:
        return say("question.allow_for_task", to=question.to.name)
    if question.kind is QuestionKind.TAKE_OVER and answer == DONE:
        return say("word.done")
    return shortened(answer, ANSWER_LIMIT)


def _words(question: Question, task: Task, *, titled: bool) -> tuple[str, list[str], str]:
    """Return the heading, the body, and a small line below: the question first, then its details, then whose task it
    is.

    A question that is too long for a heading is shown below a heading that names its kind.
    """
    about = f"{say(f'asking.{_KEYS[question.kind]}.heading')} · {title_of(task, titled=titled)}"
    if len(question.text) > HEADING_LIMIT or "\n" in question.text.strip():
        return about, [line for line in (question.text, question.detail) if line], ""
    return question.text.strip(), [question.detail] if question.detail else [], about


def _answer_rows(question: Question, task: Task) -> tuple[tuple[Button, ...], ...]:
    place = locator(question.id)
    match question.kind:
        case QuestionKind.APPROVE:
            once = (
                button(ButtonAction.ANSWER, place, say("word.allow"), choice=ALLOW, style="success"),
                button(ButtonAction.ANSWER, place, say("word.deny"), choice=DENY, style="danger"),
            )
            if question.to is None:
                return (once,)
            label = say("question.allow_for_task", to=question.to.name)
            return once, (button(ButtonAction.ANSWER, place, label, choice=ALLOW_FOR_TASK),)
        case QuestionKind.TAKE_OVER:
            done = button(ButtonAction.ANSWER, place, say("word.done"), choice=DONE, style="success")
            return ((done, button(ButtonAction.TOUCH, task.id, say("button.touch"))),)
        case _:
            return ()
