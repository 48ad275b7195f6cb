"""Composes the final message of a task, and other messages about it that notify people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agent.ports.stores import Frames
from bot.cards.buttons import ButtonAction, again_button, button, instead_buttons, resume_button, stop_button
from bot.cards.formatting import (
    VALUE_SHOWN,
    by_role,
    outcome_line,
    receipt,
    shortened,
    source_lines,
    title_of,
    told_words,
    tone_of,
    value_words,
)
from bot.cards.picture import screen_picture, sheet_picture
from bot.domain.outgoing import Message, Picture, Tone
from bot.domain.task import Task
from bot.domain.watch import Finding
from bot.texts import say


async def render_final(
    task: Task,
    *,
    frames: Frames,
    now: float,
    repeated: bool = False,
    recap: Picture | None = None,
    parts: Sequence[Task] = (),
    one_message: bool = False,
    titled: bool = False,
) -> Message:
    """Return the final message of a task: outcome, summary, result data, resources used, and the last screenshot.

    - `now`: Unix seconds.
    - `repeated`: Whether the message may have arrived before, so that it says so.
    - `recap`: An animated picture of the steps, if there is one.
    - `parts`: The parts of a task on several phones.
    - `one_message`: Whether the recap of one phone becomes the message's own picture, because a file would be a second
      message.
    - `titled`: Whether it is sent to the task's own thread, whose title names the task.

    Raises ValueError if the task has not ended.
    """
    if task.outcome is None:
        raise ValueError(f"task {task.id} has not ended")
    moving = recap is not None and one_message and len(_screens(parts)) < 2
    body = [task.summary or say("final.no_summary")]
    if task.data:
        body += ["", task.data]
    if task.sources:
        body += ["", source_lines(task.sources)]
    lacks = task.needs_model
    instead = () if lacks is None else instead_buttons(task.id, lacks.choices)
    return Message(
        heading=f"{outcome_line(task.outcome)} · {title_of(task, titled=titled)}",
        body="\n".join(body),
        footer="\n".join(
            part
            for part in (receipt(task, now), by_role(task.usage), say("final.repeated") if repeated else "")
            if part
        ),
        picture=recap if moving else await last_screens(task, parts, frames),
        files=() if recap is None or moving else (recap,),
        buttons=(*((one,) for one in instead), (again_button(task.id),)),
        notify=True,
        final=True,
        task=task.id,
        tone=tone_of(task),
        mention=task.person,
    )


def _screens(parts: Sequence[Task]) -> dict[int, str]:
    return {number: part.frame for number, part in enumerate(parts, 1) if part.frame}


async def last_screens(task: Task, parts: Sequence[Task], frames: Frames) -> Picture | None:
    """Return the task's last screenshot or, if several of its parts have one, theirs side by side. None if there is
    none (any more) or it cannot be read.
    """
    screens = _screens(parts)
    return await sheet_picture(frames, screens) if len(screens) > 1 else await screen_picture(frames, task.frame)


async def render_watch(task: Task, *, frames: Frames, now: float, repeated: bool = False) -> Message:
    """Return the message that reports a reading of a watch (a schedule that reads one value), with buttons to pause or
    remove the watch.

    `task` is the task that made the reading; its verdict must be one that is reported. `repeated` says that the
    message may have arrived before.
    """
    assert task.request.watch is not None
    assert task.verdict is not None
    watch, verdict, schedule = task.request.watch.watch, task.verdict, task.request.watch.schedule
    name = watch.result.name
    lost = verdict.value is None
    value = "" if verdict.value is None else value_words(verdict.value)
    if lost:
        heading = say("watch.told.lost", schedule=schedule, name=name)
        body = say("watch.told.lost_why", why=task.summary, when=told_words(watch))
    else:
        heading = say("watch.told.value", schedule=schedule, name=name, value=shortened(value, 80))
        before = "" if verdict.before is None else value_words(verdict.before)
        changed = verdict.finding is Finding.CHANGED
        body = (
            say("watch.told.changed", before=before, value=value)
            if changed
            else say("watch.told.met", when=told_words(watch))
        )
    return Message(
        heading=heading,
        body=f"{body}\n{shortened(task.text, VALUE_SHOWN)}",
        footer="\n".join(filter(None, [receipt(task, now), say("final.repeated") if repeated else ""])),
        picture=await screen_picture(frames, task.frame),
        buttons=(
            (
                button(
                    ButtonAction.SCHEDULE, schedule, say("button.schedule.pause", schedule=schedule), choice="pause"
                ),
                button(
                    ButtonAction.SCHEDULE,
                    schedule,
                    say("button.schedule.remove", schedule=schedule),
                    choice="remove",
                    style="danger",
                ),
            ),
        ),
        notify=True,
        final=True,
        tone=Tone.UNVERIFIED if lost else Tone.DONE,
        mention=task.person,
    )


def render_notice(task: Task, text: str, *, repeated: bool = False) -> Message:
    """Return a message with this text about a task that notifies and mentions the person who gave it.

    `repeated` says that it may have arrived before.
    """
    return Message(
        heading=title_of(task),
        body=text,
        footer=say("final.repeated") if repeated else "",
        notify=True,
        mention=task.person,
    )


def render_interrupted(task: Task, *, repeated: bool = False) -> Message:
    """Return the message that says that a restart of the service interrupted the task, with buttons to resume or end
    it.
    """
    notice = render_notice(task, say("state.interrupted"), repeated=repeated)
    return replace(notice, buttons=((resume_button(task.id), stop_button(task.id)),), task=task.id)


def render_files(task: Task, files: Sequence[Picture], *, repeated: bool = False) -> Message:
    """Return a message with files that the task found on the phone. `repeated` says that it may have arrived before."""
    return Message(
        heading=title_of(task),
        body=say("final.files"),
        footer=say("final.repeated") if repeated else "",
        files=tuple(files),
        task=task.id,
    )
