"""The tables of webhooks (URLs that are notified about tasks) and of their undelivered messages."""

from __future__ import annotations

import asyncio
from typing import Final

from sqlalchemy import Text, and_, bindparam, case, cast, delete, exists, literal, or_, select, update
from sqlalchemy import insert as plain_insert

from bot.domain.webhook import Delivery, NewWebhook, Webhook
from bot.store.codec import Codec, row_number
from bot.store.database import Database, Parameters, Transaction, WithValues, given, in_turn, insert
from bot.store.tables.chats import webhook_deliveries as deliveries
from bot.store.tables.chats import webhooks
from bot.store.tables.metadata import Time
from bot.store.tables.tasks import tasks

_WISH: Final = Codec(NewWebhook, webhooks)
_WEBHOOK: Final = Codec(Webhook, webhooks)
_DELIVERY: Final = Codec(Delivery, deliveries)
_THAT: Final = given(webhooks.c.id)
_ADD: Final = insert(webhooks, (*_WISH.columns, "created")).on_conflict_do_nothing().returning(webhooks)
_OF_EVENT: Final = select(webhooks).where(given(webhooks.c.place_address), given(webhooks.c.event))
_ALL: Final = select(webhooks).order_by(webhooks.c.id)
_GET: Final = select(webhooks).where(_THAT)
_ANY: Final = select(webhooks.c.id).where(webhooks.c.off == "").limit(1)
_REMOVE: Final = delete(webhooks).where(_THAT)
_IS_WATCH: Final = tasks.c.schedule != ""
_QUESTION: Final = cast(bindparam("question"), Text())
_NOW: Final = cast(bindparam("now"), Time)
_ASKS: Final = _QUESTION != ""
_QUEUE: Final = plain_insert(deliveries).from_select(
    ["webhook", "task", "kind", "subject", "not_before", "created"],
    select(
        webhooks.c.id,
        tasks.c.id,
        case((_ASKS, literal("asked")), (_IS_WATCH, literal("watched")), else_=literal("ended")),
        _QUESTION,
        _NOW,
        _NOW,
    )
    .select_from(webhooks)
    .join(tasks, tasks.c.id == bindparam("task"))
    .where(
        webhooks.c.off == "",
        or_(
            and_(_ASKS, webhooks.c.asked),
            and_(~_ASKS, _IS_WATCH, webhooks.c.watched),
            and_(~_ASKS, ~_IS_WATCH, webhooks.c.ended),
        ),
    ),
)
_MAY_GO: Final = or_(
    deliveries.c.not_before <= bindparam("now"),
    # Created in the future: the clock was set back since. A failed try moves it to the present.
    deliveries.c.created > bindparam("now"),
)
_DUE: Final = select(deliveries.c.webhook).where(_MAY_GO).distinct()
_DUE_THERE: Final = (
    select(deliveries).where(given(deliveries.c.webhook), _MAY_GO).order_by(deliveries.c.id).limit(bindparam("most"))
)
_NEXT: Final = select(deliveries.c.not_before).order_by(deliveries.c.not_before).limit(1)
_DONE: Final = delete(deliveries).where(given(deliveries.c.id))
_LATER: Final = (
    update(deliveries)
    .where(given(deliveries.c.id))
    .values(
        attempts=deliveries.c.attempts + 1,
        not_before=bindparam("later"),
        created=case((deliveries.c.created > _NOW, _NOW), else_=deliveries.c.created),
    )
)
_FAILING: Final = update(webhooks).where(_THAT, webhooks.c.failing.is_(None)).values(failing=bindparam("now"))
_NOTHING_WAITS: Final = (
    update(webhooks).where(_THAT, ~exists().where(deliveries.c.webhook == webhooks.c.id)).values(failing=None)
)
_ANSWERS: Final = update(webhooks).where(_THAT).values(failing=None)
_SWITCH_OFF: Final = update(webhooks).where(_THAT).values(off=bindparam("why"))
_SWITCH_ON: Final = update(webhooks).where(_THAT).values(off="", failing=None)
_FORGET: Final = delete(deliveries).where(given(deliveries.c.webhook))


