"""Giving tasks, giving them again, and stepping in: do, again, now, cancel, pause, resume."""

from __future__ import annotations

import json
from dataclasses import replace

from bot.cards.card import part_lines, state_line
from bot.commands.hand import show_if_allowed
from bot.commands.memory import asks_for_all, memories
from bot.commands.request import Refused, Request, Services, may_see, plain, require
from bot.commands.resolve import (
    entitlement,
    left_out_words,
    phones_meant,
    task_meant,
    task_named,
    wished,
    with_leading_task,
)
from bot.commands.skill_arguments import asked, unknown_skill
from bot.commands.task_permissions import require_to_go_on, require_to_hold
from bot.domain.address import Place
from bot.domain.incoming import Attachment, CommandCall
from bot.domain.outgoing import Message, Reply
from bot.domain.right import Right
from bot.domain.task import Task, TaskState
from bot.domain.task_request import Origin, SkillCall, TaskOptions, TaskRequest
from bot.tasks.files import check, keep
from bot.texts import listed, say


async def do(request: Request, services: Services) -> Reply:
    """Queue a task."""
    text = request.call.rest.strip()
    if not text:
        raise Refused(say("do.empty", example=f"{request.prefix}{say('command.do.example')}"))
    if asks_for_all(text):
        return await memories(request, services)
    check([(file.name, len(file.data)) for file in request.files])
    followed = await task_named(request.option("follows"), request, services) if request.option("follows") else None
    meant = phones_meant(request, services)
    files = await keep(services.frames, request.files)
    anchor = "" if request.message is None else request.message.message
    accepted = await services.task_service.accept(
        TaskRequest(
            text=text,
            person=request.person,
            origin=Origin(request.address, request.event, anchor, private=request.place.private),
            phones=wished(meant.phones),
            files=files,
            options=TaskOptions(
                quick=request.flag("quick"),
                deep=request.flag("deep"),
                search=request.flag("search"),
                member=request.option("member").strip().lower(),
            ),
            max_steps=services.live.now.max_steps,
            skill=_skill(request, services),
            guidance=request.guidance,
            follows="" if followed is None else followed.parent or followed.id,
            watch=request.watch,
            standing=request.standing,
            entitled=entitlement(request, services),
        )
    )
    task = accepted.task
    if accepted.duplicate:
        return Reply(task=task.id)
    one = meant.phones[0].id if len(meant.phones) == 1 else ""
    left_out = [*_in_hands(one, services), *left_out_words(meant.left_out)]
    words = [await _queue_words(task, services), *left_out]
    if files:
        words.append(say("do.files", names=listed(file.name for file in files)))
    return Reply(Message(body="\n".join(words)), task=task.id, toast="\n".join(left_out))


def _skill(request: Request, services: Services) -> SkillCall | None:
    """The skill that the task is to follow, which may have been named long ago, when it had other parameters. Raises
    Refused.
    """
    name = request.option("skill")
    if not name:
        return None
    found = services.skills.found.get(name)
    if found is None:
        raise unknown_skill(name, services)
    arguments = arguments_of(request.option("arguments"))
    if found.recorded is not None:
        asked(found, found.recorded, arguments)
    return SkillCall(name, arguments)


def arguments_of(text: str) -> dict[str, str]:
    """The arguments of a skill in such an option, which is JSON."""
    return dict(json.loads(text)) if text else {}


def _in_hands(phone: str, services: Services) -> list[str]:
    """Whom a task for this phone waits for, where somebody has it in their hands."""
    hold = services.hands.holder(phone)
    return [] if hold is None else [say("hand.held_now", phone=hold.name, person=services.hands.held_by(phone))]


async def _queue_words(task: Task, services: Services) -> str:
    """Accepted, and behind whom when every phone that could take it is busy."""
    if task.parts:
        names = listed(part.phone_name for part in await services.task_service.parts(task.id))
        return say("do.accepted_several", task=task.id, names=names)
    others = [other for other in await services.task_service.active() if int(other.id) < int(task.id)]
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
    return await _now(await services.task_service.cancel(task.id, request.person), services)


