"""Refusals in the words of the Bot API."""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """A request that Telegram would not do; `code` is both the HTTP status and `error_code`."""

    def __init__(self, code: int, description: str, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.parameters = parameters or {}

    def payload(self) -> dict[str, Any]:
        answer: dict[str, Any] = {"ok": False, "error_code": self.code, "description": self.description}
        return answer | ({"parameters": self.parameters} if self.parameters else {})


def bad(description: str) -> Refused:
    return Refused(400, f"Bad Request: {description}")


def flood(seconds: int) -> Refused:
    return Refused(429, f"Too Many Requests: retry after {seconds}", {"retry_after": seconds})
