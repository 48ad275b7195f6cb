"""Checks the model's endpoint: whether it is reachable, accepts the key, has the model and accepts a picture."""

from __future__ import annotations

import asyncio
import io
import wave
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Literal

from PIL import Image

from agent.error_mapping import remedy
from agent.model_roles import ModelSettings, build_models, close_models
from agent.models.base import Message, ModelRequest, Purpose
from agent.models.endpoint import EndpointSettings
from agent.models.errors import ModelError, NoVision
from agent.models.other_models import EmbeddingFailed, TranscriptionFailed
from agent.models.state import Cause, ModelState
from agent.scene import ImagePart
from bot.checks.asking import json_at
from bot.config.endpoints import dialect_of, embedder_of, fallback_profile, model_settings, transcriber_of
from bot.config.settings import Settings, SettingsError
from bot.domain.finding import Finding
from bot.texts import say
from bot.views.tasks import state_words
from devices.geometry import Size
from devices.wording import said, sentence_of

PATIENCE_S = 5.0
PICTURE_S = 45.0
"""Seconds for one real call; a reasoning model needs its time even for one word."""
SIDE = 56
"""Pixels per side: two patches of 28, the least that known vision models accept."""


def set_up(settings: Settings, state: ModelState | None = None) -> Finding:
    """Check the model's settings without sending a request. `state` is the state of the model in a running service,
    None if none runs.
    """
    endpoints = model_settings(settings)
    if endpoints.offline:
        return Finding("model", "note", say("check.model.offline"), say("check.model.offline_fix"))
    try:
        dialect = dialect_of(settings).name
        fallback_profile(settings)
    except SettingsError as error:
        return Finding("model", "bad", said(sentence_of(error)))
    if not settings.vlm_model:
        return Finding("model", "bad", say("check.model.unnamed"), say("check.model.unnamed_fix"))
    if state is not None and state.cause is not None:
        text = say("model.finding.failing", model=state.model, state=state_words(state))
        return Finding("model", "note" if state.stand_in else "bad", text, remedy(state.cause), state.cause)
    return Finding("model", "good", say("check.model.set", model=settings.vlm_model, dialect=dialect))


def cause_of(found: Sequence[Finding]) -> Cause | None:
    """Return why the model fails according to these findings, None if it answered."""
    return next((finding.cause for finding in found if finding.cause is not None), None)


def was_asked(found: Sequence[Finding]) -> bool:
    """Return whether these findings show if the model's endpoint works. They do not if its settings are unusable, such
    as an empty model name, because it is then not called. True if no model is set.
    """
    return all(finding.verdict != "bad" or finding.cause is not None for finding in found)


async def findings(settings: Settings) -> list[Finding]:
    """Check the endpoint of the model that acts on phones: its settings, its list of models and, if these show no
    fault, one real call, which includes a small picture and takes some hundred tokens. Nothing is sent if no model is
    set.
    """
    known = set_up(settings)
    if known.verdict != "good":
        return [known]
    endpoints = model_settings(settings)
    listed = await _listed(endpoints.vision)
    if listed is not None and listed.verdict == "bad":
        return [listed]
    seen = await _sees(settings, endpoints.vision)
    return [seen] if listed is None else [listed, seen]


async def embedding(settings: Settings) -> list[Finding]:
    """Check the embedding endpoint, if one is set, by embedding one word."""
    embedder = embedder_of(settings)
    if embedder is None:
        return []
    try:
        await embedder.embed(["coffee"])
    except EmbeddingFailed as error:
        text = say("check.model.no_vectors", why=str(error))
        return [Finding("model", "bad", text, say("check.model.no_vectors_fix"))]
    finally:
        await embedder.close()
    return [Finding("model", "good", say("check.model.vectors", name=embedder.name))]


async def transcription(settings: Settings) -> list[Finding]:
    """Check the transcription endpoint, if one is set, by sending a second of silence."""
    transcriber = transcriber_of(settings)
    if transcriber is None:
        return []
    try:
        await transcriber.transcribe(_silence(), "silence.wav", 1.0)
    except TranscriptionFailed as error:
        text = say("check.model.no_voice", why=str(error))
        return [Finding("model", "bad", text, say("check.model.own_fix"))]
    finally:
        await transcriber.close()
    return [Finding("model", "good", say("check.model.voice", name=settings.transcribe_model))]


async def fallback(settings: Settings) -> list[Finding]:
    """Check the fallback model, if there is one; see `of_role`."""
    return [] if model_settings(settings).fallback is None else await of_role(settings, "fallback")


