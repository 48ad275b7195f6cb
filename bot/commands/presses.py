"""Handles pressed buttons, and decides what their message shows afterwards. Who may press, and whether the button is
still valid, is checked when it is pressed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from agent.questions import ALLOW, ALLOW_FOR_TASK, DENY, DONE, QuestionKind
from bot.application.access import NotAllowed, Refused, may_see
from bot.application.services import Services
from bot.application.tasks import TaskCommands
from bot.cards.buttons import ButtonAction, ButtonData, read_button
from bot.cards.card import live_card
from bot.cards.formatting import in_own_thread, title_of
from bot.cards.question import closed_line, render_answered, render_question
from bot.commands import hand, overview, scheduling, skills, tasks
from bot.commands.answers import give_answer
from bot.commands.free_text import FreeTextHandler
from bot.commands.request import Request, private_reply
from bot.domain.chat import ChatError, FloodWait
from bot.domain.incoming import Press
from bot.domain.outgoing import Message, Reply
from bot.domain.task import OpenQuestion, Task, TaskError, TaskState
from bot.texts import say, speaking

_ON_CARDS = frozenset({ButtonAction.STOP, ButtonAction.PAUSE, ButtonAction.RESUME, ButtonAction.TAKE, ButtonAction.NOW})
_OF_QUESTIONS = frozenset({ButtonAction.ANSWER, ButtonAction.PAGE})
_OF_OFFERS = frozenset({ButtonAction.RUN, ButtonAction.STEER, ButtonAction.TRY})


async def with_its_message(reply: Reply, press: Press, data: ButtonData, services: Services) -> Reply:
    """Add the new contents of the pressed message to the reply to a successful press, and return it."""
    if data.action is ButtonAction.TRY:
        return replace(reply, dead=True)  # the answer is a separate message
    if data.action in _OF_OFFERS:
        return replace(reply, shown=Message(body=reply.toast if reply.message is None else reply.message.body))
    if (question := await services.store.questions.by_message(press.message)) is not None:
        return replace(reply, shown=await _closed(question, services))
    task = await services.task_service.get(data.subject) if data.action in _ON_CARDS else None
    if task is None:
        return reply
    with speaking(task.person.language):
        if await _is_card(press, task, services):
            return replace(reply, shown=await _card(task, press, services))
        # A notice, or a copy of the card that is no longer updated.
        by = say(f"press.by.{data.action}", name=press.person.name or press.person.id)
        return replace(reply, shown=Message(heading=title_of(task), body=by))


async def when_refused(press: Press, data: ButtonData, services: Services) -> Reply:
    """Return what becomes of the pressed message after a refusal: it loses its buttons if they can no longer do
    anything.
    """
    if (question := await services.store.questions.by_message(press.message)) is not None:
        shown = await _closed(question, services)
        return Reply(shown=shown, dead=shown is not None)
    if data.action in _OF_QUESTIONS:
        return Reply(dead=True)
    if data.action in _OF_OFFERS:
        return Reply(dead=await services.store.offers.get(data.subject, now=services.clock()) is None)
    if data.action not in _ON_CARDS:
        return Reply()
    task = await services.task_service.get(data.subject)
    if task is not None and await _is_card(press, task, services):
        with speaking(task.person.language):
            return Reply(shown=await _card(task, press, services), dead=True)
    return Reply(dead=task is None or task.state is TaskState.ENDED)


async def _closed(question: OpenQuestion, services: Services) -> Message | None:
    """The closed question as a message without buttons; None while it is open."""
    task = await services.task_service.get(question.task)
    if task is None or (question.answer is None and not question.expired):
        return None
    with speaking(task.person.language):
        return render_answered(question, task)


async def _is_card(press: Press, task: Task, services: Services) -> bool:
    card = await services.store.cards.get(task.id)
    return card is not None and card.message == press.message


async def _card(task: Task, press: Press, services: Services) -> Message:
    chat = services.chats.get(press.message.address.platform)
    return await live_card(
        task,
        services.task_service,
        frames=services.frames,
        now=services.clock(),
        counts_down=chat is not None and chat.capabilities.counts_down,
    )


TOAST_LIMIT = 200
"""Maximum characters of a notice (Telegram's limit for answering a callback query)."""

_ON_TASKS: Mapping[ButtonAction, Callable[[Request, Services, Task], Awaitable[Reply]]] = {
    ButtonAction.STOP: tasks.cancel,
    ButtonAction.PAUSE: tasks.pause,
    ButtonAction.RESUME: tasks.resume,
    ButtonAction.TAKE: tasks.take_over,
    ButtonAction.AGAIN: tasks.again,
    ButtonAction.NOW: tasks.now,
}


_REFUSED_WHEN_STALE = frozenset(
    {ButtonAction.STOP, ButtonAction.PAUSE, ButtonAction.ANSWER, ButtonAction.OLDER, ButtonAction.PAGE}
)
"""Actions of buttons that are carried out even if pressed while the service was away, because they start nothing."""


async def do_press(
    press: Press,
    request: Request,
    services: Services,
    free_text: FreeTextHandler,
    do_kept: Callable[[ButtonData, Request], Awaitable[Reply]],
) -> Reply:
    """Do what the pressed button stands for. The reply contains the new contents of the pressed message. `do_kept`
    carries out missed or mistyped commands.

    Raises NotAllowed; also Refused or ParseError, after which the button may be pressed again.
    """
    data = read_button(press.data)
    if data is None:
        return replace(private_reply(say("press.unknown")), dead=True)
    if press.stale and data.action not in _REFUSED_WHEN_STALE:
        raise Refused(say("press.late"))
    try:
        reply = await _done(press, data, request, services, free_text, do_kept)
    except NotAllowed:
        raise  # others may press it
    except (Refused, TaskError) as refused:
        return replace(await when_refused(press, data, services), message=private_reply(str(refused)).message)
    return await with_its_message(reply, press, data, services)


async def _done(
    press: Press,
    data: ButtonData,
    request: Request,
    services: Services,
    free_text: FreeTextHandler,
    do_kept: Callable[[ButtonData, Request], Awaitable[Reply]],
) -> Reply:
    match data.action:
        case ButtonAction.ANSWER:
            return as_toast(await _answer(press, data, request, services))
        case ButtonAction.OLDER:
            return await overview.tasks_before(request, services, data.subject)
        case ButtonAction.RUN:
            return await free_text.run(request, data.subject)
        case ButtonAction.PAGE:
            return await _turn_page(press, data, request, services)
        case ButtonAction.MISSED | ButtonAction.TRY:
            return await do_kept(data, request)
        case ButtonAction.SCHEDULE:
            return as_toast(await scheduling.press(data, request, services))
        case ButtonAction.SAVE:
            return await skills.confirm(request, services, data.subject)
        case ButtonAction.STEER:
            return as_toast(await free_text.steer_with(request, data.subject, data.choice))
        case ButtonAction.HAND:
            return await hand.press(press, data, request, services)
        case ButtonAction.TOUCH:
            return await hand.touch_for_task(request, services, data.subject)
        case ButtonAction.INSTEAD:
            task = await TaskCommands(request, services).task(data.subject)
            return as_toast(await tasks.instead(request, services, task, data.choice))
        case (
            ButtonAction.STOP
            | ButtonAction.PAUSE
            | ButtonAction.RESUME
            | ButtonAction.TAKE
            | ButtonAction.AGAIN
            | ButtonAction.NOW
        ):
            task = await TaskCommands(request, services).task(data.subject)
            return as_toast(await _ON_TASKS[data.action](request, services, task))


def as_toast(reply: Reply) -> Reply:
    """Return the reply with its text as a toast (a short notice) instead of a message. Used where the card or the
    question itself shows the change.
    """
    text = "" if reply.message is None else reply.message.body
    return replace(reply, message=None, toast=text if len(text) <= TOAST_LIMIT else text[: TOAST_LIMIT - 1] + "…")


async def _answer(press: Press, data: ButtonData, request: Request, services: Services) -> Reply:
    question = await _question(press, data, services)
    if question is None:
        raise Refused(say("press.question_gone"))
    if question.answer is not None or question.expired:
        raise Refused(closed_line(question))
    return await give_answer(request, services, question, _pressed_answer(question, data.choice, stale=press.stale))


async def _turn_page(press: Press, data: ButtonData, request: Request, services: Services) -> Reply:
    """Show another page of a question's menu in the same message, to people who may see its task. Raises Refused."""
    question = await _question(press, data, services)
    task = None if question is None else await services.task_service.get(question.task)
    chat = services.chats.get(press.message.address.platform)
    if question is None or task is None or chat is None or not may_see(request, services.policy, task):
        raise Refused(say("press.question_gone"))
    if question.answer is not None or question.expired:
        raise Refused(closed_line(question))
    with speaking(task.person.language):
        message = await render_question(
            question,
            task,
            frames=services.frames,
            now=services.clock(),
            menu_choices=chat.capabilities.menu_choices,
            counts_down=chat.capabilities.counts_down,
            titled=in_own_thread(task),
        )
    if message.menu is None or not (data.choice.isascii() and data.choice.isdecimal()):
        raise Refused(say("press.unknown"))
    message = replace(message, menu=replace(message.menu, page=int(data.choice)))
    try:
        await chat.edit(press.message, message, turn=services.turns(press.place))
    except (ChatError, FloodWait) as refused:
        raise Refused(say("press.page_failed")) from refused
    return Reply(toast=say("press.page", page=int(data.choice) + 1))


async def _question(press: Press, data: ButtonData, services: Services) -> OpenQuestion | None:
    """The question that the button names. Whether it is closed is only said on the message that shows it."""
    found = await services.store.questions.by_locator(data.subject)
    closed = found is not None and (found.answer is not None or found.expired)
    return None if found is None or (closed and found.message != press.message) else found


def _pressed_answer(question: OpenQuestion, choice: str, *, stale: bool) -> str:
    asked = question.question
    match asked.kind:
        case QuestionKind.APPROVE if choice in {ALLOW, ALLOW_FOR_TASK} and stale:
            raise Refused(say("press.late"))
        case QuestionKind.APPROVE if choice in {ALLOW, DENY} or (choice == ALLOW_FOR_TASK and choice in asked.choices):
            return choice
        case QuestionKind.TAKE_OVER if choice == DONE:
            return choice
        case QuestionKind.ASK if choice.isascii() and choice.isdigit() and 1 <= int(choice) <= len(asked.choices):
            return asked.choices[int(choice) - 1]
        case _:
            raise Refused(say("press.unknown"))
