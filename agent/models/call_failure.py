"""The failure of a call to an endpoint: described as a value, derived once from the SDK's error and never containing
the API key, and turned into the ModelError to raise, with a sentence for people.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Final

import aiohttp
import httpx2
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from agent.models.base import ModelRequest
from agent.models.endpoint import EndpointSettings, TooMuch
from agent.models.errors import (
    InputTooLong,
    ModelError,
    ModelKeyRejected,
    ModelRefused,
    ModelUnreachable,
    NoVision,
    UnknownModel,
)
from agent.models.pictures import has_pictures
from agent.models.state import Cause, cause_of
from agent.wording import shortened, words
from devices.wording import Words

LONGEST_REASON = 300
"""The maximum characters of an endpoint's error message that are kept."""
KEY_LIKE = re.compile(r"\b(?:(?:ak|sk|pk|rk|gsk|xai|nvapi|hf)[-_]|AIza)[\w*.-]{6,}")
TOLD_AS = ("message", "error", "detail", "msg", "error_msg", "errors", "title")
"""The fields in which endpoints put an error message; the first one present counts."""
PAGE = re.compile(r"<(?:!doctype|html|head|body)\b", re.IGNORECASE)
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
TAG = re.compile(r"<[^>]*>")
LONGEST_PAGE = 4_000
"""How many characters of an HTML page are searched for its title."""
MOST_ERRORS = 3
DEEPEST = 4
"""How many levels of errors inside errors are read (and of several errors, the first `MOST_ERRORS`)."""


class CutShort(ValueError):
    """The connection ended before the answer was complete."""


class Broken(ValueError):
    """The endpoint reported an error inside its answer; `body` is that error."""

    def __init__(self, body: object) -> None:
        super().__init__()
        self.body = body
        self.code = code_in(body)


class NoAnswer(ValueError):
    """The response does not come from a model; `body` is its beginning."""

    def __init__(self, body: str) -> None:
        super().__init__()
        self.body = body


@dataclass(frozen=True, slots=True)
class CallFailure:
    """One failed attempt to call an endpoint.

    `status` is the HTTP status, 0 if there was none. `code` and `param` are from the endpoint's error. `retry_after` is
    how many seconds the endpoint asked to wait, None if it did not.
    """

    cause: Cause
    status: int = 0
    code: str = ""
    param: str = ""
    reason: str = ""
    """The endpoint's error message, shortened to one line and without secrets."""
    retry_after: float | None = None


def call_failure_of(error: APIError | httpx2.HTTPError | ValueError | RecursionError, key: str) -> CallFailure:
    """Convert an exception of the SDK, or an unreadable answer, to a CallFailure. `key` is the API key, which is
    removed from all texts.

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
        case APIError() | Broken():
            return _refusal(_status_in(error.code), error.body, key)
        case NoAnswer():
            return CallFailure(Cause.NO_API, reason=without_key(told_in(error.body), key))
        case _:
            return CallFailure(Cause.NO_API)


def _refusal(status: int, body: object, key: str, *, param: str = "", retry_after: float | None = None) -> CallFailure:
    code, reason = code_in(body), told_in(body)
    cause = cause_of(status, f"{code} {_text(body, 'type')} {reason}")
    return CallFailure(cause, status, code, param, without_key(reason, key), retry_after)


def code_in(body: object) -> str:
    """Return the error code in an error body as text; "" if there is none."""
    return _text(body, "code")


def told_in(body: object, depth: int = DEEPEST) -> str:
    """Return the message in an error body, wherever the endpoint puts it: OpenAI's `message`, FastAPI's `detail`, plain
    text, or the title of a page.

    A router such as OpenRouter adds the message of the provider behind it. `depth` limits how many levels are searched.
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
    """Return an endpoint's message shortened to one line, with the API key and everything that looks like one
    replaced.
    """
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
    for name, per_second in (("retry-after-ms", 1000), ("retry-after", 1)):
        with suppress(KeyError, ValueError):
            return max(0.0, float(headers[name]) / per_second)
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, (moment.astimezone(UTC) - datetime.now(UTC)).total_seconds())


