"""Which model does what, and how it speaks."""

from __future__ import annotations

import pytest

from bot.config.endpoints import dialect_of, fallback_profile, model_settings
from bot.config.settings import Settings, SettingsError


def test_the_pilot_speaks_tool_calls_whatever_is_set() -> None:
    assert dialect_of(Settings.model_validate({"vlm_dialect": "autoglm"})).name == "tools"


def test_a_model_speaks_as_set_or_as_its_name_says() -> None:
    here = {"vlm_base_url": "http://127.0.0.1:1/v1", "vlm_model": "autoglm-phone-9b"}
    assert dialect_of(Settings.model_validate(here)).name == "autoglm"
    assert dialect_of(Settings.model_validate(here | {"vlm_dialect": "ui-tars"})).name == "ui-tars"


def test_a_dialect_that_does_not_exist() -> None:
    with pytest.raises(SettingsError, match="klingon"):
        dialect_of(Settings.model_validate({"vlm_dialect": "klingon"}))


def test_roles_override_what_they_set() -> None:
    made = model_settings(
        Settings.model_validate({"vlm_base_url": "http://127.0.0.1:1/v1", "vlm_model": "a", "reasoning_model": "b"})
    )
    assert made.basic is not None
    assert made.reasoning is not None
    assert (made.vision.model, made.basic.model, made.reasoning.model) == ("a", "a", "b")
    assert made.reasoning.base_url == made.vision.base_url


SECOND = {
    "vlm_base_url": "http://127.0.0.1:1/v1",
    "vlm_model": "qwen3-vl-8b",
    "vlm_dialect": "tools",
    "vlm_pictures": "never",
}


def test_another_second_model_is_prompted_as_itself() -> None:
    settings = Settings.model_validate(SECOND | {"vlm_image_window": 2, "vlm_fallback_model": "ui-tars-7b"})
    profile, endpoint = fallback_profile(settings), model_settings(settings).fallback
    assert profile is not None
    assert endpoint is not None
    assert (profile.model, profile.dialect.name, profile.image_window) == ("ui-tars-7b", "ui-tars", 5)
    assert (endpoint.pictures, endpoint.api) == ("auto", "chat")


def test_what_is_set_for_the_second_model_counts() -> None:
    own = {"dialect": "gelab", "image_window": 3, "pictures": "never", "api": "responses"}
    settings = Settings.model_validate(
        SECOND | {"vlm_fallback_model": "other"} | {f"vlm_fallback_{name}": value for name, value in own.items()}
    )
    profile, endpoint = fallback_profile(settings), model_settings(settings).fallback
    assert profile is not None
    assert endpoint is not None
    assert (profile.dialect.name, profile.image_window) == ("gelab", 3)
    assert (endpoint.pictures, endpoint.api) == ("never", "responses")


def test_another_provider_of_the_same_model_is_prompted_as_the_first() -> None:
    settings = Settings.model_validate(SECOND | {"vlm_api": "auto", "vlm_fallback_base_url": "http://127.0.0.1:2/v1"})
    endpoint = model_settings(settings).fallback
    assert fallback_profile(settings) is None
    assert endpoint is not None
    assert (endpoint.model, endpoint.api) == ("qwen3-vl-8b", "auto")


def test_a_dialect_of_the_second_model_that_does_not_exist() -> None:
    with pytest.raises(SettingsError, match="VLM_FALLBACK_DIALECT=klingon"):
        fallback_profile(Settings.model_validate({"vlm_fallback_dialect": "klingon"}))
