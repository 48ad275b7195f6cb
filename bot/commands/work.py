"""Giving tasks, and holding the reins: do, cancel, pause, resume."""

from __future__ import annotations

from bot.cards.card import state_line
from bot.cards.parts import part_lines
from bot.chats.outgoing import Message, Reply
from bot.commands.choose import task_meant, with_leading_task
from bot.commands.phones_meant import entitlement, left_out_words, phones_meant, wished
from bot.commands.reins import require_to_go_on, require_to_hold
from bot.commands.request import Refused, Request, Services, plain
from bot.tasks.files import check, keep
from bot.tasks.model import Task, TaskState, TaskWish
from bot.texts import listed, say


async def do(request: Request, services: Services) -> Reply:
    """Queue a task."""
    text = request.call.rest.strip()
    if not text:
        raise Refused(say("do.empty", example=f"{request.prefix}{say('command.do.example')}"))
    check([(file.name, len(file.data)) for file in request.files])
    meant = phones_meant(request, services)
    one = meant.phones[0].id if len(meant.phones) == 1 else ""
    several = wished(meant.phones) if len(meant.phones) > 1 else ()
    files = await keep(services.frames, request.files)
    accepted = await services.desk.accept(
        TaskWish(
            text=text,
            person=request.person,
            origin=request.address,
            event=request.event,
            anchor="" if request.message is None else request.message.message,
            phone=one,
            quick=request.flag("quick"),
            files=files,
            phones=several,
            entitled=entitlement(request, services),
            max_steps=services.live.now.max_steps,
        )
    )
    task = accepted.task
    if accepted.duplicate:
        return Reply(task=task.id)
    words = [await _queue_words(task, services), *left_out_words(meant.left_out)]
    if files:
        words.append(say("do.files", names=listed(file.name for file in files)))
    return Reply(Message(body="\n".join(words)), task=task.id)


async def _queue_words(task: Task, services: Services) -> str:
    """Accepted, and behind whom when every phone that could take it is busy."""
    if task.parts:
        names = listed(part.phone_name for part in await services.desk.parts(task.id))
        return say("do.accepted_several", task=task.id, names=names)
    others = [other for other in await services.desk.active() if int(other.id) < int(task.id)]
    phones = [phone for phone in services.phones.list() if phone.health.usable and task.phone in {"", phone.id}]
    users = {other.phone: other for other in others if other.phone and other.state is not TaskState.QUEUED}
    if not phones or not all(phone.id in users for phone in phones):
        return say("do.accepted", task=task.id)
    before = [
        other
        for other in others
        if other.state is TaskState.QUEUED and not other.parts and (not task.phone or other.phone in {"", task.phone})
    ]
    phone = phones[0]
    return say("do.queued", task=task.id, place=len(before) + 1, phone=phone.name, other=users[phone.id].called)


async def cancel(request: Request, services: Services) -> Reply:
    """End a task; what is told is what really happened."""
    task = await _held(request, services)
    if task.state is TaskState.ENDED:
        raise Refused(say("task.ended_already", task=task.called, state=state_line(task, None)))
    return await _now(await services.desk.cancel(task.id, request.person), services)


async def pause(request: Request, services: Services) -> Reply:
    """Let a task stand still."""
    task = await _held(request, services)
    return await _now(await services.desk.pause(task.id, request.person), services)


async def take_over(request: Request, services: Services) -> Reply:
    """Let a task stand still while the person does something on the phone."""
    task = await _held(request, services)
    return await _now(await services.desk.take_over(task.id, request.person), services)


async def resume(request: Request, services: Services) -> Reply:
    """Go on, with the rest of the text as a note."""
    request = await with_leading_task(request, services, means=lambda task: task.state is not TaskState.ENDED)
    task = await task_meant(request, services)
    await require_to_go_on(request, services, task)
    return await _now(await services.desk.resume(task.id, request.call.rest.strip(), request.person), services)


async def _held(request: Request, services: Services) -> Task:
    task = await task_meant(request, services)
    await require_to_hold(request, services, task)
    return task


async def _now(task: Task, services: Services) -> Reply:
    parts = await services.desk.parts_now(task.id)
    words = say("task.now", task=task.called, state=state_line(task, None))
    return plain("\n".join([words, *part_lines(parts, {})]))
