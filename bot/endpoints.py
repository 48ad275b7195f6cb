"""The model endpoint of each role, from the settings."""

from __future__ import annotations

from agent.models.build import ModelSettings
from agent.models.endpoint import EndpointSettings
from bot.settings import Settings


def model_settings(settings: Settings) -> ModelSettings:
    """VLM_* serve all roles; BASIC_* and REASONING_* override one."""
    vision = EndpointSettings(
        model=settings.vlm_model,
        base_url=settings.vlm_base_url,
        api_key=settings.vlm_api_key,
        api=settings.vlm_api,
    )
    return ModelSettings(
        vision=vision,
        basic=vision.overridden(
            model=settings.basic_model, base_url=settings.basic_base_url, api_key=settings.basic_api_key
        ),
        reasoning=vision.overridden(
            model=settings.reasoning_model, base_url=settings.reasoning_base_url, api_key=settings.reasoning_api_key
        ),
    )
