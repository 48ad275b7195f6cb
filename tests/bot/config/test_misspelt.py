"""A name that is written wrongly in `.env` is told with the one that is meant."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from bot.chats.installed import installed, model_of
from bot.config.settings import load_settings


def test_a_misspelt_name_is_told_with_the_nearest(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    env = tmp_path / ".env"
    env.write_text(
        "VLM_MODLE=a\ndiscord_token=secret\nVLM_MODEL=b\nCOMPOSE_PROJECT_NAME=phones\nTZ=UTC\nMAX_STEPS=5\n",
        encoding="utf-8",
    )
    with caplog.at_level(logging.WARNING):
        settings = load_settings(env, model_of(installed()))
    assert settings.vlm_model == "b"
    first, second = caplog.messages
    assert "VLM_MODLE" in first
    assert "Did you mean VLM_MODEL?" in first
    assert "Did you mean DISCORD_BOT_TOKEN?" in second
    assert "secret" not in caplog.text


@pytest.mark.parametrize("ending", ["", "/", "/chat/completions", "/chat/completions/"])
def test_the_address_of_an_endpoint_may_be_pasted_whole(ending: str, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    env.write_text(f"VLM_BASE_URL=https://models.example/v1{ending}\n", encoding="utf-8")
    assert load_settings(env).vlm_base_url == "https://models.example/v1"
