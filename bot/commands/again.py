"""The command `again`: a task once more, with changes if one likes."""

from __future__ import annotations

from dataclasses import replace

from bot.access import Right
from bot.chats.address import Place
from bot.chats.incoming import Attachment, CommandCall
from bot.chats.outgoing import Reply
from bot.commands import work
from bot.commands.choose import task_meant, with_leading_task
from bot.commands.request import Request, Services, may_see, require
from bot.tasks.model import Task
from bot.texts import say


async def again(request: Request, services: Services) -> Reply:
    """Give the last or the named task again: on the same phone, as quick as before, unless told otherwise.

    The rest of the text is added to the task; its files come again. It is a new task of whoever asks, who needs the
    right to the old one.
    """
    request = await with_leading_task(request, services, means=lambda task: may_see(request, services.policy, task))
    task = await task_meant(request, services)
    require(request, services.policy, Right.USE, owner=task.person)
    phones = ",".join(part.phone for part in await services.desk.parts(task.id)) or task.phone
    options = {"device": request.option("device") or phones, "quick": "true" if _quick(request, task) else ""}
    changes = request.call.rest.strip()
    text = say("again.changed", text=task.text, changes=changes) if changes else task.text
    call = CommandCall("do", {name: value for name, value in options.items() if value}, text)
    files, lost = await _files(task, services)
    request = replace(_where(request, task), call=call, files=(*files, *request.files))
    reply = await work.do(request, services)
    if lost and reply.message is not None:
        words = f"{reply.message.body}\n{say('again.files_lost', names=', '.join(lost))}"
        reply = replace(reply, message=replace(reply.message, body=words))
    return reply


async def _files(task: Task, services: Services) -> tuple[list[Attachment], list[str]]:
    """What came with the task, and the names of what is not kept any more."""
    files, lost = [], []
    for file in task.files:
        try:
            files.append(Attachment(file.name, await services.frames.load(file.content)))
        except KeyError:
            lost.append(file.name)
    return files, lost


def _quick(request: Request, task: Task) -> bool:
    return request.flag("quick") if request.option("quick") else task.quick


def _where(request: Request, task: Task) -> Request:
    """A repeat that is asked for in the task's own thread belongs to where the task was asked, beside it."""
    if task.place == task.origin or request.address != task.place:
        return request
    return replace(request, place=Place(task.origin, request.place.private), message=None)
