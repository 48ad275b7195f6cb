"""Why model calls fail, derived from an endpoint's status and error message, and the state of a model as a value:
whether it works, and why not.

The status alone says little: an empty account is 400, 402, 403 or 429, and a model without pictures is 400, 404, 500,
or 200 with an error inside. `tests/agent/models/refusals.toml` lists real responses with their sources.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final


class Cause(StrEnum):
    """Why a model call failed. For each there is a sentence named `remedy.…` that says what helps."""

    NO_CONNECTION = "no_connection"
    """The endpoint cannot be reached, or the connection broke."""
    NO_ANSWER = "no_answer"
    """The endpoint did not answer in time."""
    NO_API = "no_api"
    """The response does not come from a model API."""
    OVERSIZED = "oversized"
    """The response is larger than any model's answer."""
    MOVED = "moved"
    """The endpoint redirects requests to another address."""
    NO_KEY = "no_key"
    KEY_REJECTED = "key_rejected"
    UNKNOWN_MODEL = "unknown_model"
    WRONG_ADDRESS = "wrong_address"
    NO_CREDIT = "no_credit"
    """The account is empty or locked, or its quota for a day or longer is used up."""
    BUSY = "busy"
    """There are too many requests, or the model is still loading."""
    BROKEN = "broken"
    TOO_LONG = "too_long"
    """The request does not fit into the model's context window."""
    TOO_MANY_PICTURES = "too_many_pictures"
    NO_PICTURES = "no_pictures"
    """The model accepts no pictures."""
    FILTERED = "filtered"
    """A content filter of the provider refused the request."""
    REFUSED = "refused"
    """Any other refusal."""
    UNUSABLE = "unusable"
    """The answer does not have the requested form."""

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later, without anyone changing anything."""
        return self in {Cause.NO_CONNECTION, Cause.NO_ANSWER, Cause.NO_API, Cause.BUSY, Cause.BROKEN}


def _said(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_TOO_LONG: Final = _said(
    r"context_length_exceeded|exceed_context_size_error|request_too_large|string_above_max_length"
    r"|context.{0,3}(?:length|window|size).{0,40}(?:exceed|only|overflow)|exceed\w*.{0,60}(?:context|token limit"
    r"|max\w* (?:number of |message )?tokens|limit of [\d,]+ tokens)|maximum (?:context|prompt|model) length"
    r"|(?:prompt|input|request|message)s?\b.{0,40}(?:is |are )?too long|longer than the (?:model'?s |maximum )"
    r"|reduce (?:the )?length of (?:the |your )?(?:messages|prompt|input)"
    r"|too (?:large|many tokens) for (?:the )?model|context the overflows|greater than the context length"
    r"|max_new_tokens`? must be <=|range of input length|input tokens exceed|context limit|prompt exceeds max"
    r"|超长|超过.{0,12}(?:长度|上下文)"
)
_NO_CREDIT: Final = _said(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|billing_hard_limit|exceeded_current_quota|\barrearage\b"
    r"|accountoverdue|overdue (?:balance|account|payment)|account .{0,12}good standing"
    r"|billoverdue|serviceoverdue|freetieronly|quotaexceeded"
    r"|free (?:trial )?(?:tier|quota).{0,40}exhausted|exhausted its free|setlimitexceeded|\bbudget_exceeded\b"
    r"|budget has been exceeded|exceededbudget|over budget|requires more credits|add \d+ credits|\bnot enough credits"
    r"|exceeded your current quota|free-models-per-day|^1113\b|余额不足|欠费|请充值|资源包.{0,6}(?:用尽|不足)|使用上限"
)
_SOON: Final = re.compile(
    r"(?:retry|try again) (?:in|after) [\d.]+ ?(?:m?s\b|sec)|per.?(?:minute|second)", re.IGNORECASE
)
"""Gemini's words for a per-minute quota, which otherwise reads like one that is used up."""
_FILTERED: Final = _said(
    r"content_filter|content[_ ](?:management )?policy|content_policy_violation|data_?inspection_?failed"
    r"|inappropriate content|sensitivecontentdetected|^1301\b|不安全或敏感内容|requires moderation|input was flagged"
)
_TOO_MANY_PICTURES: Final = _said(
    r"at most [1-9]\d* image|(?:too many|number of|max\w*) images?\b.{0,40}(?:exceed|allowed|limit)"
)
_NO_PICTURES: Final = _said(
    r"image input is not supported|(?:support|accept)s? (?:the )?(?:image|vision|multi-?modal) ?input"
    r"|(?:does|do) not support (?:the )?(?:images?\b|image_url|vision|multi-?modal)(?! (?:size|format|type|of))"
    r"|missing data required for image|not a multi-?modal|vision add-on is not loaded|at most 0 image"
    r"|image_url is only supported by|unknown variant `image_url`|unexpected item type in content"
    r"|content\.type 参数非法.{0,20}\['text'\]|for text-only (?:server|model)|不支持.{0,6}(?:图片|图像|视觉)"
)
"""Phrases used only about pictures, so they count with any status."""
_UNKNOWN_MODEL: Final = _said(
    r"model_not_found|deploymentnotfound|modelnotopen|endpointormodel\.notfound|^1211\b|not found the model"
    r"|\b(?:unknown|invalid) model\b|\bmodel\b.{0,120}\b(?:not (?:exist|found)|unknown)|not a valid model"
    r"|no endpoints found for|no models? (?:is |are )?loaded|has not activated the model|deployment\b.{0,40} not exist"
    r"|model.{0,10}不存在|模型不存在|未找到模型"
)
_BAD_KEY: Final = _said(
    r"(?:invalid|incorrect)[_ ]api[_ ]key|api[_ ]key.{0,20}(?:not valid|is invalid|incorrect)|invalid authentication"
)
_RATES: Final = re.compile(r"rate.?limit|per (?:minute|day|hour|second)|\b[TR]P[MD]\b|quota", re.IGNORECASE)


