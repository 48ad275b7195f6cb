"""What an endpoint refuses before a model sees the request."""

from __future__ import annotations

from collections.abc import Collection

from tests.fakes.model_server.personalities import Personality
from tests.fakes.model_server.recorded import Recorded
from tests.fakes.model_server.responses import ResponseStore
from tests.fakes.model_server.script import NO_VISION, Answer, refused

FORMATS = {"json_schema": 2, "ignored": 2, "json_object": 1, "none": 0}


def refusal(request: Recorded, personality: Personality, key: str, models: Collection[str]) -> Answer | None:
    """The refusal of this request, if there is one; an empty `key` or `models` is not checked."""
    body = request.body
    sent = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if key and sent != key:
        return refused(401, f"Incorrect API key provided: {sent}.", code="invalid_api_key")
    if models and request.model not in models:
        return refused(404, f"The model `{request.model}` does not exist.", code="model_not_found")
    for name in sorted(personality.refuses & body.keys()):
        return refused(400, f"Unrecognized request argument supplied: {name}", param=name)
    if body.get("stream") and not personality.streams:
        return refused(400, "Streaming is not supported for this model.", param="stream")
    wanted = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    asked = wanted.get("type", "")
    if FORMATS.get(asked, 0) > FORMATS[personality.schema]:
        return refused(400, f"This response_format type is unavailable now: {asked}", param="response_format")
    return NO_VISION if request.images and not personality.vision else None


def lost_context(request: Recorded, personality: Personality, store: ResponseStore) -> Answer | None:
    """The refusal to store or to continue, where this endpoint refuses that aloud."""
    previous = request.body.get("previous_response_id")
    if personality.responses == "no store" and (request.body.get("store", True) or previous):
        return refused(501, "Storing responses is disabled on this server.", param="store")
    if personality.responses != "stateful" or not previous or previous in store:
        return None
    message = f"Previous response with id '{previous}' not found."
    if personality.lost == 400:
        return refused(400, message, code="previous_response_not_found", param="previous_response_id")
    return refused(404, message, param="response_id")
