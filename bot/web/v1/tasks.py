"""The routes of tasks: give, list, control, steer and answer them."""

from __future__ import annotations

import asyncio
from pathlib import PurePath
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request, Response
from starlette.datastructures import UploadFile

from agent.ports.agent import AS_SET
from agent.run import Outcome
from bot.application.access import Unknown, verdict
from bot.application.task_access import sole
from bot.commands.tasks import standing_words, started_reply
from bot.domain.right import API_PLATFORM, Right
from bot.domain.task import BadText, Task, TaskState
from bot.store.actions import call_id
from bot.store.search import TaskFilter
from bot.texts import say
from bot.views.tasks import effect_words, tokens_json
from bot.web.pictures import HEADERS, REFERENCE, picture_type
from bot.web.v1.asking import Caller, Id, Limit, NumberCursor, page, whole
from bot.web.v1.calls import Calls
from bot.web.v1.events import text_of_call
from bot.web.v1.models import (
    NAME_LIMIT,
    AnswerTo,
    FileInfo,
    Listed,
    MaybeNote,
    NewTask,
    Note,
    OpenQuestionInfo,
    PictureInfo,
    Repeat,
    SourceInfo,
    StepInfo,
    TaskInfo,
    TodoInfo,
    ToolCallInfo,
)
from bot.web.views import place_json

WORDS_LIMIT = 200
"""Characters of a search text."""
MULTIPART: Final = "multipart/form-data"
_BYTES: Final = {"type": "string", "format": "binary"}
_FORM: Final = {"schema": {"type": "object", "properties": {"file": _BYTES}, "required": ["file"]}}

router = APIRouter(tags=["tasks"])


async def task_info(calls: Calls, task: Task, *, is_new: bool = False, told: str = "") -> TaskInfo:
    """Convert a task to the API's model. `is_new` says that it was just created and has no questions yet; `told` is a
    sentence about it for people.
    """
    service = calls.services.task_service
    waiting = task.state is not TaskState.ENDED
    questions = await service.open_questions(task=task.id) if waiting and not is_new else ()
    return TaskInfo(
        id=task.id,
        state=task.state.value,
        outcome=None if task.outcome is None else task.outcome.value,
        text=task.text,
        summary=task.summary,
        data=task.data,
        sources=[SourceInfo(title=page.title, url=page.url) for page in task.sources],
        needs_model=task.needs_model,
        todos=[TodoInfo(**todo.model_dump()) for todo in task.todos],
        files=[FileInfo(name=file.name, content=file.content) for file in task.request.files],
        phone=task.phone,
        phone_name=task.phone_name,
        phones=task.parts or 1,
        person=f"{task.person.platform}:{task.person.id}",
        person_name=task.person.name or task.person.id,
        platform=task.origin.platform,
        **place_json(task, calls.caller.home),
        follows=task.request.follows,
        conversation=(task.origin.thread or None) if task.origin.platform == API_PLATFORM else None,
        quick=task.request.options.quick,
        steps=task.steps,
        max_steps=task.request.max_steps,
        place_in_queue=await service.place_in_queue(task.id) if waiting else None,
        tokens=tokens_json(task.usage),
        created=task.created,
        started=task.started,
        ended=task.ended,
        picture=task.frame,
        questions=[
            OpenQuestionInfo(
                id=one.question.id,
                kind=one.question.kind.value,
                text=one.question.text,
                choices=list(one.question.choices),
                detail=one.question.detail,
                picture=one.question.frame,
                expires=one.expires,
            )
            for one in questions
        ],
        told=told,
    )


async def _done(calls: Calls, task: Task) -> TaskInfo:
    """Return a changed task with a sentence on its state for people."""
    return await task_info(calls, task, told=await standing_words(task, calls.services))


@router.post("/tasks", status_code=201)
async def create_task(wish: NewTask, calls: Caller, response: Response) -> TaskInfo:
    """Start a task. It is stored before the answer is sent, so it is carried out even if the caller disconnects."""
    conversation = await calls.conversation(wish.conversation) if wish.conversation else None
    files = await calls.files([(file.name, file.content) for file in wish.files])
    here, guidance = ("", AS_SET) if conversation is None else (conversation.id, conversation.guidance)
    follows = wish.follows or ("" if conversation is None else await calls.latest_in(conversation))
    started = await calls.commands(here).start(calls.draft(wish, follows), files, guidance=guidance)
    response.headers["Location"] = f"/api/v1/tasks/{started.task.id}"
    return await task_info(calls, started.task, is_new=not started.duplicate)


