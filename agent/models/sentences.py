"""Which ModelError a trouble is, and its sentence for a person."""

from __future__ import annotations

import re

from agent.models.base import ModelRequest
from agent.models.endpoint import EndpointSettings
from agent.models.errors import (
    ModelError,
    ModelKeyRejected,
    ModelRefused,
    ModelUnreachable,
    NoVision,
    UnknownModel,
)
from agent.models.trouble import QUOTA_CODES, Kind, Trouble
from agent.picture import ImagePart

ABOUT_IMAGES = re.compile(r"image|vision|multi-?modal|picture", re.IGNORECASE)
ABOUT_THE_MODEL = re.compile(
    r"\b(?:unknown|invalid) model\b|\bmodel\b.{0,120}\b(?:not (?:exist|found)|unknown)", re.IGNORECASE
)
ABOUT_IMAGE_LIMITS = re.compile(r"too large|exceed|size|resolution|too many|corrupt|decode|download", re.IGNORECASE)


def settings_problem(settings: EndpointSettings) -> ModelRefused | None:
    """What can be seen to be wrong without asking anybody. An endpoint with an address of its own may need no key."""
    if not settings.model:
        return UnknownModel(f"No model is set for {settings.host}.")
    if not settings.key and not settings.base_url:
        return ModelKeyRejected(f"No API key is set for {settings.host}.")
    if not all("!" <= sign <= "~" for sign in settings.key):
        return ModelKeyRejected(f"The API key for {settings.host} has signs that cannot be sent; was it pasted whole?")
    return None


def too_slow(settings: EndpointSettings, limit: float) -> ModelUnreachable:
    """The total time limit of a call is over."""
    return ModelUnreachable(f"{settings.model} at {settings.host} gave no complete answer within {limit:g} s.")


def error_of(trouble: Trouble, settings: EndpointSettings, request: ModelRequest) -> ModelError:
    """The error to raise for the last trouble of a call."""
    host, model, reason = settings.host, settings.model, trouble.reason
    match trouble.kind:
        case Kind.NO_CONNECTION:
            return ModelUnreachable(f"The model endpoint {host} cannot be reached, or it dropped the connection.")
        case Kind.NO_ANSWER:
            return ModelUnreachable(f"{model} at {host} did not answer in time.")
        case Kind.NONSENSE:
            return ModelUnreachable(
                f"{host} answered with something that is not a model's answer. Does the base URL end where it should?"
            )
        case Kind.TOO_MUCH:
            return ModelRefused(f"{host} answered with more than any model says. The answer was thrown away.")
    if 300 <= trouble.status < 400:
        return ModelRefused(
            f"{host} sends requests on to another address ({trouble.status}). Nothing was sent there. "
            "If that address is right, set it as the base URL."
        )
    if trouble.status in {401, 403}:
        if not settings.key:
            return ModelKeyRejected(f"{host} asks for an API key, and none is set.")
        return ModelKeyRejected(f"{host} rejected the API key, or does not let it use {model} ({trouble.status}).")
    if is_unknown_model(trouble):
        return UnknownModel(f"{host} does not know the model {model!r}.")
    if _is_no_vision(trouble, request):
        return NoVision(f"The model {model} at {host} does not take pictures.")
    if trouble.status == 404:
        return UnknownModel(f"{host} has no model {model!r} at this address; many base URLs end in /v1.")
    if trouble.code in QUOTA_CODES:
        return ModelRefused(f"The account at {host} has no credit left.")
    if trouble.status == 429:
        wait = "" if trouble.retry_after is None else f" and asks to wait {trouble.retry_after:.0f} s"
        return ModelUnreachable(f"{host} takes no more requests for now (429){wait}.")
    if trouble.transient:
        return ModelUnreachable(f"{host} has an error of its own, also after trying again ({trouble.status}).")
    return ModelRefused(f"{host} refused the request ({trouble.status}): {reason or 'without a reason'}")


def is_unknown_model(trouble: Trouble) -> bool:
    """Whether a refusal is about the model's name (and not about the address)."""
    if trouble.code == "model_not_found":
        return True
    return trouble.status in {400, 404, 422} and ABOUT_THE_MODEL.search(trouble.reason) is not None


def _is_no_vision(trouble: Trouble, request: ModelRequest) -> bool:
    """A refusal that speaks of images (not of one image's size or bytes), of a request that had some."""
    if trouble.status not in {400, 404, 415, 422} or not has_images(request):
        return False
    return bool(ABOUT_IMAGES.search(trouble.reason)) and not ABOUT_IMAGE_LIMITS.search(trouble.reason)


def has_images(request: ModelRequest) -> bool:
    """Whether the request shows the model a picture."""
    return any(isinstance(part, ImagePart) for message in request.messages for part in message.parts)
