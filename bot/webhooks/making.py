"""Creates, tests, switches and removes webhooks with the caller's rights."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit

from agent.guards.web_address import is_public_host, read_host
from agent.tools.egress import Egress
from bot.application.access import Caller, Refused, Unknown, audited, require, verdict
from bot.application.services import Services
from bot.domain.right import Right
from bot.domain.webhook import NewWebhook, Webhook
from bot.store.audit import AuditKind
from bot.texts import say
from bot.webhooks.delivery import egress_of, host_of, new_secret, send_test

MOST: Final = 20
"""Most webhooks of one person."""


class WebhookCommands:
    """The actions on webhooks that one caller can perform. Every method raises NotAllowed, which is written to the
    audit log, or Refused.
    """

    def __init__(self, caller: Caller, services: Services) -> None:
        self._caller = caller
        self._services = services

    async def add(
        self, url: str, *, everybody: bool = False, ended: bool = True, asked: bool = True, watched: bool = True
    ) -> Webhook:
        """Create a webhook for these events, and return it with its secret, which is shown only then. Only an admin may
        get messages about everybody's tasks.
        """
        caller, services = self._caller, self._services
        async with audited(caller.person, services.store):
            require(caller, services.policy, Right.ADMIN if everybody else Right.USE)
        _check_address(url, services)
        new = NewWebhook(
            caller.person,
            caller.place,
            caller.event,
            url,
            new_secret(),
            everybody=everybody,
            ended=ended,
            asked=asked,
            watched=watched,
        )
        webhooks = services.store.webhooks
        async with webhooks.adding:
            own = [one for one in await webhooks.all() if self._is_own(one)]
            made_before = any((one.wish.place.address, one.wish.event) == (caller.address, caller.event) for one in own)
            if len(own) >= MOST and not made_before:
                raise Refused(say("webhook.full", number=MOST))
            made = await webhooks.add(new, now=services.clock())
        await self._note(AuditKind.WEBHOOK_MADE, made)
        return made

    async def visible(self) -> list[Webhook]:
        """Return the caller's own webhooks; for an admin, all."""
        caller, services = self._caller, self._services
        async with audited(caller.person, services.store):
            require(caller, services.policy, Right.USE)
        admin = verdict(caller, services.policy, Right.ADMIN).allowed
        return [one for one in await services.store.webhooks.all() if admin or self._is_own(one)]

    async def switch_on(self, number: str) -> Webhook:
        """Switch a webhook on again, and return it. It gets messages about what happens from now on."""
        found = await self._known(number)
        await self._services.store.webhooks.switch_on(found.id)
        return await self._known(number)

    async def switch_off(self, number: str) -> Webhook:
        """Switch a webhook off, discard the messages that wait for it, and return it."""
        found = await self._known(number)
        await self._services.store.webhooks.switch_off(found.id, "by_hand")
        return await self._known(number)

    async def test(self, number: str, egress: Egress | None = None) -> int:
        """Send a test message with `egress`, by default the configured HTTP client. Returns the HTTP status of the
        answer, 0 if there was none.
        """
        found = await self._known(number)
        return await send_test(found, self._services, egress or egress_of(self._services))

    async def remove(self, number: str) -> None:
        """Delete a webhook and the messages that wait for it."""
        found = await self._known(number)
        await self._services.store.webhooks.remove(found.id)
        await self._note(AuditKind.WEBHOOK_REMOVED, found)

    def _is_own(self, one: Webhook) -> bool:
        return self._services.policy.same(one.wish.person, self._caller.person)

    async def _known(self, number: str) -> Webhook:
        for one in await self.visible():
            if one.id == number:
                return one
        raise Unknown(say("webhook.unknown"))

    async def _note(self, kind: AuditKind, one: Webhook) -> None:
        await self._services.store.audit.note(kind, self._caller.person, detail=f"{one.id}: {host_of(one.wish.url)}")


def _check_address(url: str, services: Services) -> None:
    """Raise Refused for an address that can never be used; what a name resolves to is checked when connecting."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Refused(say("webhook.bad_address")) from None
    named = (parts.hostname, port or (443 if parts.scheme == "https" else 80)) in services.live.now.webhook_hosts
    if port == 0 or parts.username is not None or parts.password is not None or not parts.hostname:
        raise Refused(say("webhook.bad_address"))
    if parts.scheme != "https" and not (parts.scheme == "http" and named):
        raise Refused(say("webhook.bad_address"))
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    try:
        public = is_public_host(read_host(host))
    except ValueError:
        public = False
    if not (named or public):
        raise Refused(say("webhook.not_public"))
