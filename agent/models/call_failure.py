"""A failed attempt at an endpoint as a value, read once from the SDK's errors and without the key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import aiohttp
import httpx2
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from agent.models.cause import Cause, cause_of
from agent.models.limits import TooMuch
from agent.wording import shortened

LONGEST_REASON = 300
"""The maximum characters kept of an endpoint's own words."""
KEY_LIKE = re.compile(r"\b(?:(?:ak|sk|pk|rk|gsk|xai|nvapi|hf)[-_]|AIza)[\w*.-]{6,}")
TOLD_AS = ("message", "error", "detail", "msg", "error_msg", "errors", "title")
"""The fields in which endpoints put an error message; the first one present counts."""
PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^>]*>")
LONGEST_PAGE = 4_000
"""Characters of an HTML page in which its title is searched."""
MOST_ERRORS = 3
DEEPEST = 4
"""How many errors, and levels of errors inside errors, are read."""


class CutShort(ValueError):
    """The answer ended before it was complete."""


class Broken(ValueError):
    """The endpoint reported an error inside its answer; `body` is that error."""

    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body
        self.code = code_in(body)


class NoAnswer(ValueError):
    """The response is not an answer of a model; `body` is its beginning."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.body = body


@dataclass(frozen=True, slots=True)
class CallFailure:
    """One failed attempt. `retry_after` is in seconds; `status` is 0 if the endpoint sent none."""

    cause: Cause
    status: int = 0
    code: str = ""
    param: str = ""
    reason: str = ""
    """The endpoint's own words, in one short line without secrets."""
    retry_after: float | None = None

    @property
    def transient(self) -> bool:
        """Whether a retry may help."""
        return self.cause.passing


def call_failure_of(error: APIError | httpx2.HTTPError | ValueError | RecursionError, key: str) -> CallFailure:
    """Return the failure that an exception of the SDK, or an unreadable answer, stands for.

    An answer is unreadable if it is not JSON (ValueError) or nested too deeply (RecursionError).
    """
    match error:
        # The SDK leaves errors of httpx2 as they are while it reads a body that is not streamed.
        case APITimeoutError() | httpx2.TimeoutException() if not _away(error):
            return CallFailure(Cause.NO_ANSWER)
        case APIConnectionError() | httpx2.TransportError() | CutShort():
            return CallFailure(Cause.NO_CONNECTION)
        case TooMuch():
            return CallFailure(Cause.OVERSIZED)
        case APIStatusError():
            wait = _retry_after(error.response.headers)
            return _refusal(error.status_code, error.body, key, param=error.param or "", retry_after=wait)
        case APIError():
            return _refusal(_status_in(error.code), error.body, key)
        case Broken():
            return _refusal(_status_in(error.code), error.body, key)
        case NoAnswer():
            return CallFailure(Cause.NO_API, reason=without_key(told_in(error.body), key))
        case _:
            return CallFailure(Cause.NO_API)


def _refusal(status: int, body: object, key: str, *, param: str = "", retry_after: float | None = None) -> CallFailure:
    code, reason = code_in(body), told_in(body)
    return CallFailure(
        cause_of(status, f"{code} {_text(body, 'type')} {reason}"),
        status,
        code,
        param,
        without_key(reason, key),
        retry_after,
    )


def code_in(body: object) -> str:
    """Return the code of an error body: a word, a number, or ""."""
    return _text(body, "code")


def told_in(body: object, depth: int = DEEPEST) -> str:
    """Return the message of an error body, wherever the endpoint puts it: OpenAI's `message`, FastAPI's `detail`, plain
    text, or the title of a page. A router such as OpenRouter adds what the provider behind it said.
    """
    if isinstance(body, str):
        text = body[:LONGEST_PAGE]
        if PAGE.search(text) is None:
            return text.strip()
        title = TITLE.search(text)
        return (title[1] if title else TAG.sub(" ", text)).strip()
    if isinstance(body, list):
        return "; ".join(filter(None, (told_in(part, depth - 1) for part in body[:MOST_ERRORS] if depth)))
    if not isinstance(body, Mapping) or not depth:
        return ""
    said = next((text for name in TOLD_AS if (text := told_in(body.get(name), depth - 1))), "")
    behind = body.get("metadata")
    raw = told_in(behind.get("raw"), 0) if isinstance(behind, Mapping) else ""
    return f"{said} ({raw})" if said and raw else said or raw


def _text(body: object, name: str) -> str:
    value = body.get(name) if isinstance(body, Mapping) else None
    return str(value)[:LONGEST_REASON] if isinstance(value, str | int) else ""


def _away(error: BaseException | None) -> bool:
    """Whether nothing answers at the address: the SDK reports that as a time-out too, but keeps the original error."""
    while error is not None:
        if isinstance(error, aiohttp.ClientConnectionError) and not isinstance(error, TimeoutError):
            return True
        error = error.__cause__
    return False


def without_key(text: str, key: str) -> str:
    """Shorten an endpoint's words to one line, without the key or anything that looks like one."""
    safe = text.replace(key, "•••") if key else text
    return shortened(" ".join(KEY_LIKE.sub("•••", safe).split()), LONGEST_REASON)


def _status_in(code: str | None) -> int:
    """Return the status of an error inside an answer, derived from its code; 500 if unknown."""
    if code and re.fullmatch(r"[45]\d\d", code):
        return int(code)
    if code and "rate_limit" in code:
        return 429
    return 400 if code and code.startswith(("invalid", "unsupported")) else 500


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds from `retry-after-ms` (OpenAI, Azure) or `Retry-After` (RFC 9110: seconds or a date)."""
    try:
        return max(0.0, float(headers["retry-after-ms"]) / 1000)
    except (KeyError, ValueError):
        pass
    given = headers.get("retry-after", "")
    try:
        return max(0.0, float(given))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(given)
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())
