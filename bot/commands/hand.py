"""Operating a phone by hand from a chat: its screen with numbered places, and a button for each of them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from agent import actions as act
from agent.questions import ALLOW, DENY
from bot.application.access import Caller, Refused, may_see, require, verdict
from bot.application.phones import open_phones, phone_meant, phone_named, require_usable
from bot.application.services import Services
from bot.application.task_access import require_to_hold, task_named
from bot.cards.buttons import ButtonAction, ButtonData, button
from bot.cards.picture import draw_marks, draw_screen
from bot.commands.answers import delete_secret
from bot.commands.request import Request, public_reply
from bot.domain.address import MessageRef
from bot.domain.chat import Capabilities, ChatError, FloodWait
from bot.domain.incoming import Press
from bot.domain.outgoing import Button, Message, Picture, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskError
from bot.store.audit import AuditKind
from bot.tasks.manual_input import Aim, AtAnchor, ManualAction, NeedsApproval, OnScreen, ScreenMoved, Touched, tap
from bot.tasks.remote_control import ControlSession, ScreenCapture
from bot.texts import say, speaking
from devices.inputs import Key
from devices.phone import PhoneInfo

logger = logging.getLogger(__name__)

IDLE_S: Final = 180.0
"""Seconds without a press after which the phone becomes free again."""
_KEYS: Final[Mapping[str, Key]] = {"back": Key.BACK, "home": Key.HOME}
_CONTROLS: Final = ("back", "home", "up", "down", "done")
_MARK, _PAGE, _ALLOW, _DENY = "m", "p", "yes-", "no-"
"""How the choices of a place, of another page of places, of a yes and of a no begin."""


async def hand(request: Request, services: Services) -> Reply:
    """Handle the command `hand`: show the screen with numbered places or, with `--type`, type into the phone that the
    person is operating.
    """
    info = await phone_meant(request, request.option("device"), services)
    require_usable(info)
    if text := request.call.options.get("type", ""):
        hold = services.remote_control.session_on(info.id)
        if hold is None or not services.policy.same(hold.person, request.person):
            raise Refused(say("hand.not_held", name=info.name))
        return await type_text(request, services, hold, text)
    await show(info, request, services)
    return Reply()


async def touch_for_task(request: Request, services: Services, number: str) -> Reply:
    """Show the screen with numbered places for a task that waits until a person has done something on its phone.
    `number` is the task's.
    """
    task = await task_named(number, request, services)
    info = phone_named(task.phone, open_phones(request, services))
    await show(info, request, services)
    return Reply(toast=say("hand.shown", name=info.name))


async def show_if_allowed(task: Task, request: Request, services: Services) -> str:
    """Show the screen of a task that was just taken over, if the person may operate phones. Returns why it is not
    shown; "" if it is, or if the person may not operate the phone. The task stays paused in any case.
    """
    info = next((info for info in open_phones(request, services) if info.id == task.phone), None)
    if info is None or not verdict(request, services.policy, Right.OPERATE, phone=info.id).allowed:
        return ""
    try:
        await show(info, request, services)
    except (Refused, TaskError) as refused:
        return str(refused)
    return ""


async def take(info: PhoneInfo, caller: Caller, services: Services, *, idle: float) -> ControlSession:
    """Let this person operate the phone by hand. `idle` is the seconds without a touch or a new picture after which
    that ends. Raises Refused, NotAllowed or TaskError.
    """
    require(caller, services.policy, Right.OPERATE, phone=info.id)
    used = await services.task_service.working_on(info.id)
    if used is not None:
        if not may_see(caller, services.policy, used):
            raise Refused(say("screen.private", name=info.name))
        await require_to_hold(caller, services, used)
    return await services.remote_control.take(info.id, caller.person, idle=idle)


async def show(info: PhoneInfo, request: Request, services: Services) -> None:
    """Send the phone's screen to the place where it was asked for, as a message that everybody there sees and can reply
    to. Raises Refused (also where phones are shown live instead) or TaskError.
    """
    chat = services.chats.get(request.address.platform)
    if chat is None or chat.capabilities.shows_live:
        require(request, services.policy, Right.OPERATE, phone=info.id)
        raise Refused(say("hand.in_page", name=info.name))
    hold = await take(info, request, services, idle=IDLE_S)
    look = await services.remote_control.capture_screen(hold)
    message = await _message(hold, look, chat.capabilities)
    try:
        turn = services.turns(request.place)
        hold.message = await chat.send(request.address, message, nonce=f"hand:{hold.id}:{look.number}", turn=turn)
        await services.store.hand_pictures.add(hold.message)
    except (ChatError, FloodWait) as error:
        await services.remote_control.end(hold)
        raise Refused(say("hand.unsent", name=info.name)) from error


async def press(pressed: Press, data: ButtonData, request: Request, services: Services) -> Reply:
    """Handle a button below a picture of the screen, or below a request to allow a touch. If the picture is outdated or
    the screen has changed, nothing is touched and the current screen is shown instead. Raises Refused or TaskError.
    """
    hold = services.remote_control.get(data.subject)
    if hold is None:
        return Reply(toast=say("hand.over"), dead=True)
    number, _, choice = data.choice.partition(".")
    if choice.startswith((_ALLOW, _DENY)):
        return await _answered(choice, hold, request, services)
    if not services.policy.same(hold.person, request.person):
        raise Refused(say("hand.held", phone=hold.name, person=hold.person.name or hold.person.id))
    # Two presses on one picture are one after the other, so that the second one finds the picture of after the first.
    async with hold.press_lock:
        return await _pressed(pressed, number, choice, hold, request, services)


async def _pressed(
    pressed: Press, number: str, choice: str, session: ControlSession, request: Request, services: Services
) -> Reply:
    """Carry out a press by the person who holds the phone."""
    if choice == "done":
        task = await services.remote_control.finish(session, request.person)
        words = say("hand.done_task", name=session.name, task=task) if task else say("hand.done", name=session.name)
        return Reply(shown=Message(body=words), toast=words)
    look, toast, page, after = session.capture, "", 0, None
    if look is None or number != str(look.number):
        toast = say("hand.older")
    elif choice.startswith(_PAGE):
        page = _number(choice)
    else:
        try:
            after = (await _do(*_aimed(choice, look), session, request, services)).seen
        except ScreenMoved as moved:
            toast = str(moved)
        except NeedsApproval as needs:
            await ask_approver(needs, _aimed(choice, look)[0], session, request, services)
            toast = say("hand.asked", what=needs.what)
    session.message = pressed.message
    fresh = await services.remote_control.capture_screen(session, after=after)
    chat = services.chats[request.address.platform]
    return Reply(shown=await _message(session, fresh, chat.capabilities, page=page), toast=toast)


async def type_text(request: Request, services: Services, session: ControlSession | None, text: str) -> Reply:
    """Type a person's text into the phone. Their message is deleted where possible, even if they no longer operate the
    phone.
    """
    try:
        if session is None:
            raise Refused(say("hand.over"))
        if not services.policy.same(session.person, request.person):
            raise Refused(say("hand.held", phone=session.name, person=session.person.name or session.person.id))
        if request.stale or session.capture is None:
            raise Refused(say("hand.late"))
        await _do(act.Type(text=text), OnScreen(session.capture.word), session, request, services)
        told = say("hand.typed", number=len(text), name=session.name)
    except (ScreenMoved, NeedsApproval) as not_done:
        told = str(not_done) if isinstance(not_done, ScreenMoved) else say("hand.not_typed", why=not_done.why)
    finally:
        after = "" if request.message is None else await delete_secret(request.message, services)
    assert session is not None, "it was typed into"
    await _show_again(session, services)
    return public_reply(f"{told} {after}".strip())


def _aimed(choice: str, capture: ScreenCapture) -> tuple[ManualAction, Aim]:
    """The action that a button stands for, and its target. Raises Refused for data that was never issued."""
    here = OnScreen(capture.word)
    if choice in _KEYS:
        return act.PressKey(key=_KEYS[choice]), here
    if choice == "up":
        return act.Scroll(direction="up"), here
    if choice == "down":
        return act.Scroll(direction="down"), here
    if choice.startswith(_MARK) and 1 <= _number(choice) <= len(capture.places):
        place = capture.places[_number(choice) - 1]
        return tap(place.at), AtAnchor(place.anchor)
    raise Refused(say("press.unknown"))


def _number(choice: str) -> int:
    digits = choice[1:]
    return int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 4 else 0


async def _do(action: ManualAction, aim: Aim, session: ControlSession, request: Request, services: Services) -> Touched:
    """Carry out the touch, checking the right now, and record it in the audit."""
    require(request, services.policy, Right.OPERATE, phone=session.phone)
    approves = verdict(request, services.policy, Right.APPROVE, phone=session.phone).allowed
    event = f"{request.address.platform}:{request.event}"
    touched = await services.remote_control.touch(session, action, event, aim, approves=approves)
    await note(action, touched, session, request, services)
    return touched


async def note(
    action: ManualAction, touched: Touched, session: ControlSession, caller: Caller, services: Services
) -> None:
    """Record in the audit what was touched, and whether the person's own touch counted as the approval. Of typed text,
    only the length is recorded.
    """
    length = f" ({len(action.text)})" if isinstance(action, act.Type) else ""
    detail = f"{session.phone} {action.kind}{length} {touched.target or touched.app}".strip()
    if touched.approval_reason:
        detail = f"{detail} (own yes)"
    await services.store.audit.note(AuditKind.OPERATED, caller.person, task=session.task, detail=detail)


async def ask_approver(
    needs: NeedsApproval, action: ManualAction, session: ControlSession, caller: Caller, services: Services
) -> None:
    """Ask the people at this place who may approve to allow or deny a touch. The message has a picture of the screen,
    except where phones are shown live. Raises Refused if it cannot be sent, or ManualInputError if the hold has ended.
    """
    asked = services.remote_control.request_approval(session, action, needs)
    chat = services.chats[caller.address.platform]
    # Where a phone is shown live, pictures are kept.
    picture = None if chat.capabilities.shows_live else await _picture_of(session, services)
    rows = (
        (
            button(ButtonAction.HAND, session.id, say("word.allow"), choice=f"0.{_ALLOW}{asked.id}", style="success"),
            button(ButtonAction.HAND, session.id, say("word.deny"), choice=f"0.{_DENY}{asked.id}", style="danger"),
        ),
    )
    who = session.person.name or session.person.id
    body = say("hand.asks", person=who, what=needs.what, name=session.name, why=needs.why)
    message = Message(heading=say("hand.asks_heading"), body=body, picture=picture, buttons=rows, notify=True)
    try:
        await chat.send(caller.address, message, nonce=f"hand:{asked.id}", turn=services.turns(caller.place))
    except (ChatError, FloodWait) as error:
        raise Refused(say("hand.unsent", name=session.name)) from error


async def _picture_of(session: ControlSession, services: Services) -> Picture | None:
    seen = (await services.remote_control.capture_screen(session)).seen
    return None if seen.image is None else Picture("screen.jpg", await asyncio.to_thread(draw_screen, seen.image))


async def _answered(choice: str, session: ControlSession, request: Request, services: Services) -> Reply:
    """Allow or refuse a touch that another person asked for."""
    require(request, services.policy, Right.APPROVE, phone=session.phone)
    asked = services.remote_control.pop_approval(session, choice.partition("-")[2])
    if asked is None:
        return Reply(toast=say("hand.asked_over"), dead=True)
    by = request.person.name or request.person.id
    allows = choice.startswith(_ALLOW)
    detail = f"{ALLOW if allows else DENY}: {session.phone} {asked.needs.what}"
    await services.store.audit.note(AuditKind.ANSWERED, request.person, task=session.task, detail=detail)
    if not allows:
        words = say("hand.denied", by=by, what=asked.needs.what)
        return Reply(shown=Message(body=words), toast=words)
    touched = await services.remote_control.touch(
        session,
        asked.action,
        f"hand:{asked.id}",
        AtAnchor(asked.needs.anchor),
        approves=False,
        allowed=asked.needs.approval_key,
    )
    await note(asked.action, touched, session, replace(request, person=session.person), services)
    await _show_again(session, services, after=touched)
    words = say("hand.allowed", by=by, what=asked.needs.what)
    return Reply(shown=Message(body=words), toast=words)


async def _show_again(session: ControlSession, services: Services, after: Touched | None = None) -> None:
    """Update the picture in a chat. If it cannot be edited, that is only logged, because every press there updates it
    as well. Raises ManualInputError if no new picture can be taken.
    """
    ref: MessageRef | None = session.message
    chat = None if ref is None else services.chats.get(ref.address.platform)
    if ref is None or chat is None:
        return
    look = await services.remote_control.capture_screen(session, after=None if after is None else after.seen)
    with speaking(session.person.language):
        message = await _message(session, look, chat.capabilities)
    try:
        await chat.edit(ref, message)
    except (ChatError, FloodWait) as error:
        logger.info("a screen in a chat stays as it was: %s", error)


async def _message(
    session: ControlSession, capture: ScreenCapture, platform: Capabilities, *, page: int = 0
) -> Message:
    """The screen as a message, with buttons for its places and for further actions."""
    room = platform.buttons_in_row * (platform.button_rows - 1)
    several = len(capture.places) > room
    room -= several
    first = page * room if page * room < len(capture.places) else 0
    shown = {number + 1: capture.places[number] for number in range(first, min(first + room, len(capture.places)))}
    boxes = {number: place.box for number, place in shown.items()}
    data = await asyncio.to_thread(draw_marks, capture.seen.image, capture.seen.size, boxes)
    marks = [_button(session, capture, str(number), f"{_MARK}{number}") for number in shown]
    if several:
        marks.append(
            _button(
                session, capture, say("hand.more"), f"{_PAGE}{page + 1 if first + room < len(capture.places) else 0}"
            )
        )
    across = platform.buttons_in_row
    rows = [tuple(marks[start : start + across]) for start in range(0, len(marks), across)]
    rows.append(tuple(_button(session, capture, say(f"hand.button.{name}"), name) for name in _CONTROLS))
    body = say("hand.locked") if capture.seen.locked else say("hand.secure") if capture.seen.secure else ""
    return Message(
        heading=say("hand.heading", name=session.name, person=session.person.name or session.person.id),
        body=body,
        footer=say("hand.how"),
        picture=Picture("screen.jpg", data),
        buttons=tuple(rows),
    )


def _button(session: ControlSession, capture: ScreenCapture, label: str, choice: str) -> Button:
    style = "success" if choice == "done" else "secondary"
    return button(ButtonAction.HAND, session.id, label, choice=f"{capture.number}.{choice}", style=style)