async def pause(request: Request, services: Services) -> Reply:
    """Let a task stand still."""
    task = await _held(request, services)
    return await _now(await services.task_service.pause(task.id, request.person), services)


async def take_over(request: Request, services: Services) -> Reply:
    """Let a task stand still while the person does something on the phone."""
    task = await _held(request, services)
    taken = await services.task_service.take_over(task.id, request.person)
    chat = services.chats.get(request.address.platform)
    if chat is not None and not chat.capabilities.shows_live:
        phones = await services.task_service.parts(task.id) or (taken,)
        troubles = [await show_if_allowed(each, request, services) for each in phones]
        if told := listed(troubles):
            return plain(told)
    return await _now(taken, services)


async def resume(request: Request, services: Services) -> Reply:
    """Go on, with the rest of the text as a note."""
    request = await with_leading_task(request, services, means=lambda task: task.state is not TaskState.ENDED)
    task = await task_meant(request, services)
    await require_to_go_on(request, services, task)
    return await _now(await services.task_service.resume(task.id, request.call.rest.strip(), request.person), services)


async def _held(request: Request, services: Services) -> Task:
    task = await task_meant(request, services)
    await require_to_hold(request, services, task)
    return task


async def _now(task: Task, services: Services) -> Reply:
    parts = await services.task_service.parts_now(task.id)
    words = say("task.now", task=task.called, state=state_line(task, None))
    return plain("\n".join([words, *part_lines(parts, {})]))


async def again(request: Request, services: Services) -> Reply:
    """Give the last or the named task again: on the same phone, as quick as before, unless told otherwise.

    The rest of the text is added to the task; its files come again. It is a new task of whoever asks, who needs the
    right to the old one.
    """
    request = await with_leading_task(request, services, means=lambda task: may_see(request, services.policy, task))
    task = await task_meant(request, services)
    require(request, services.policy, Right.USE, owner=task.person)
    phones = ",".join(part.phone for part in await services.task_service.parts(task.id)) or task.phone
    phones = phones or ",".join(phone.id for phone in task.request.phones)
    options = {"device": request.option("device") or phones, "quick": "true" if _quick(request, task) else ""}
    options |= {
        "member": task.request.options.member,
        "deep": "true" if task.request.options.deep else "",
        "search": "true" if task.request.options.search else "",
        "follows": task.request.follows,
    }
    changes = request.call.rest.strip()
    if (skill := task.request.skill) is not None and not changes:
        options |= {"skill": skill.name, "arguments": json.dumps(dict(skill.arguments))}
    text = say("again.changed", text=task.text, changes=changes) if changes else task.text
    call = CommandCall("do", {name: value for name, value in options.items() if value}, text)
    files, lost = await _files(task, services)
    request = replace(_where(request, task), call=call, files=(*files, *request.files), guidance=task.request.guidance)
    reply = await do(request, services)
    if lost and reply.message is not None:
        words = f"{reply.message.body}\n{say('again.files_lost', names=', '.join(lost))}"
        reply = replace(reply, message=replace(reply.message, body=words))
    return reply


async def _files(task: Task, services: Services) -> tuple[list[Attachment], list[str]]:
    """What came with the task, and the names of what is not kept any more."""
    files, lost = [], []
    for file in task.request.files:
        try:
            files.append(Attachment(file.name, await services.frames.load(file.content)))
        except KeyError:
            lost.append(file.name)
    return files, lost


def _quick(request: Request, task: Task) -> bool:
    return request.flag("quick") if request.option("quick") else task.request.options.quick


def _where(request: Request, task: Task) -> Request:
    """A repeat that is asked for in the task's own thread belongs to where the task was asked, beside it."""
    if task.place == task.origin or request.address != task.place:
        return request
    return replace(request, place=Place(task.origin, request.place.private), message=None)


async def now(request: Request, services: Services) -> Reply:
    """For whoever may approve, on own tasks; for an admin on any. A task at work is never interrupted by it."""
    task = await task_meant(request, services)
    await require_to_go_on(request, services, task, Right.APPROVE)
    await services.task_service.hurry(task.id, request.person)
    return plain(say("now.done", task=task.id))
