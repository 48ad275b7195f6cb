"""The API for webhooks (addresses to which messages are sent) and hooks (addresses that programs call to
start a task).
"""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import Field

from bot.application.access import Unknown
from bot.domain.right import Right
from bot.domain.schedule import Schedule
from bot.domain.trigger import MOST_PER_HOUR, PER_HOUR
from bot.domain.webhook import MOST_VALUES, NAME, Hook, Webhook
from bot.people.subjects import Subject
from bot.texts import say
from bot.web.v1.asking import Caller, Id, Limit, NumberCursor, after, page
from bot.web.v1.calls import Calls
from bot.web.v1.models import TEXT_LIMIT, Got, HowTo, Listed, Name, Sent
from bot.webhooks.delivery import is_arrival, new_secret
from bot.webhooks.making import WebhookCommands

router = APIRouter(tags=["webhooks"])


class NewWebhookInfo(Sent):
    """An address to which signed JSON messages are sent by POST (Standard Webhooks) about what happens to tasks."""

    url: str = Field(min_length=1, max_length=2000, description="https; a host of the operator's own where it is set.")
    everybody: bool = Field(default=False, description="Whether it is told of everybody's tasks; for admins.")
    ended: bool = Field(default=True, description="Whether it is told that a task has ended.")
    asked: bool = Field(default=True, description="Whether it is told that a task asks something.")
    watched: bool = Field(default=True, description="Whether it is told that a watch has news.")


class WebhookInfo(Got):
    """A webhook. Times are Unix seconds."""

    id: str
    url: str
    person: str
    everybody: bool
    ended: bool
    asked: bool
    watched: bool
    created: float
    failing: float | None = Field(description="Since when nothing has arrived; null while it answers.")
    off: str = Field(description="Why it is off: `long`, `gone`, `not_allowed`, `by_hand`; empty while it is not.")
    secret: str = Field(default="", description="Told once, when it is made: `whsec_` and the key in base64.")


def _info(one: Webhook, *, secret: str = "") -> WebhookInfo:
    wish = one.wish
    return WebhookInfo(
        id=one.id,
        url=wish.url,
        person=str(Subject.of_person(wish.person)),
        everybody=wish.everybody,
        ended=wish.ended,
        asked=wish.asked,
        watched=wish.watched,
        created=one.created,
        failing=one.failing,
        off=one.off,
        secret=secret,
    )


def _commands(calls: Calls) -> WebhookCommands:
    return WebhookCommands(calls.asking(), calls.services)


@router.get("/webhooks")
async def list_webhooks(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[WebhookInfo]:
    """List the caller's own webhooks; for an admin, all."""
    found = await _commands(calls).visible()
    return page([_info(one) for one in after(found, cursor)], limit)


@router.post("/webhooks", status_code=201)
async def create_webhook(wish: NewWebhookInfo, calls: Caller) -> WebhookInfo:
    """Create a webhook. The answer contains its secret, which is not shown again."""
    made = await _commands(calls).add(**wish.model_dump())
    return _info(made, secret=made.wish.secret)


@router.post("/webhooks/{webhook}/on")
async def switch_webhook_on(webhook: Id, calls: Caller) -> WebhookInfo:
    """Switch a webhook on again; it gets messages about what happens from now on."""
    return _info(await _commands(calls).switch_on(webhook))


@router.post("/webhooks/{webhook}/off")
async def switch_webhook_off(webhook: Id, calls: Caller) -> WebhookInfo:
    """Switch a webhook off, and discard the messages that wait for it."""
    return _info(await _commands(calls).switch_off(webhook))


class WebhookTest(Got):
    """The result of a test message."""

    status: int = Field(description="Of the answer; 0 where none came.")
    arrived: bool


@router.post("/webhooks/{webhook}/test")
async def test_webhook(webhook: Id, calls: Caller) -> WebhookTest:
    """Send `webhook.test` once, immediately, signed like every message, even if the webhook is switched off."""
    status = await _commands(calls).test(webhook)
    return WebhookTest(status=status, arrived=is_arrival(status))


@router.delete("/webhooks/{webhook}", status_code=204)
async def delete_webhook(webhook: Id, calls: Caller) -> None:
    """Delete a webhook, with the messages that wait for it."""
    await _commands(calls).remove(webhook)


class NewHook(HowTo):
    """A task to start whenever a program calls POST /hooks/{name} of this server with the hook's secret."""

    name: str = Field(pattern=f"^{NAME}$", description="The last part of its address.")
    text: str = Field(min_length=1, max_length=TEXT_LIMIT)
    values: list[Name] = Field(
        default_factory=list,
        max_length=MOST_VALUES,
        description="Names in a call's JSON that are handed on; none: all.",
    )
    per_hour: int = Field(default=PER_HOUR, ge=1, le=MOST_PER_HOUR, description="At most so many tasks in an hour.")


class HookInfo(Got):
    """A hook: an address of this server that a program calls to start a task. Times are Unix seconds."""

    id: str
    name: str
    path: str
    text: str
    values: list[str]
    per_hour: int
    person: str
    created: float
    paused: bool
    task: str | None = Field(description="The last one that it began.")
    secret: str = Field(default="", description="Told once, when it is made: sent as Bearer, or signed with.")


def _hook(one: Schedule, *, secret: str = "") -> HookInfo:
    hook = one.plan.hook
    assert hook is not None
    return HookInfo(
        id=one.id,
        name=hook.name,
        path=f"/hooks/{hook.name}",
        text=one.plan.draft.text,
        values=list(hook.values),
        per_hour=hook.per_hour,
        person=str(Subject.of_person(one.plan.person)),
        created=one.created,
        paused=one.paused,
        task=one.task or None,
        secret=secret,
    )


async def _hooks(calls: Calls) -> list[Schedule]:
    calls.require(Right.USE)
    return await calls.schedules().hooks()


@router.get("/hooks")
async def list_hooks(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[HookInfo]:
    """List the hooks that this token may see and change, by number."""
    return page([_hook(one) for one in after(await _hooks(calls), cursor)], limit)


@router.post("/hooks", status_code=201)
async def create_hook(wish: NewHook, calls: Caller) -> HookInfo:
    """Create a hook, which starts a task whenever a program calls it. The answer contains its secret, which is not
    shown again.
    """
    calls.require(Right.USE)
    hook = Hook(name=wish.name, secret=new_secret(), values=tuple(wish.values), per_hour=wish.per_hour)
    made = await calls.schedules().add_hook(hook, wish.draft(wish.text))
    assert made.plan.hook is not None
    return _hook(made, secret=made.plan.hook.secret)


@router.post("/hooks/{hook}/{verb}")
async def change_hook(hook: Id, verb: Literal["pause", "resume"], calls: Caller) -> HookInfo:
    """Pause or resume a hook."""
    known = await _known(calls, hook)
    return _hook(await (calls.schedules().pause(known) if verb == "pause" else calls.schedules().resume(known)))


@router.delete("/hooks/{hook}", status_code=204)
async def delete_hook(hook: Id, calls: Caller) -> None:
    """Delete a hook."""
    await calls.schedules().remove(await _known(calls, hook))


async def _known(calls: Calls, hook: str) -> str:
    if hook not in {one.id for one in await _hooks(calls)}:
        raise Unknown(say("hook.none"))
    return hook
