"""Turns the failure of a model call into the ModelError to raise, with a sentence for people."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from agent.models.base import ModelRequest
from agent.models.call_failure import CallFailure
from agent.models.cause import Cause
from agent.models.endpoint import EndpointSettings
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
from agent.wording import words
from devices.wording import Words

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
