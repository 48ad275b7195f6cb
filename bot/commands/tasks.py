"""The commands that give and control tasks: do, again, now, cancel, pause, resume."""

from __future__ import annotations

from bot.application.access import Refused, may_see
from bot.application.own_facts import asks_for_all
from bot.application.phones import state_of
from bot.application.services import Services
from bot.application.tasks import StartResult, TaskCommands
from bot.cards.card import part_lines, state_line
from bot.commands.hand import show_if_allowed
from bot.commands.memory import memories
from bot.commands.parser import draft_of
from bot.commands.request import Request, public_reply, task_meant, with_leading_task
from bot.domain.outgoing import Message, Reply
from bot.domain.task import Task, TaskState
from bot.domain.task_request import TaskDraft
from bot.texts import listed, say


async def do(request: Request, services: Services) -> Reply:
    """Queue the task that the request's text and options describe. If the text only asks what the service remembers
    about the person, the reply lists that instead.
    """
    text = request.call.rest.strip()
    if not text:
        raise Refused(say("do.empty", example=f"{request.prefix}{say('command.do.example')}"))
    if asks_for_all(text):
        return await memories(request, services)
    return await start(request, services, draft_of(request.call))


async def start(request: Request, services: Services, draft: TaskDraft) -> Reply:
    """Queue a task. The reply says whether it has to wait and which phones were left out."""
    return await started_reply(await TaskCommands(request, services).start(draft, request.files), services)


async def started_reply(started: StartResult, services: Services) -> Reply:
    """Return the reply about an accepted task; empty if the same message had started it before."""
    task = started.task
    if started.duplicate:
        return Reply(task=task.id)
    left_out = [say("do.left_out", name=phone.name, state=state_of(phone)) for phone in started.left_out]
    if (held := started.held) is not None:
        left_out.insert(0, say("hand.held_now", phone=held.name, person=held.person.name or held.person.id))
    words = [await _queue_words(task, services), *left_out]
    if task.request.files:
        words.append(say("do.files", names=listed(file.name for file in task.request.files)))
    if started.lost:
        words.append(say("again.files_lost", names=", ".join(started.lost)))
    return Reply(Message(body="\n".join(words)), task=task.id, toast="\n".join(left_out))


async def _queue_words(task: Task, services: Services) -> str:
    """The sentence that a task was accepted and, if every phone that could take it is busy, what it waits for."""
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


async def cancel(request: Request, services: Services, task: Task | None = None) -> Reply:
    """End a task, and reply how it really ended. `task` is the task to end; None means the one that the request refers
    to.
    """
    task = task or await task_meant(request, services)
    return public_reply(await standing_words(await TaskCommands(request, services).cancel(task), services))


async def pause(request: Request, services: Services, task: Task | None = None) -> Reply:
    """Pause a task: `task`, or the one that the request refers to."""
    task = task or await task_meant(request, services)
    return public_reply(await standing_words(await TaskCommands(request, services).pause(task), services))


async def take_over(request: Request, services: Services, task: Task) -> Reply:
    """Pause a task so that the person can do something on its phone."""
    taken = await TaskCommands(request, services).take_over(task)
    chat = services.chats.get(request.address.platform)
    if chat is not None and not chat.capabilities.shows_live:
        phones = await services.task_service.parts(taken.id) or (taken,)
        troubles = [await show_if_allowed(each, request, services) for each in phones]
        if told := listed(troubles):
            return public_reply(told)
    return public_reply(await standing_words(taken, services))


async def resume(request: Request, services: Services, task: Task | None = None) -> Reply:
    """Resume a task: `task`, or the one that the request refers to. The rest of the text is a note for the agent."""
    request = await with_leading_task(request, services, means=lambda task: task.state is not TaskState.ENDED)
    task = task or await task_meant(request, services)
    resumed = await TaskCommands(request, services).resume(task, request.call.rest.strip())
    return public_reply(await standing_words(resumed, services))


async def standing_words(task: Task, services: Services) -> str:
    """Return a text with the state of a task and of each phone's part."""
    parts = await services.task_service.parts_now(task.id)
    words = say("task.now", task=task.called, state=state_line(task, None))
    return "\n".join([words, *part_lines(parts, {})])


async def again(request: Request, services: Services, task: Task | None = None) -> Reply:
    """Repeat a task: `task`, or the one that the request refers to. The rest of the text is added to the
    task's text.
    """
    request = await with_leading_task(request, services, means=lambda task: may_see(request, services.policy, task))
    task = task or await task_meant(request, services)
    started = await TaskCommands(request, services).again(
        task,
        request.call.rest.strip(),
        device=request.option("device"),
        quick=request.flag("quick") if request.option("quick") else None,
        files=request.files,
    )
    return await started_reply(started, services)


async def instead(request: Request, services: Services, task: Task, choice: str) -> Reply:
    """Start one of the alternatives that were offered for a task that needs a model. `choice` is its number, from 0."""
    if not (choice.isascii() and choice.isdecimal()):
        raise Refused(say("press.unknown"))
    return await started_reply(await TaskCommands(request, services).instead(task, int(choice)), services)


async def now(request: Request, services: Services, task: Task | None = None) -> Reply:
    """Move a task to the head of the queue: `task`, or the one that the request refers to."""
    task = await TaskCommands(request, services).hurry(task or await task_meant(request, services))
    return public_reply(say("now.done", task=task.id))