@router.get("/tasks")
async def list_tasks(
    calls: Caller,
    limit: Limit = 20,
    cursor: NumberCursor = "",
    text: Annotated[str, Query(max_length=WORDS_LIMIT, description="Words of task or result, or a number.")] = "",
    standing: Annotated[TaskState | Outcome | None, Query(description="A state or an outcome.")] = None,
    phone: Annotated[str, Query(max_length=NAME_LIMIT, description="By id.")] = "",
    person: Annotated[str, Query(max_length=NAME_LIMIT, description="Who gave it, as `platform:id`.")] = "",
) -> Listed[TaskInfo]:
    """List the tasks that the caller may see, the latest first. With parameters, only those that match."""
    calls.require(Right.USE)
    admin = verdict(calls.asking(), calls.services.policy, Right.ADMIN).allowed
    accounts = None if admin else calls.services.policy.accounts(calls.person)
    platform, _, account = person.partition(":")
    wanted = TaskFilter(text, standing or "", phone, platform, account, accounts)
    found = await calls.services.store.search.find(wanted, limit + 1, before=cursor or None)
    return page([await task_info(calls, task) for task in found], limit)


@router.get("/tasks/{task}")
async def get_task(task: Id, calls: Caller) -> TaskInfo:
    """Return a task with its open questions. Instead of a number, `latest` means the caller's latest task."""
    return await task_info(calls, await calls.task(task))


@router.post("/tasks/{task}/cancel")
async def cancel_task(task: Id, calls: Caller) -> TaskInfo:
    """Cancel a task, within a second."""
    return await _done(calls, await calls.commands().cancel(await calls.task(task)))


@router.post("/tasks/{task}/pause")
async def pause_task(task: Id, calls: Caller) -> TaskInfo:
    """Pause a task."""
    return await _done(calls, await calls.commands().pause(await calls.task(task)))


@router.post("/tasks/{task}/resume")
async def resume_task(task: Id, calls: Caller, note: MaybeNote | None = None) -> TaskInfo:
    """Resume a paused or interrupted task, with an optional note for the agent."""
    words = "" if note is None else note.text.strip()
    return await _done(calls, await calls.commands().resume(await calls.task(task), words))


@router.post("/tasks/{task}/take-over")
async def take_over_task(task: Id, calls: Caller) -> TaskInfo:
    """Pause a task so that a person can do something on its phone. Resuming continues it."""
    return await _done(calls, await calls.commands().take_over(await calls.task(task)))


@router.post("/tasks/{task}/hurry")
async def hurry_task(task: Id, calls: Caller) -> TaskInfo:
    """Put a task at the head of its queue; requires the right to approve."""
    return await _done(calls, await calls.commands().hurry(await calls.task(task)))


@router.post("/tasks/{task}/again", status_code=201)
async def repeat_task(task: Id, wish: Repeat, calls: Caller, response: Response) -> TaskInfo:
    """Repeat a task as a new one, on the same phone, with its files and options, unless the request says otherwise."""
    files = await calls.files([(file.name, file.content) for file in wish.files])
    started = await calls.commands().again(
        await calls.task(task), wish.changes.strip(), device=wish.phone, quick=wish.quick, files=files
    )
    response.headers["Location"] = f"/api/v1/tasks/{started.task.id}"
    message = (await started_reply(started, calls.services)).message
    return await task_info(calls, started.task, told="" if message is None else message.body)


@router.post("/tasks/{task}/steer")
async def steer_task(task: Id, note: Note, calls: Caller) -> TaskInfo:
    """Add a note to a task, which the agent reads before its next step."""
    return await task_info(calls, await calls.commands().steer(await calls.task(task), note.text))


@router.post("/tasks/{task}/answer")
async def answer_task(task: Id, answer: AnswerTo, calls: Caller) -> TaskInfo:
    """Answer a task's open question, or give it up. Allowing an action requires the right to approve."""
    found, commands = await calls.task(task), calls.commands()
    if answer.question:
        asked = await commands.question(found, answer.question)
    else:
        asked = await sole(await calls.services.task_service.open_questions(task=found.id), calls.services)
    if answer.text is None:
        await commands.give_up(asked)
    else:
        await commands.answer(asked, answer.text)
    return await task_info(calls, await calls.services.task_service.known(found.id))


