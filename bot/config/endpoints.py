"""Derives from the settings the model endpoint of each role, and the dialect (the form in which a model writes
actions).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent.dialects.base import Dialect
from agent.dialects.select import NAMES, dialect_for
from agent.model_roles import ModelSettings
from agent.models.endpoint import EndpointSettings
from agent.run_config import ModelProfile
from bot.config.settings import Settings, SettingsError
from bot.texts import words

if TYPE_CHECKING:
    from agent.models.openai_other_models import OpenAIEmbedder, OpenAITranscriber


def model_settings(settings: Settings) -> ModelSettings:
    """Return the endpoint of each model role. VLM_* is used for all roles; BASIC_* and REASONING_* override it for one
    role, and VLM_FALLBACK_* is the model that takes over when another fails.
    """
    vision = EndpointSettings(
        model=settings.vlm_model,
        base_url=settings.vlm_base_url,
        api_key=settings.vlm_api_key,
        api=settings.vlm_api,
        timeout=settings.vlm_timeout,
        prices=settings.prices,
        context=settings.vlm_context,
        pictures=settings.vlm_pictures,
    )
    return ModelSettings(
        vision=vision,
        basic=vision.overridden(
            model=settings.basic_model,
            base_url=settings.basic_base_url,
            api_key=settings.basic_api_key,
            context=settings.basic_context,
        ),
        reasoning=vision.overridden(
            model=settings.reasoning_model,
            base_url=settings.reasoning_base_url,
            api_key=settings.reasoning_api_key,
            context=settings.reasoning_context,
        ),
        fallback=replace(
            vision.overridden(
                model=settings.vlm_fallback_model,
                base_url=settings.vlm_fallback_base_url,
                api_key=settings.vlm_fallback_api_key,
            ),
            api=settings.vlm_fallback_api or settings.vlm_api,
            pictures=settings.vlm_fallback_pictures,
        )
        if settings.vlm_fallback_model or settings.vlm_fallback_base_url
        else None,
    )


def transcriber_of(settings: Settings) -> OpenAITranscriber | None:
    """Return the client that transcribes voice notes, None if no endpoint is set for it, in which case no speech leaves
    this machine.
    """
    if not settings.transcribe_base_url and not settings.transcribe_api_key.get_secret_value():
        return None
    # Imported here so that the client is only loaded if there is an endpoint.
    from agent.models.openai_other_models import OpenAITranscriber  # noqa: PLC0415 - see above

    return OpenAITranscriber(
        EndpointSettings(
            model=settings.transcribe_model,
            base_url=settings.transcribe_base_url,
            api_key=settings.transcribe_api_key,
            prices=settings.prices,
        ),
        minute=settings.transcribe_price,
    )


def embedder_of(settings: Settings) -> OpenAIEmbedder | None:
    """Return the client that embeds facts to compare their meanings, None if no endpoint is set for it."""
    if not settings.embed_base_url and not settings.embed_api_key.get_secret_value():
        return None
    from agent.models.openai_other_models import OpenAIEmbedder  # noqa: PLC0415 - as above

    return OpenAIEmbedder(
        EndpointSettings(model=settings.embed_model, base_url=settings.embed_base_url, api_key=settings.embed_api_key)
    )


def dialect_of(settings: Settings) -> Dialect:
    """Return the dialect (the form in which the phone's model writes actions). For the offline pilot it is always tool
    calls.

    Raises SettingsError if VLM_DIALECT names no dialect.
    """
    chosen = _dialect("", settings.vlm_dialect, settings.vlm_model)
    return dialect_for("tools", "") if model_settings(settings).offline else chosen


def fallback_profile(settings: Settings) -> ModelProfile | None:
    """Return the profile with which the fallback model is prompted. None if there is no fallback model or it is the
    same model.

    Raises SettingsError if VLM_FALLBACK_DIALECT names no dialect.
    """
    dialect = _dialect("FALLBACK_", settings.vlm_fallback_dialect, settings.vlm_fallback_model)
    if settings.vlm_fallback_model in {"", settings.vlm_model}:
        return None
    window = settings.vlm_fallback_image_window or dialect.image_window
    return ModelProfile(settings.vlm_fallback_model, dialect, window)


def _dialect(role: str, value: str, model: str) -> Dialect:
    try:
        return dialect_for(value, model)
    except ValueError as error:
        known = ", ".join(NAMES)
        raise SettingsError(words("settings.dialect", role=role, value=value, known=known)) from error
