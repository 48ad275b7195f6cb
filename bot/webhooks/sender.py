"""Sends messages to webhooks, signed and with growing pauses between retries; no receiver delays another.

A message is a row that is stored together with its event and deleted once it has arrived. If the process dies in
between, the message is sent again with the same id.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from agent.tools.egress import Egress, FetchFailed
from bot.application.access import Caller, verdict
from bot.application.services import Services
from bot.domain.chat import ChatError, FloodWait
from bot.domain.outgoing import Message
from bot.domain.right import Right
from bot.domain.webhook import Delivery, NewWebhook, Webhook, WebhookEvent
from bot.store.audit import AuditKind
from bot.store.errors import StoreAway
from bot.texts import say, speaking
from bot.webhooks.delivery import egress_of, headers_of, host_of, is_arrival, moment

PAUSES: Final = (5.0, 60.0, 300.0, 1800.0, 7200.0, 18_000.0, 36_000.0, 50_400.0, 72_000.0, 86_400.0)
"""Seconds before each retry, as Standard Webhooks recommends; after the last one the message is dropped."""
LONG: Final = 5 * 86_400.0
"""Seconds without an answer after which a webhook is switched off."""
LOOK_AGAIN: Final = 30.0
"""Most seconds between two checks."""
AT_ONCE: Final = 20
"""Messages that are sent at the same time."""
BATCH: Final = 20
"""Messages to one webhook before it is the others' turn."""

logger = logging.getLogger(__name__)


