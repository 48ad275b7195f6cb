"""The API for triggers, which start tasks when a phone gets certain notifications."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field, StringConstraints

from bot.application.access import Unknown
from bot.commands.scheduling import change
from bot.domain.right import Right
from bot.domain.schedule import Schedule
from bot.domain.trigger import MOST_PER_HOUR, MOST_WORDS, PER_HOUR
from bot.texts import say
from bot.triggers.wish import TriggerWish, add_trigger, hours_of
from bot.web.v1.asking import Caller, Id, Limit, NumberCursor, after, page
from bot.web.v1.calls import Calls
from bot.web.v1.models import Got, Listed, Name, WhatToDo
from bot.web.v1.records import plan_json

router = APIRouter(tags=["triggers"])
Words = Annotated[str, StringConstraints(min_length=1, max_length=200)]


class NewTrigger(WhatToDo):
    """A task to start whenever a phone gets a certain notification. It runs on that phone unless another one
    is named.
    """

    source: Name = Field(min_length=1, description="The phone that gets it, by name or id.")
    app: Name = Field(default="", description="The app that shows it, by name or package; empty for SMS.")
    sender: Name = Field(default="", description="Words that its title has; empty for any.")
    words: list[Words] = Field(
        default_factory=list, max_length=MOST_WORDS, description="Words that it has, all of them."
    )
    quiet: str = Field(default="", max_length=20, description="Hours in which nothing begins: `22:00-07:00`.")
    per_hour: int = Field(default=PER_HOUR, ge=1, le=MOST_PER_HOUR, description="At most so many tasks in an hour.")
    zone: Name = Field(default="", description="The time zone of the quiet hours.")


class TriggerInfo(Got):
    """A trigger. Times are Unix seconds."""

    id: str
    rule: str = Field(description="Which notifications begin it, in words.")
    source: str = Field(description="The phone that gets them, by id.")
    package: str
    sender: str
    words: list[str]
    quiet: str
    per_hour: int
    zone: str
    text: str
    person: str
    person_name: str
    platform: str
    options: dict[str, Any] = Field(description="How it is to be done, as far as that is more than what is set.")
    created: float
    paused: bool
    task: str | None = Field(description="The last one that it began.")
    allowed: dict[str, Any] | None = Field(description="What a person has allowed ahead for it.")
    told: str = Field(default="", description="What there is to say of it when it was made or changed.")


def _trigger(one: Schedule, told: str = "") -> TriggerInfo:
    trigger = one.plan.trigger
    assert trigger is not None
    return TriggerInfo(
        **plan_json(one),
        source=trigger.phone,
        package=trigger.package,
        sender=trigger.sender,
        words=list(trigger.words),
        quiet="" if trigger.quiet is None else str(trigger.quiet),
        per_hour=trigger.per_hour,
        created=one.created,
        told=told,
    )


async def _visible(calls: Calls) -> list[Schedule]:
    calls.require(Right.USE)
    return await calls.schedules().triggers()


@router.get("/triggers")
async def list_triggers(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[TriggerInfo]:
    """List the triggers that this token may see and change, by number."""
    return page([_trigger(one) for one in after(await _visible(calls), cursor)], limit)


@router.post("/triggers", status_code=201)
async def create_trigger(wish: NewTrigger, calls: Caller) -> TriggerInfo:
    """Create a trigger, which starts a task whenever a phone gets a certain notification."""
    calls.require(Right.USE)
    draft, hours = calls.draft(wish), hours_of(wish.quiet)
    meant = TriggerWish(wish.source, wish.app, wish.sender, tuple(wish.words), hours, wish.per_hour)
    made = await add_trigger(calls.asking(), calls.services, meant, draft, zone=wish.zone)
    return _trigger(made, f"{say('trigger.made', trigger=made.id)} {made.plan.words}")


@router.post("/triggers/{trigger}/{verb}")
async def change_trigger(trigger: Id, verb: Literal["pause", "resume", "revoke"], calls: Caller) -> TriggerInfo:
    """Pause or resume a trigger, or withdraw its standing approval."""
    told = await change(calls.schedules(), verb, await _known(calls, trigger))
    return next(_trigger(one, told) for one in await _visible(calls) if one.id == trigger)


@router.delete("/triggers/{trigger}", status_code=204)
async def delete_trigger(trigger: Id, calls: Caller) -> None:
    """Delete a trigger."""
    await calls.schedules().remove(await _known(calls, trigger))


async def _known(calls: Calls, trigger: str) -> str:
    if trigger not in {one.id for one in await _visible(calls)}:
        raise Unknown(say("trigger.unknown"))
    return trigger
