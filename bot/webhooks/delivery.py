"""Delivers one message to a webhook, decides whether it arrived, and sends tests."""

from __future__ import annotations

import json
import logging
import secrets
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from agent.tools.egress import Egress, FetchFailed
from bot.application.services import Services
from bot.domain.webhook import Webhook
from bot.texts import say
from bot.webhooks.signing import headers_of

TRY_S: Final = 15.0

logger = logging.getLogger(__name__)


def egress_of(services: Services) -> Egress:
    """Return the HTTP client for webhooks. It uses the proxy in the settings; hosts that the settings name may be in a
    private network and are reached directly.
    """
    now = services.live.now
    return Egress(named=frozenset(now.webhook_hosts), proxy=now.web_proxy.get_secret_value(), seconds=TRY_S)


async def send_test(webhook: Webhook, services: Services, egress: Egress) -> int:
    """Send the message `webhook.test` once, signed like every message. Returns the HTTP status of the answer, 0 if
    there was none.
    """
    now = services.clock()
    told = {"type": "webhook.test", "timestamp": moment(now), "data": {"webhook": webhook.id}}
    body = json.dumps(told).encode()
    headers = headers_of(webhook.wish.secret, f"msg_{webhook.id}_test_{secrets.token_hex(8)}", now, body)
    try:
        return (await egress.fetch(webhook.wish.url, headers=headers, send=body, reads=False)).status
    except FetchFailed as failed:
        logger.info("webhook %s (%s) did not get its test: %s", webhook.id, host_of(webhook.wish.url), failed)
        return 0


def is_arrival(status: int) -> bool:
    """Return whether this HTTP status means that the message was received."""
    return HTTPStatus.OK <= status < HTTPStatus.MULTIPLE_CHOICES


def test_words(webhook: str, status: int) -> str:
    """Return a sentence about the result of a test. `webhook` is its number; `status` the HTTP status, 0 for
    no answer.
    """
    if is_arrival(status):
        return say("webhook.tested", webhook=webhook, status=status)
    return (
        say("webhook.not_tested", webhook=webhook, status=status) if status else say("webhook.silent", webhook=webhook)
    )


def host_of(url: str) -> str:
    """Return only the host of an address, because the rest may contain a secret."""
    return urlsplit(url).hostname or ""


def moment(at: float) -> str:
    """Format a time (Unix seconds) as webhook messages contain it."""
    return datetime.fromtimestamp(at, UTC).isoformat().replace("+00:00", "Z")
