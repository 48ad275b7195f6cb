"""Which model does what, and how it speaks."""

from __future__ import annotations

import pytest

from bot.config.endpoints import dialect_of, model_settings
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
