"""Which ModelError a failure is, and its sentence for a person."""

from __future__ import annotations

import re

from agent.models.base import ModelRequest
from agent.models.call_failure import QUOTA_CODES, CallFailure, Kind
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
from agent.picture import ImagePart
from agent.wording import words

ABOUT_IMAGES = re.compile(r"image|vision|multi-?modal|picture", re.IGNORECASE)
ABOUT_THE_MODEL = re.compile(
    r"\b(?:unknown|invalid) model\b|\bmodel\b.{0,120}\b(?:not (?:exist|found)|unknown)", re.IGNORECASE
)
ABOUT_IMAGE_LIMITS = re.compile(r"too large|exceed|size|resolution|too many|corrupt|decode|download", re.IGNORECASE)


def settings_problem(settings: EndpointSettings) -> ModelRefused | None:
    """What can be seen to be wrong without asking anybody. An endpoint with an address of its own may need no key."""
    if not settings.model:
        return UnknownModel(words("model.unset", host=settings.host))
    if not settings.key and not settings.base_url:
        return ModelKeyRejected(words("model.no_key", host=settings.host))
    if not all("!" <= sign <= "~" for sign in settings.key):
        return ModelKeyRejected(words("model.odd_key", host=settings.host))
    return None


def too_slow(settings: EndpointSettings, limit: float) -> ModelUnreachable:
    """The total time limit of a call is over."""
    return ModelUnreachable(
        words("model.too_slow", model=settings.model, host=settings.host, seconds=f"{limit:g}"), cause=Cause.NO_ANSWER
    )


def error_of(failure: CallFailure, settings: EndpointSettings, request: ModelRequest) -> ModelError:
    """The error to raise for the last failure of a call."""
    host, model, reason = settings.host, settings.model, failure.reason
    match failure.kind:
        case Kind.NO_CONNECTION:
            return ModelUnreachable(words("model.no_connection", host=host))
        case Kind.NO_ANSWER:
            return ModelUnreachable(words("model.no_answer", model=model, host=host), cause=Cause.NO_ANSWER)
        case Kind.NONSENSE:
            return ModelUnreachable(words("model.nonsense", host=host), cause=Cause.NO_API)
        case Kind.TOO_MUCH:
            return ModelRefused(words("model.too_much", host=host))
    if 300 <= failure.status < 400:
        return ModelRefused(words("model.moved", host=host, status=failure.status), cause=Cause.MOVED)
    if failure.status in {401, 403}:
        if not settings.key:
            return ModelKeyRejected(words("model.wants_key", host=host))
        return ModelKeyRejected(words("model.key_rejected", host=host, model=model, status=failure.status))
    if failure.too_long:
        return InputTooLong(words("model.too_long", host=host, model=model))
    if is_unknown_model(failure):
        return UnknownModel(words("model.unknown", host=host, model=model))
    if _is_no_vision(failure, request):
        return NoVision(words("model.blind", host=host, model=model))
    if failure.status == 404:
        return UnknownModel(words("model.not_here", host=host, model=model))
    if failure.code in QUOTA_CODES:
        return ModelRefused(words("model.no_credit", host=host), cause=Cause.NO_CREDIT)
    if failure.status == 429:
        wait = failure.retry_after
        why = words("model.busy", host=host)
        if wait is not None:
            why = words("model.busy_for", host=host, seconds=f"{wait:.0f}")
        return ModelUnreachable(why, status=failure.status, retry_after=wait, cause=Cause.BUSY)
    if failure.transient:
        why = words("model.broken", host=host, status=failure.status)
        return ModelUnreachable(why, status=failure.status, retry_after=failure.retry_after, cause=Cause.BROKEN)
    if not reason:
        return ModelRefused(words("model.refused_silently", host=host, status=failure.status))
    return ModelRefused(words("model.refused", host=host, status=failure.status, reason=reason))


def is_unknown_model(failure: CallFailure) -> bool:
    """Whether a refusal is about the model's name (and not about the address)."""
    if failure.code == "model_not_found":
        return True
    return failure.status in {400, 404, 422} and ABOUT_THE_MODEL.search(failure.reason) is not None


def _is_no_vision(failure: CallFailure, request: ModelRequest) -> bool:
    """A refusal that speaks of images (not of one image's size or bytes), of a request that had some."""
    if failure.status not in {400, 404, 415, 422} or not has_images(request):
        return False
    return bool(ABOUT_IMAGES.search(failure.reason)) and not ABOUT_IMAGE_LIMITS.search(failure.reason)


def has_images(request: ModelRequest) -> bool:
    """Whether the request shows the model a picture."""
    return any(isinstance(part, ImagePart) for message in request.messages for part in message.parts)