ABOUT_IMAGES = re.compile(r"image|vision|multi-?modal|picture|图片|图像", re.IGNORECASE)
ABOUT_IMAGE_LIMITS = re.compile(r"too large|exceed|size|resolution|too many|corrupt|decode|download", re.IGNORECASE)
_ERRORS: Final[Mapping[Cause, type[ModelRefused]]] = {
    Cause.KEY_REJECTED: ModelKeyRejected,
    Cause.NO_KEY: ModelKeyRejected,
    Cause.UNKNOWN_MODEL: UnknownModel,
    Cause.WRONG_ADDRESS: UnknownModel,
    Cause.TOO_LONG: InputTooLong,
    Cause.NO_PICTURES: NoVision,
}
"""The errors that callers distinguish; any other permanent one is a ModelRefused."""


def settings_problem(settings: EndpointSettings) -> ModelRefused | None:
    """Return the error for settings that cannot work, such as a missing model name; None if they may. A custom endpoint
    may need no key.
    """
    if not settings.model:
        return UnknownModel(words("model.unset", host=settings.host))
    if not settings.key and not settings.base_url:
        return ModelKeyRejected(words("model.no_key", host=settings.host), cause=Cause.NO_KEY)
    if not all("!" <= sign <= "~" for sign in settings.key):
        return ModelKeyRejected(words("model.odd_key", host=settings.host))
    return None


def too_slow(settings: EndpointSettings, limit: float) -> ModelUnreachable:
    """Return the error for a call that exceeded its total time limit."""
    why = words("model.too_slow", model=settings.model, host=settings.host, seconds=f"{limit:g}")
    return ModelUnreachable(why, cause=Cause.NO_ANSWER)


def error_of(failure: CallFailure, settings: EndpointSettings, request: ModelRequest) -> ModelError:
    """Return the error to raise for the last failure of a call. It contains the endpoint's own message."""
    cause = _cause_for(failure, settings, request)
    why = _sentence(cause, failure, settings)
    if failure.reason:
        why = words("model.in_its_words", why=why, reason=failure.reason)
    if cause.passing:
        return ModelUnreachable(why, status=failure.status, retry_after=failure.retry_after, cause=cause)
    return _ERRORS.get(cause, ModelRefused)(why, cause=cause)


def _cause_for(failure: CallFailure, settings: EndpointSettings, request: ModelRequest) -> Cause:
    """Correct the cause by what was sent: without a key none can be rejected, without pictures none refused."""
    cause = failure.cause
    if cause is Cause.KEY_REJECTED and not settings.key:
        return Cause.NO_KEY
    if cause is Cause.NO_PICTURES and not has_pictures(request):
        return Cause.REFUSED
    if cause in {Cause.REFUSED, Cause.WRONG_ADDRESS} and _may_be_blind(failure, request):
        return Cause.NO_PICTURES
    return cause


def _sentence(cause: Cause, failure: CallFailure, settings: EndpointSettings) -> Words:
    if cause is Cause.BUSY and failure.retry_after is not None:
        seconds = f"{failure.retry_after:.0f}"
        return words("model.busy_for", host=settings.host, status=failure.status, seconds=seconds)
    name = "wants_key" if cause is Cause.NO_KEY else cause
    return words(f"model.{name}", host=settings.host, model=settings.model, status=failure.status)


def _may_be_blind(failure: CallFailure, request: ModelRequest) -> bool:
    """Whether a refusal mentions images (not one's size or bytes) for a request that had some."""
    if failure.status not in {400, 404, 415, 422} or not has_pictures(request):
        return False
    return bool(ABOUT_IMAGES.search(failure.reason)) and not ABOUT_IMAGE_LIMITS.search(failure.reason)