async def of_role(settings: Settings, role: Literal["basic", "reasoning", "fallback"]) -> list[Finding]:
    """Check whether the model of this role answers, with one call of a few words. If the role has no model of its own,
    this is the model that acts on phones.
    """
    endpoints = model_settings(settings)
    roles = {"basic": endpoints.basic, "reasoning": endpoints.reasoning, "fallback": endpoints.fallback}
    own = roles[role] or endpoints.vision
    # Built alone, because the offline pilot would answer instead if no model for the phone is set.
    models = build_models(ModelSettings(own))
    model = models.basic
    request = ModelRequest(Purpose.SUPERVISE, (Message("user", ("Answer with one word: ready",)),))
    try:
        async with asyncio.timeout(PICTURE_S):
            await model.complete(request)
    except ModelError as error:
        text = say("check.model.no_role", model=model.name, why=said(sentence_of(error)))
        return [Finding("model", "bad", text, remedy(error.cause), error.cause)]
    except TimeoutError:
        text = say("check.model.slow", model=model.name, seconds=f"{PICTURE_S:.0f}")
        return [Finding("model", "bad", text, remedy(Cause.NO_ANSWER), Cause.NO_ANSWER)]
    finally:
        await close_models(models)
    answers = Finding("model", "good", say("check.model.role", model=model.name))
    if endpoints.offline:
        return [answers, Finding("model", "note", say("check.model.role_unused"), say("check.model.offline_fix"))]
    return [answers]


def _silence() -> bytes:
    """A second of silence as a WAV file."""
    target = io.BytesIO()
    with wave.open(target, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(bytes(32_000))
    return target.getvalue()


async def _listed(endpoint: EndpointSettings) -> Finding | None:
    """Check the endpoint's list of models; None if its answer is inconclusive."""
    status, names = await _models_at(endpoint.url, endpoint.key)
    if not status:
        text = say("check.model.silent", host=endpoint.host)
        return Finding("model", "bad", text, remedy(Cause.NO_CONNECTION), Cause.NO_CONNECTION)
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        cause = Cause.KEY_REJECTED if endpoint.key else Cause.NO_KEY
        return Finding("model", "bad", say("check.model.key", host=endpoint.host), remedy(cause), cause)
    if names and endpoint.model not in names:
        known = ", ".join(sorted(names)[:5])
        text = say("check.model.unlisted", host=endpoint.host, model=endpoint.model, known=known)
        return Finding("model", "note", text, say("check.model.unlisted_fix"))
    if status not in {HTTPStatus.OK, HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED, HTTPStatus.NOT_IMPLEMENTED}:
        return None  # busy, broken or without credit: the call with a picture reports it in full
    return Finding("model", "good", say("check.model.answers", host=endpoint.host, model=endpoint.model))


async def names_at(url: str, key: str) -> list[str]:
    """Return the names of the models at this endpoint; empty if it lists none or does not answer."""
    _, names = await _models_at(url, key)
    return sorted(names)


async def _models_at(url: str, key: str) -> tuple[int, set[str]]:
    """The status of the endpoint's answer, and its models; some endpoints have no list of them."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    status, body = await json_at(f"{url.rstrip('/')}/models", headers, seconds=PATIENCE_S)
    rows = body.get("data") if status == HTTPStatus.OK and isinstance(body, dict) else None
    found = rows if isinstance(rows, list) else []
    return status, {str(row["id"]) for row in found if isinstance(row, dict) and "id" in row}


async def _sees(settings: Settings, endpoint: EndpointSettings) -> Finding:
    target = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), (200, 30, 30)).save(target, "PNG")
    picture = ImagePart(target.getvalue(), "image/png", Size(SIDE, SIDE))
    request = ModelRequest(Purpose.ACT, (Message("user", ("Which colour is this? One word.", picture)),))
    models = build_models(replace(model_settings(settings), fallback=None))
    try:
        async with asyncio.timeout(PICTURE_S):
            await models.vision.complete(request)
    except ModelError as error:
        why = said(sentence_of(error))
        if isinstance(error, NoVision) and settings.vlm_pictures == "auto":
            text = say("check.model.by_list", model=endpoint.model, why=why)
            return Finding("model", "note", text, say("check.model.by_list_fix"))
        return Finding("model", "bad", why, remedy(error.cause), error.cause)
    except TimeoutError:
        text = say("check.model.slow", model=endpoint.model, seconds=f"{PICTURE_S:.0f}")
        return Finding("model", "bad", text, remedy(Cause.NO_ANSWER), Cause.NO_ANSWER)
    finally:
        await close_models(models)
    if settings.vlm_pictures == "never":
        return Finding("model", "good", say("check.model.unshown", model=endpoint.model))
    return Finding("model", "good", say("check.model.sees", model=endpoint.model))
