"""Questions to a person: a new message with the screen and its choices, and what it reads once answered."""

from __future__ import annotations

from dataclasses import dataclass, replace

from agent.ports.frames import Frames
from agent.ports.leases import GIVE_BACK_S
from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, Question, QuestionKind
from bot.cards.buttons import LABEL_LIMIT, VERSION, ButtonAction, button, stop_button, stop_phone_button
from bot.cards.formatting import duration, in_own_thread, shortened, title_of
from bot.cards.picture import screen_picture, sheet_picture
from bot.domain.outgoing import Button, Menu, Message, Picture, Tone
from bot.domain.task import OpenQuestion, Task, locator
from bot.texts import say

CHOICE_BUTTONS = 5
"""More choices than this become a menu: a message on Discord has five rows of buttons."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The choices as a message shows them. `lines` list them with numbers where a label cannot tell all."""

    how: str
    """How to answer, in one sentence."""
    rows: tuple[tuple[Button, ...], ...] = ()
    menu: Menu | None = None
    lines: tuple[str, ...] = ()


def offer_of(question: Question, menu_choices: int) -> Offer:
    """The choices of an open question on a platform whose menus hold `menu_choices`.

    Whatever is shown, an answer in words and the number of a choice are taken too.
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
"""Discord's limit; with five choices the Stop button of the card has to do."""
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
"""What a chat answers by a message beside the buttons, too."""


async def render_question(
    open_question: OpenQuestion,
    task: Task,
    *,
    frames: Frames,
    now: float,
    menu_choices: int = 0,
    repeated: bool = False,
    counts_down: bool = False,
    titled: bool = False,
) -> Message:
    """The question as a message that notifies and mentions who gave the task, see `question_text`, with its picture."""
    message = question_text(
        open_question,
        task,
        now=now,
        menu_choices=menu_choices,
        repeated=repeated,
        counts_down=counts_down,
        titled=titled,
    )
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
    """The question without its picture.

    `task` is the one that asks: where several phones work, the part of that phone.
    `menu_choices` is how many choices a menu of the platform holds; one that `counts_down` shows itself how long it is
    open, of which task and kind it is, and where to answer.
    `titled`: it stands in the task's own thread.
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
    """For how long the phone waits along, where that is shorter; "" where it holds none."""
    left = open_question.asked + GIVE_BACK_S - now
    if not task.holds_phone or open_question.expires - open_question.asked <= GIVE_BACK_S or left <= 0:
        return ""
    return say("question.held", phone=task.phone_name, time=_left(left))


def _left(seconds: float) -> str:
    """How long it is open, in whole minutes where there are any."""
    return duration(seconds if seconds < 60 else round(seconds / 60) * 60)


async def question_picture(question: Question, frames: Frames) -> Picture | None:
    """The screen that it is about; beside that which was allowed before, where it is asked anew."""
    if question.before is None or question.frame is None:
        return await screen_picture(frames, question.frame)
    return await sheet_picture(frames, {1: question.before, 2: question.frame})


def render_answered(open_question: OpenQuestion, task: Task) -> Message:
    """Return the message of a closed question: who answered what, without buttons. A secret is never shown."""
    question = open_question.question
    there = open_question.message is not None and open_question.message.address == task.place
    heading, body, below = _words(question, task, titled=there and in_own_thread(task))
    lines = [closed_words(open_question), below]
    tone = Tone.CANCELLED if open_question.answer is None else Tone.WORKING
    told = task.parent or task.id
    return Message(heading, "\n".join(body), "\n".join(line for line in lines if line), tone=tone, task=told)


def closed_words(open_question: OpenQuestion) -> str:
    """What became of a question, and how long after it was asked, where that is known."""
    line = closed_line(open_question)
    if open_question.closed is None:
        return line
    return "\n".join([line, say("question.after", time=duration(open_question.closed - open_question.asked))])


def closed_line(open_question: OpenQuestion) -> str:
    """The sentence saying how a question was closed."""
    if open_question.answer is None and open_question.closing is not None:
        return say(f"question.closed.{open_question.closing}")
    if open_question.answer is None:
        return say("question.expired") if open_question.expired else say("question.open")
    by = open_question.answered_by or say("question.somebody")
    if open_question.question.kind is QuestionKind.SECRET:
        return say("question.answered_secret", by=by)
    return say("question.answered", by=by, answer=answer_words(open_question.question, open_question.answer))


def answer_words(question: Question, answer: str) -> str:
    """An answer in the form that people read."""
    if question.kind is QuestionKind.APPROVE and answer in {ALLOW, DENY}:
        return say(f"word.{answer}")
    if question.kind is QuestionKind.APPROVE and answer == ALLOW_FOR_TASK and question.to is not None:
        return say("question.allow_for_task", to=question.to.name)
    if question.kind is QuestionKind.TAKE_OVER and answer == DONE:
        return say("word.done")
    return shortened(answer, ANSWER_LIMIT)


def _words(question: Question, task: Task, *, titled: bool) -> tuple[str, list[str], str]:
    """Heading, body and a small line below: what is asked comes first, then its details, then whose task it is.

    A question that is too long for a heading stands below one that tells its kind.
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