class WebhookSender:
    """Sends the webhook messages that are due, by default with the hosts and the proxy from the settings.
    `services.clock` gives the time; `sleep` waits for some seconds.
    """

    def __init__(
        self,
        services: Services,
        egress: Egress | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._services = services
        self._egress = egress or egress_of(services)
        self._sleep = sleep
        self._wake = asyncio.Event()
        self._sending: dict[str, asyncio.Task[bool]] = {}
        self._at_once = asyncio.Semaphore(AT_ONCE)

    async def run(self) -> None:
        """Send the messages that are due, again and again until cancelled. Errors are logged."""
        forget = self._services.task_service.subscribe(lambda _task: self._wake.set())
        try:
            while True:
                self._wake.clear()
                wait = LOOK_AGAIN
                try:
                    await self.send_due()
                    due = await self._services.store.webhooks.next_due()
                    if due is not None:
                        wait = min(wait, max(1.0, due - self._services.clock()))
                except StoreAway as away:
                    logger.debug("the webhooks are looked through again: %s", away)
                except Exception:
                    logger.exception("The check of the webhooks failed and will be repeated")
                await self._woken(wait)
        finally:
            forget()
            for task in self._sending.values():
                task.cancel()
            await asyncio.gather(*self._sending.values(), return_exceptions=True)

    async def _woken(self, seconds: float) -> None:
        woken = {asyncio.ensure_future(self._wake.wait()), asyncio.ensure_future(self._sleep(seconds))}
        try:
            await asyncio.wait(woken, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in woken:
                each.cancel()

    async def send_due(self) -> None:
        """Begin to send the messages that are due, to every webhook to which nothing is being sent at the moment."""
        if not self._services.store.is_ours:
            return
        for webhook in await self._services.store.webhooks.due(self._services.clock()):
            if webhook not in self._sending:
                sending = asyncio.create_task(self._send_all(webhook), name=f"webhook {webhook}")
                self._sending[webhook] = sending
                sending.add_done_callback(partial(self._done, webhook))

    async def finished(self) -> None:
        """Wait until nothing is being sent."""
        while self._sending:
            await asyncio.wait([*self._sending.values()])
            await asyncio.sleep(0)

    def _done(self, webhook: str, sending: asyncio.Task[bool]) -> None:
        del self._sending[webhook]
        if not sending.cancelled() and sending.result():
            self._wake.set()

    async def _send_all(self, number: str) -> bool:
        """Send some of what is due to this webhook, to which nothing else sends meanwhile, until one message gets no
        answer. Returns whether to check again at once.
        """
        webhooks = self._services.store.webhooks
        try:
            for delivery in await webhooks.due_there(number, self._services.clock(), BATCH):
                webhook = await webhooks.get(number)
                if webhook is None or webhook.off:
                    break
                async with self._at_once:
                    if not self._services.store.is_ours:
                        return False
                    if not await self._send(webhook, delivery):
                        break
        except StoreAway as away:
            logger.debug("webhook %s is tried again: %s", number, away)
            return False
        except Exception:
            logger.exception("Webhook %s failed and will be tried again", number)
            return False
        return True

    async def _send(self, webhook: Webhook, delivery: Delivery) -> bool:
        """Send one message. Returns whether the receiver answered, or nothing had to be sent."""
        wish, store = webhook.wish, self._services.store.webhooks
        right = Right.ADMIN if wish.everybody else Right.USE
        if not verdict(Caller(wish.person, wish.place, ""), self._services.policy, right).allowed:
            await self._switch_off(webhook, "not_allowed")
            return True
        with speaking(wish.person.language):
            told = await self._payload(wish, delivery)
        if told is None:
            await store.drop(delivery)
            return True
        body = json.dumps(told, ensure_ascii=False, separators=(",", ":")).encode()
        now = self._services.clock()
        headers = headers_of(wish.secret, f"msg_{webhook.id}_{delivery.id}", now, body)
        try:
            status = (await self._egress.fetch(wish.url, headers=headers, send=body, reads=False)).status
            why = f"it answered {status}"
        except FetchFailed as failed:
            status, why = 0, str(failed)
        if is_arrival(status):
            await store.arrived(delivery)
            return True
        if status == HTTPStatus.GONE:
            await self._switch_off(webhook, "gone")
            return True
        later = now + PAUSES[delivery.attempts] if delivery.attempts < len(PAUSES) else None
        logger.info("webhook %s (%s) was not told: %s", webhook.id, host_of(wish.url), why)
        await store.failed(delivery, now=now, later=later)
        if webhook.failing is not None and now - webhook.failing >= LONG:
            await self._switch_off(webhook, "long")
        return status != 0

    async def _payload(self, wish: NewWebhook, delivery: Delivery) -> dict[str, Any] | None:
        """Return the contents of the message, None if it is obsolete."""
        task = await self._services.task_service.get(delivery.task)
        if task is None or not (wish.everybody or self._services.policy.same(wish.person, task.person)):
            return None
        data: dict[str, Any] = {
            "task": task.id,
            "state": task.state.value,
            "outcome": None if task.outcome is None else task.outcome.value,
            "text": task.text,
            "summary": task.summary,
            "data": task.data,
            "phone": task.phone_name or task.phone,
            "person": f"{task.person.platform}:{task.person.id}",
        }
        if delivery.kind is WebhookEvent.ASKED:
            asked = await self._services.store.questions.get(delivery.subject)
            if asked is None or asked.answer is not None or asked.expired:
                return None
            question = asked.question
            data["question"] = {
                "id": question.id,
                "kind": question.kind.value,
                "text": question.text,
                "choices": list(question.choices),
                "expires": asked.expires,
            }
        if task.request.watch is not None:
            data["schedule"] = task.request.watch.schedule
        kind = "watch.told" if delivery.kind is WebhookEvent.WATCHED else f"task.{delivery.kind.value}"
        return {"type": kind, "timestamp": moment(delivery.created), "data": data}

    async def _switch_off(self, webhook: Webhook, why: str) -> None:
        """Switch the webhook off and notify its owner once."""
        wish, services, now = webhook.wish, self._services, self._services.clock()
        logger.warning("Webhook %s (%s) was switched off: %s", webhook.id, host_of(wish.url), why)
        await services.store.webhooks.switch_off(webhook.id, why)
        await services.store.audit.note(AuditKind.WEBHOOK_OFF, wish.person, detail=f"{webhook.id}: {why}")
        chat = services.chats.get(wish.place.address.platform)
        if chat is None:
            return
        with speaking(wish.person.language):
            words = say(
                "webhook.switched_off", webhook=webhook.id, host=host_of(wish.url), why=say(f"webhook.off.{why}")
            )
        try:
            await chat.send(wish.place.address, Message(body=words), nonce=f"webhook-{webhook.id}-{why}-{now:.0f}")
        except (ChatError, FloodWait) as error:
            logger.warning("The owner of webhook %s could not be told that it is off: %s", webhook.id, error)