class Webhooks:
    """The tables of webhooks and of their undelivered messages."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.made = asyncio.Event()
        """Set whenever a webhook is added or switched on, to wake up whoever waits for the first one."""
        self.adding = asyncio.Lock()
        """Held by the caller of `add` from the time when it counts the existing webhooks."""

    async def add(self, wish: NewWebhook, *, now: float) -> Webhook:
        """Store a webhook and return it. If the same event created one before, return that one unchanged."""
        values: Parameters = {**_WISH.values(wish), "created": now}

        async def work(transaction: Transaction) -> Webhook:
            rows = await transaction.fetch(_ADD, values)
            return _WEBHOOK.read((rows or await transaction.fetch(_OF_EVENT, values))[0])

        added = await self._database.write(work)
        self.made.set()
        return added

    async def all(self) -> tuple[Webhook, ...]:
        """Return all webhooks, including those that are switched off."""
        return _WEBHOOK.read_all(await self._database.fetch(_ALL))

    async def get(self, webhook: str) -> Webhook | None:
        """Return the webhook with this number, None if there is none."""
        number = row_number(webhook)
        return None if number is None else _WEBHOOK.first(await self._database.fetch(_GET, {"id": number}))

    async def any_on(self) -> bool:
        """Return whether any webhook is not switched off."""
        return bool(await self._database.fetch(_ANY))

    async def remove(self, webhook: str) -> None:
        """Delete a webhook, with its undelivered messages."""
        await self._database.execute(_REMOVE, {"id": int(webhook)})

    async def queue(self, transaction: Transaction, task: str, *, question: str = "", now: float) -> None:
        """Queue, in this transaction, the messages to all webhooks that want to know that the task has ended or asks
        `question` (an id).

        Whether a webhook may hear of this person's tasks is checked when the message is sent, as linked accounts and
        tokens may change meanwhile.
        """
        await transaction.fetch(_QUEUE, {"task": int(task), "question": question, "now": now})

    async def due(self, now: float) -> tuple[str, ...]:
        """Return the webhooks to which a message may be sent at `now` (Unix seconds)."""
        return tuple(str(row[0]) for row in await self._database.fetch(_DUE, {"now": now}))

    async def due_there(self, webhook: str, now: float, most: int) -> tuple[Delivery, ...]:
        """Return at most `most` messages that may be sent to this webhook now, the oldest first."""
        values: Parameters = {"webhook": int(webhook), "now": now, "most": most}
        return _DELIVERY.read_all(await self._database.fetch(_DUE_THERE, values))

    async def next_due(self) -> float | None:
        """Return when the next message may be sent, in Unix seconds; None if there is none."""
        rows = await self._database.fetch(_NEXT)
        return float(rows[0][0]) if rows else None

    async def arrived(self, delivery: Delivery) -> None:
        """Delete a delivered message, and record that its webhook works."""
        await self._database.write(
            in_turn((_DONE, {"id": int(delivery.id)}), (_ANSWERS, {"id": int(delivery.webhook)}))
        )

    async def failed(self, delivery: Delivery, *, now: float, later: float | None) -> None:
        """Record that a message was not delivered: it is sent again at `later` (Unix seconds), or given up if that is
        None.
        """
        if later is None:
            await self.drop(delivery)
            return
        put_off: Parameters = {"id": int(delivery.id), "later": later, "now": now}
        await self._database.write(in_turn((_LATER, put_off), (_FAILING, {"id": int(delivery.webhook), "now": now})))

    async def drop(self, delivery: Delivery) -> None:
        """Delete a message that need not be sent any more. A webhook without messages no longer counts as failing."""
        await self._database.write(
            in_turn((_DONE, {"id": int(delivery.id)}), (_NOTHING_WAITS, {"id": int(delivery.webhook)}))
        )

    async def switch_off(self, webhook: str, why: str) -> None:
        """Switch a webhook off because of `why`, and delete its undelivered messages."""
        switch_off: WithValues = (_SWITCH_OFF, {"id": int(webhook), "why": why})
        await self._database.write(in_turn(switch_off, (_FORGET, {"webhook": int(webhook)})))

    async def switch_on(self, webhook: str) -> None:
        """Switch a webhook on again. It gets only messages about later events."""
        await self._database.execute(_SWITCH_ON, {"id": int(webhook)})
        self.made.set()