@router.get("/tasks/{task}/steps")
async def list_steps(task: Id, calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[StepInfo]:
    """List the steps of a task, in order. `cursor` is the index of the last step that the caller has."""
    found = await calls.task(task)
    after = int(cursor) + 1 if cursor else 0
    rows = (await calls.services.task_service.steps(found.id, after=after))[: limit + 1] if after < 2**31 else ()
    names = {row.app: row.app_shown for row in rows}
    infos = [
        StepInfo(
            index=after + number,
            part=row.part,
            subtask=row.subtask,
            step=row.step,
            max_steps=row.max_steps,
            phone=row.phone_name or found.phone_name,
            summary=row.summary,
            thought=row.thought,
            action=row.action,
            target=row.target,
            effect=effect_words(row.effect, names),
            denied=row.denied,
            app=row.app_shown,
            package=row.app,
            picture=row.frame,
            mark=list(row.mark) if row.mark else None,
            tokens=tokens_json(row.usage),
            seconds=row.seconds,
            at=row.at,
        )
        for number, row in enumerate(rows)
    ]
    return page(infos, limit, "index")


async def calls_of_task(calls: Calls, task: str) -> Listed[ToolCallInfo]:
    """Return the tool calls of a task, in order; for a task on several phones, one phone after the other. The caller
    of this function checks that the task may be shown.
    """
    parts = await calls.services.task_service.parts(task)
    store = calls.services.store.tool_calls
    found = [call for one in (task, *(part.id for part in parts)) for call in await store.of_task(one)]
    infos = [
        ToolCallInfo(
            id=call_id(call.key),
            member=call.key.member,
            name=call.call.name,
            arguments=dict(call.call.arguments),
            state=call.state,
            text=text_of_call(call.state, call.result),
            cached=call.cached,
            seconds=call.seconds,
            at=call.begun,
        )
        for call in found
    ]
    return whole(infos)


@router.get("/tasks/{task}/tool-calls")
async def list_tool_calls(task: Id, calls: Caller) -> Listed[ToolCallInfo]:
    """List the tools that need no phone and were used for a task, in order."""
    return await calls_of_task(calls, (await calls.task(task)).id)


@router.get("/tasks/{task}/pictures")
async def list_pictures(task: Id, calls: Caller) -> Listed[PictureInfo]:
    """List the pictures of a task's steps, in order."""
    found = await calls.task(task)
    rows = await calls.services.task_service.steps(found.id)
    return whole([PictureInfo(id=row.frame, step=number) for number, row in enumerate(rows) if row.frame])


@router.get(
    "/tasks/{task}/pictures/{picture}",
    response_class=Response,
    responses={200: {"content": {"image/*": {}}, "description": "The picture."}},
)
async def get_picture(task: Id, picture: Id, calls: Caller) -> Response:
    """Return one of a task's pictures."""
    found = await calls.task(task)
    questions = await calls.services.store.questions.of(found.id)
    own = {row.frame for row in await calls.services.task_service.steps(found.id)}
    own |= {found.frame, *(one.question.frame for one in questions), *(one.question.before for one in questions)}
    if picture not in own or not REFERENCE.fullmatch(picture):
        raise Unknown(say("refusal.picture"))
    try:
        data = await calls.services.frames.load(picture)
    except KeyError:
        raise Unknown(say("refusal.picture")) from None
    media = await asyncio.to_thread(picture_type, data)
    return Response(data, headers=HEADERS, media_type=media or "application/octet-stream")


@router.post(
    "/files",
    status_code=201,
    openapi_extra={"requestBody": {"content": {"application/octet-stream": {"schema": _BYTES}, MULTIPART: _FORM}}},
)
async def add_file(request: Request, calls: Caller) -> FileInfo:
    """Upload one file for a later task. The body is the file's bytes, or a form with the field `file`."""
    calls.require(Right.USE)
    name, data = "", b""
    if request.headers.get("Content-Type", "").startswith(MULTIPART):
        async with request.form(max_files=1, max_fields=10) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile):
                raise BadText(say("api.no_file"))
            name, data = PurePath(file.filename or "").name[-NAME_LIMIT:], await file.read()
    else:
        data = await request.body()
    return FileInfo(name=name, content=await calls.take_in(data))
