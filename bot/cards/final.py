"""The final message: what became of the task, honestly, once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.ports.frames import Frames
from bot.cards.buttons import again_button, resume_button, stop_button
from bot.cards.formatting import receipt, title_of
from bot.cards.picture import screen_picture, sheet_picture
from bot.domain.outgoing import Message, Picture
from bot.domain.task import Task
from bot.texts import say


async def render_final(
    task: Task,
    *,
    frames: Frames,
    now: float,
    repeated: bool = False,
    recap: Picture | None = None,
    parts: Sequence[Task] = (),
) -> Message:
    """The end of an ended task: outcome, summary, data, receipt and the last screen.

    `recap` is the moving picture of its steps, `parts` are those of a task for several phones.
    `repeated` marks a message that may have arrived before. Raises ValueError for a task that has not ended.
    """
    if task.outcome is None:
        raise ValueError(f"task {task.id} has not ended")
    screens = {number: part.frame for number, part in enumerate(parts, 1) if part.frame}
    body = [task.summary or say("final.no_summary")]
    if task.data:
        body += ["", task.data]
    return Message(
        heading=f"{say(f'outcome.{task.outcome}')} · {title_of(task)}",
        body="\n".join(body),
        footer="\n".join(part for part in (receipt(task, now), say("final.repeated") if repeated else "") if part),
        picture=await sheet_picture(frames, screens) if len(screens) > 1 else await screen_picture(frames, task.frame),
        files=() if recap is None else (recap,),
        buttons=((again_button(task.id),),),
        notify=True,
        mention=task.person,
    )


def render_notice(task: Task, text: str, *, repeated: bool = False) -> Message:
    """A short message about a task that should be noticed."""
    return Message(
        heading=title_of(task),
        body=text,
        footer=say("final.repeated") if repeated else "",
        notify=True,
        mention=task.person,
    )


def render_interrupted(task: Task, *, repeated: bool = False) -> Message:
    """The service was restarted in the middle of the task: go on or end it."""
    notice = render_notice(task, say("state.interrupted"), repeated=repeated)
    return replace(notice, buttons=((resume_button(task.id), stop_button(task.id)),))


def render_files(task: Task, files: Sequence[Picture], *, repeated: bool = False) -> Message:
    """Files that the task found on the phone."""
    return Message(
        heading=title_of(task),
        body=say("final.files"),
        footer=say("final.repeated") if repeated else "",
        files=tuple(files),
    )
