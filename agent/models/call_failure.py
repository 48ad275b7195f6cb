"""What went wrong at an endpoint, as a value: read once from the SDK's errors, with the key already taken out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto

import aiohttp
import httpx2
from openai import APIConnectionError, APIError, APIStatusError, APITimeoutError

from agent.models.limits import TooMuch
from agent.wording import shortened

LONGEST_REASON = 300
"""Characters of an endpoint's own words that are kept."""
KEY_LIKE = re.compile(r"\b(?:(?:sk|pk|rk|gsk|xai|nvapi|hf)[-_]|AIza)[\w*.-]{6,}")
QUOTA_CODES = {"insufficient_quota", "billing_hard_limit_reached"}


TOO_LONG_CODES = {
    "context_length_exceeded",
    "exceed_context_size_error",
    "request_too_large",
    "string_above_max_length",
}
TOO_LONG = re.compile(
    r"context.{0,3}(?:length|window|size).{0,40}(?:exceed|only|overflow)|exceed\w*.{0,60}(?:context|token limit|max\w*"
    r" (?:number of |message )?tokens|limit of [\d,]+ tokens)|maximum (?:context|prompt|model) length"
    r"|(?:prompt|input|request|message)s?\b.{0,40}(?:is |are )?too long|longer than the (?:model'?s |maximum )"
    r"|reduce (?:the )?length of (?:the |your )?(?:messages|prompt|input)|too (?:large|many tokens) for (?:the )?model"
    r"|context the overflows|greater than the context length|max_new_tokens`? must be <=|range of input length"
    r"|input tokens exceed|context limit|prompt exceeds max|超长|超过.{0,12}(?:长度|上下文)",
    re.IGNORECASE,
)
"""How endpoints say that a request does not fit into the window: OpenAI, vLLM, SGLang, TGI, llama.cpp, LM Studio,
Anthropic, Gemini, Bedrock, OpenRouter, xAI, Groq, Mistral, Moonshot, DashScope, Zhipu, Volcengine."""
ABOUT_RATES = re.compile(r"rate.?limit|per (?:minute|day|hour|second)|\b[TR]P[MD]\b|quota", re.IGNORECASE)


class CutShort(ValueError):
    """The answer ended before it was complete."""


class Broken(ValueError):
    """The endpoint says inside an answer that it failed."""

    def __init__(self, code: str, reason: str) -> None:
        super().__init__(code)
        self.code = code
        self.reason = reason


class Kind(Enum):
    """The ways to fail that differ in their sentence."""

    NO_CONNECTION = auto()
    NO_ANSWER = auto()
    NONSENSE = auto()
    TOO_MUCH = auto()
    STATUS = auto()


@dataclass(frozen=True, slots=True)
class CallFailure:
    """One failed attempt. `retry_after` is in seconds; `status` is 0 unless the kind is STATUS."""

    kind: Kind
    status: int = 0
    code: str = ""
    param: str = ""
    reason: str = ""
    retry_after: float | None = None

    @property
    def transient(self) -> bool:
        """Whether trying again may help: no 4xx but 408 and 429, no 501, no empty account."""
        if self.kind is not Kind.STATUS:
            return self.kind is not Kind.TOO_MUCH
        if self.code in QUOTA_CODES or self.too_long:
            return False
        return self.status in {408, 429} or (self.status >= 500 and self.status != 501)

    @property
    def too_long(self) -> bool:
        """Whether the request did not fit into the model's context window. How fast one may ask is another matter."""
        if self.kind is not Kind.STATUS or self.status in {401, 403, 429} or ABOUT_RATES.search(self.reason):
            return False
        return self.status == 413 or self.code in TOO_LONG_CODES or TOO_LONG.search(self.reason) is not None


def call_failure_of(error: APIError | httpx2.HTTPError | ValueError | RecursionError, key: str) -> CallFailure:
    """The failure that an exception of the SDK, or an unreadable answer, stands for.

    Unreadable is what is no JSON (ValueError), or nested deeper than any model writes (RecursionError).
    """
    match error:
        # The SDK leaves errors of httpx2 as they are while it reads a body that is not streamed.
        case APITimeoutError() | httpx2.TimeoutException() if not _away(error):
            return CallFailure(Kind.NO_ANSWER)
        case APIConnectionError() | httpx2.TransportError() | CutShort():
            return CallFailure(Kind.NO_CONNECTION)
        case TooMuch():
            return CallFailure(Kind.TOO_MUCH)
        case APIStatusError():
            return CallFailure(
                Kind.STATUS,
                error.status_code,
                error.code or "",
                error.param or "",
                without_key(error.message, key),
                _retry_after(error.response.headers),
            )
        case APIError():
            return CallFailure(
                Kind.STATUS, _status_in(error.code), error.code or "", "", without_key(error.message, key)
            )
        case Broken():
            return CallFailure(Kind.STATUS, _status_in(error.code), error.code, "", without_key(error.reason, key))
        case _:
            return CallFailure(Kind.NONSENSE)


def _away(error: BaseException | None) -> bool:
    """Whether nobody answers there at all: the SDK's transport calls that a time-out, too, and keeps what it was."""
    while error is not None:
        if isinstance(error, aiohttp.ClientConnectionError) and not isinstance(error, TimeoutError):
            return True
        error = error.__cause__
    return False


def without_key(text: str, key: str) -> str:
    """An endpoint's words in one short line, without the key and anything that looks like one."""
    safe = text.replace(key, "•••") if key else text
    return shortened(" ".join(KEY_LIKE.sub("•••", safe).split()), LONGEST_REASON)


def _status_in(code: str | None) -> int:
    """An error inside an answer has no status; its code tells one, or is one. 500 when it is unknown."""
    if code and re.fullmatch(r"[45]\d\d", code):
        return int(code)
    if code and "rate_limit" in code:
        return 429
    return 400 if code and code.startswith(("invalid", "unsupported")) else 500


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds from `retry-after-ms` (OpenAI, Azure) or `Retry-After` (RFC 9110: seconds or a date)."""
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