def cause_of(status: int, words: str) -> Cause:
    """Return the cause of a refused request. `words` are the endpoint's error code followed by its message."""
    about_access = status in {401, 403}
    if _NO_CREDIT.search(words) and not (status == 429 and _SOON.search(words)):
        return Cause.NO_CREDIT
    if _FILTERED.search(words):
        return Cause.FILTERED
    if _NO_PICTURES.search(words):
        return Cause.NO_PICTURES
    if status < 500 and not about_access:
        if _UNKNOWN_MODEL.search(words):
            return Cause.UNKNOWN_MODEL
        if _TOO_MANY_PICTURES.search(words):
            return Cause.TOO_MANY_PICTURES
        if _BAD_KEY.search(words):
            return Cause.KEY_REJECTED
    if not about_access and status != 429 and not _RATES.search(words) and (status == 413 or _TOO_LONG.search(words)):
        return Cause.TOO_LONG
    return _by_status(status)


def _by_status(status: int) -> Cause:
    match status:
        case 401 | 403:
            return Cause.KEY_REJECTED
        case 402:
            return Cause.NO_CREDIT
        case 404 | 405:
            return Cause.WRONG_ADDRESS
        case 408 | 504 | 524:
            return Cause.NO_ANSWER
        case 429 | 503 | 529:
            return Cause.BUSY
        case _ if 300 <= status < 400:
            return Cause.MOVED
        case _ if status >= 500 and status != 501:
            return Cause.BROKEN
    return Cause.REFUSED


ABOUT_THE_REQUEST: Final = frozenset(
    {Cause.OVERSIZED, Cause.TOO_LONG, Cause.TOO_MANY_PICTURES, Cause.FILTERED, Cause.REFUSED, Cause.UNUSABLE}
)
"""Causes that only concern one request, so that the model still counts as working."""


class ModelStatus(StrEnum):
    """What is known about whether a model works."""

    OFFLINE = "offline"
    """No endpoint is configured: the offline pilot works in its place."""
    NOT_TESTED = "not_tested"
    """The model has not been called since it was configured."""
    CONNECTED = "connected"
    """The model answered the last request."""
    FAILING = "failing"
    """The model did not answer the last request, because of `ModelState.cause`."""


@dataclass(frozen=True, slots=True)
class ModelState:
    """The state of a model after the last request to it.

    `model` is its name at the endpoint, "" if there is none. `cause` is why it fails; None unless `status` is FAILING.
    `since` is when the state began, in Unix seconds, or None before the first request. `stand_in` is the model that
    answers in its place, "" for none.
    """

    status: ModelStatus
    model: str = ""
    cause: Cause | None = None
    since: float | None = None
    stand_in: str = ""

    def after(self, cause: Cause | None, now: float, stand_in: str = "") -> ModelState:
        """Return the state after a request at the time `now` (Unix seconds).

        `cause` is why the request failed, None if it succeeded. `stand_in` is the model that answered it instead, ""
        for none.
        """
        if self.status is ModelStatus.OFFLINE:
            return self
        if cause in ABOUT_THE_REQUEST:
            cause = None
        status = ModelStatus.CONNECTED if cause is None else ModelStatus.FAILING
        if (status, cause) == (self.status, self.cause):
            return self if stand_in == self.stand_in else replace(self, stand_in=stand_in)
        return replace(self, status=status, cause=cause, since=now, stand_in=stand_in)
