"""From a row of the outbox to the message that it stands for."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, assert_never

from agent.ports.frames import Frames
from bot.cards.final import render_files, render_final, render_interrupted, render_notice, render_watch
from bot.cards.formatting import in_own_thread
from bot.cards.question import render_question
from bot.cards.recap import make_recap
from bot.domain.chat import Capabilities
from bot.domain.outgoing import Message, Picture
from bot.domain.task import Task, TaskState
from bot.store.outbox import FilePayload, FinalPayload, Notice, NoticePayload, OutboxRow, QuestionPayload
from bot.tasks.service import TaskService
from bot.texts import say

MOST_LESS: Final = 2
"""Without pictures and files, then without its text; the task's title and the buttons stay."""


class Pointless(Exception):
    """The message need not be sent any more; the text says why, for the record."""


async def message_for(
    row: OutboxRow, task: Task, *, task_service: TaskService, frames: Frames, capabilities: Capabilities, now: float
) -> Message:
    """The message as it should read now. Raises Pointless.

    A row whose sending the process did not survive is marked as a possible repeat, except where the platform shows
    the same nonce once.
    """
    repeated = row.uncertain and not capabilities.knows_delivery
    match row.payload:
        case FinalPayload() if task.watch is not None:
            return await render_watch(task, frames=frames, now=now, repeated=repeated)
        case FinalPayload(quiet):
            # One phone after the other, not in turns.
            steps = sorted(await task_service.steps(task.id), key=lambda step: int(step.part or 0))
            recap = await make_recap(steps, frames, most_bytes=capabilities.file_limit)
            parts = await task_service.parts(task.id)
            final = await render_final(
                task,
                frames=frames,
                now=now,
                repeated=repeated,
                recap=recap,
                parts=parts,
                one_message=not capabilities.files_beside,
                titled=in_own_thread(task),
            )
            return replace(final, notify=False, mention=None) if quiet else final
        case QuestionPayload(asked):
            question = await task_service.question(asked)
            if question is None or question.answer is not None or question.expired:
                raise Pointless("the question was closed before it was shown")
            asking = await task_service.get(question.task) or task
            return await render_question(
                question,
                asking,
                frames=frames,
                now=now,
                menu_choices=capabilities.menu_choices,
                repeated=repeated,
                counts_down=capabilities.counts_down,
                titled=in_own_thread(asking),
            )
        case FilePayload() as file:
            return await _file(file, task, frames, capabilities, repeated)
        case NoticePayload(notice):
            return _notice(notice, task, repeated)
        case _:
            assert_never(row.payload)


def lessened(message: Message, times: int, title: str) -> Message:
    """What is left of a message that a platform has refused so many times, at last under its task's `title` alone.

    Raises Pointless when nothing is.
    """
    if not times:
        return message
    if times > MOST_LESS:
        raise Pointless("the chat does not take any of it")
    body = message.body if times == 1 else ""
    told = "\n".join(part for part in (body, say("post.left_out")) if part)
    whole = replace(message, picture=None, files=(), body=told)
    return whole if times == 1 else replace(whole, heading=title, footer="", menu=None)


def _notice(notice: Notice, task: Task, repeated: bool) -> Message:
    match notice:
        case Notice.STARTED:
            if task.state is TaskState.ENDED:
                raise Pointless("the task has ended before its begin was told")
            return render_notice(task, say("notice.started"), repeated=repeated)
        case Notice.INTERRUPTED:
            if task.state is not TaskState.INTERRUPTED:
                raise Pointless("the task goes on, or has ended, before this was sent")
            return render_interrupted(task, repeated=repeated)


async def _file(file: FilePayload, task: Task, frames: Frames, capabilities: Capabilities, repeated: bool) -> Message:
    try:
        data = await frames.load(file.content)
    except KeyError:
        return render_notice(task, say("file.gone", name=file.name))
    if len(data) > capabilities.file_limit:
        return render_notice(task, say("file.too_large", name=file.name, limit=capabilities.file_limit // 1_000_000))
    return render_files(task, [Picture(file.name, data)], repeated=repeated)
