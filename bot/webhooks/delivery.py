"""Signs one message as in Standard Webhooks (https://www.standardwebhooks.com), delivers it to a webhook, decides
whether it arrived, and sends tests.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import logging
import re
import secrets
from collections.abc import Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from agent.tools.egress import Egress, FetchFailed
from bot.application.services import Services
from bot.domain.webhook import Webhook
from bot.texts import say

logger = logging.getLogger(__name__)


PREFIX: Final = "whsec_"
KEY_BYTES: Final = 32
TOLERANCE: Final = 300.0
"""Most seconds by which the time of a message may differ from ours."""


def new_secret() -> str:
    """Return a new secret key, in the form in which both sides store it."""
    return PREFIX + base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()


def signature(secret: str, message: str, at: int, body: bytes) -> str:
    """Return the value of the header `webhook-signature` for a message. `message` is its id, `at` the time in Unix
    seconds.
    """
    signed = f"{message}.{at}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(_key(secret), signed, hashlib.sha256).digest()).decode()


def headers_of(secret: str, message: str, at: float, body: bytes) -> dict[str, str]:
    """Return the headers of a message. `message` is its id, which is the same in each attempt; `at` is the time in Unix
    seconds.
    """
    return {
        "Content-Type": "application/json",
        "webhook-id": message,
        "webhook-timestamp": str(int(at)),
        "webhook-signature": signature(secret, message, int(at), body),
    }


def is_signed(secret: str, headers: Mapping[str, str], body: bytes, now: float) -> bool:
    """Return whether a message was signed with this secret, and recently (`now` is in Unix seconds). One valid
    signature among several is enough.
    """
    message, at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not message or not re.fullmatch(r"[0-9]{1,12}", at) or abs(now - int(at)) > TOLERANCE:
        return False
    wanted = signature(secret, message, int(at), body).encode()
    given = headers.get("webhook-signature", "").split()
    return any(hmac.compare_digest(wanted, each.encode()) for each in given)


def _key(secret: str) -> bytes:
    try:
        return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
    except binascii.Error as error:
        raise ValueError("a secret is whsec_ and base64") from error


TRY_S: Final = 15.0


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
