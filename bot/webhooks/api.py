"""Webhooks in the API."""

from __future__ import annotations

from fastapi import APIRouter
from pydantic import Field

from bot.domain.webhook import Webhook
from bot.people.subjects import Subject
from bot.web.v1.asking import Caller, Id, Limit, NumberCursor, page
from bot.web.v1.models.base import Got, Listed, Sent
from bot.webhooks.making import WebhookCommands, WebhookWish

router = APIRouter(tags=["webhooks"])


class NewWebhookInfo(Sent):
    """An address that is told what becomes of tasks, by POST with JSON, signed as Standard Webhooks has it."""

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
    off: str = Field(description="Why it is switched off: `long`, `gone`, `not_allowed`; empty while it is not.")
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


@router.get("/webhooks")
async def list_webhooks(calls: Caller, limit: Limit = 20, cursor: NumberCursor = "") -> Listed[WebhookInfo]:
    """One's own, for an admin all."""
    found = [
        one for one in await WebhookCommands(calls.asking(), calls.services).visible() if int(one.id) > int(cursor or 0)
    ]
    return page([_info(one) for one in found], limit, found[limit - 1].id if len(found) > limit else None)


@router.post("/webhooks", status_code=201)
async def create_webhook(wish: NewWebhookInfo, calls: Caller) -> WebhookInfo:
    """Have an address told. The answer has its secret, which is not told again."""
    commands = WebhookCommands(calls.asking(), calls.services)
    made = await commands.add(WebhookWish(**wish.model_dump()))
    return _info(made, secret=made.wish.secret)


@router.post("/webhooks/{webhook}/on")
async def switch_webhook_on(webhook: Id, calls: Caller) -> WebhookInfo:
    """Tell one that was switched off again, from now on."""
    return _info(await WebhookCommands(calls.asking(), calls.services).switch_on(webhook))


@router.delete("/webhooks/{webhook}", status_code=204)
async def delete_webhook(webhook: Id, calls: Caller) -> None:
    """End it, with what waits for it."""
    await WebhookCommands(calls.asking(), calls.services).remove(webhook)
