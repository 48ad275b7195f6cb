"""Signatures as in Standard Webhooks (https://www.standardwebhooks.com): HMAC-SHA256 of id, time and body."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Mapping
from typing import Final

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
