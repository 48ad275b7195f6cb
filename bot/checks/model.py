"""The model's endpoint: reachable, key, model, and whether the model takes a picture."""

from __future__ import annotations

import asyncio
import io
from http import HTTPStatus

import aiohttp
from PIL import Image

from agent.models.base import Message, ModelRequest, Purpose
from agent.models.build import build_models, close_models
from agent.models.endpoint import EndpointSettings
from agent.models.errors import ModelError, ModelKeyRejected
from agent.picture import ImagePart
from bot.checks.finding import Finding
from bot.endpoints import dialect_of, model_settings
from bot.settings import Settings, SettingsError
from devices.geometry import Size

PATIENCE_S = 5.0
PICTURE_S = 45.0
"""Seconds for one real call; a thinking model takes its time even for one word."""
SIDE = 56
"""Pixels: two patches of 28 each way, the least that the known vision models take."""


def set_up(settings: Settings) -> Finding:
    """What can be said without asking the endpoint."""
    endpoints = model_settings(settings)
    if endpoints.offline:
        fix = "For a real one set VLM_API_KEY, VLM_BASE_URL, VLM_MODEL."
        return Finding("model", "note", "No model is set: the offline pilot works.", fix)
    try:
        dialect = dialect_of(settings).name
    except SettingsError as error:
        return Finding("model", "bad", str(error))
    if not settings.vlm_model:
        return Finding("model", "bad", "VLM_MODEL is not set.", "Name the model that your endpoint serves.")
    return Finding("model", "good", f"The model is {settings.vlm_model}, spoken to in the dialect {dialect}.")


async def findings(settings: Settings) -> list[Finding]:
    """What can be said of the endpoint. One call with a small picture is made: some hundred tokens."""
    known = set_up(settings)
    if known.verdict != "good":
        return [known]
    endpoints = model_settings(settings)
    listed = await _listed(endpoints.vision)
    return [listed] if listed.verdict == "bad" else [listed, await _sees(settings, endpoints.vision)]


async def _listed(endpoint: EndpointSettings) -> Finding:
    headers = {"Authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}
    url = f"{endpoint.url.rstrip('/')}/models"
    names: set[str] = set()
    try:
        async with (
            aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=PATIENCE_S)) as session,
            session.get(url, headers=headers) as response,
        ):
            status = response.status
            if status == HTTPStatus.OK:
                names = _names(await response.json(content_type=None))
    except (aiohttp.ClientError, TimeoutError):
        return Finding("model", "bad", f"The model endpoint {endpoint.host} does not answer.", "Check VLM_BASE_URL.")
    except ValueError:
        pass  # no list of models: some endpoints have none
    if status in {HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN}:
        return Finding("model", "bad", f"{endpoint.host} does not accept the key.", "Check VLM_API_KEY.")
    if names and endpoint.model not in names:
        known = ", ".join(sorted(names)[:5])
        text = f"{endpoint.host} does not list the model {endpoint.model}; it has {known}."
        return Finding("model", "note", text, "Check VLM_MODEL, unless your endpoint knows other names for it.")
    return Finding("model", "good", f"The model endpoint {endpoint.host} answers; the model is {endpoint.model}.")


def _names(body: object) -> set[str]:
    rows = body.get("data") if isinstance(body, dict) else None
    if not isinstance(rows, list):
        return set()
    return {str(row["id"]) for row in rows if isinstance(row, dict) and "id" in row}


async def _sees(settings: Settings, endpoint: EndpointSettings) -> Finding:
    target = io.BytesIO()
    Image.new("RGB", (SIDE, SIDE), (200, 30, 30)).save(target, "PNG")
    picture = ImagePart(target.getvalue(), "image/png", Size(SIDE, SIDE))
    request = ModelRequest(Purpose.ACT, (Message("user", ("Which colour is this? One word.", picture)),))
    models = build_models(model_settings(settings))
    try:
        async with asyncio.timeout(PICTURE_S):
            await models.vision.complete(request)
    except ModelKeyRejected as error:
        return Finding("model", "bad", str(error), "Check VLM_API_KEY, and that it may use VLM_MODEL.")
    except ModelError as error:
        text = f"{endpoint.model} did not take a picture: {error}"
        return Finding("model", "bad", text, "Name a model in VLM_MODEL that takes pictures.")
    except TimeoutError:
        text = f"{endpoint.model} did not answer within {PICTURE_S:.0f} s."
        return Finding("model", "bad", text, "Look at the load of the endpoint.")
    finally:
        await close_models(models)
    return Finding("model", "good", f"{endpoint.model} takes pictures.")
