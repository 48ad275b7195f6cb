"""The settings file: what the environment says wins, it is for this user alone, and its errors quote nothing of it."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chats.installed import installed, model_of
from bot.config.settings import SettingsError, load_settings
from bot.config.settings_file import SETTINGS_NAME, SettingsFile, with_file

MODEL = model_of(installed())
CANARY = "sk-canary-5d1f0c77b2a94e38"


def test_the_environment_and_credentials_win_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "VLM_API_KEY").write_text("of-a-credential", encoding="utf-8")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("VLM_MODEL", "of-the-environment")
    loaded = load_settings(None, MODEL)
    filed = {
        "vlm_api_key": "of-the-file",
        "vlm_model": "of-the-file",
        "vlm_base_url": "http://127.0.0.1:9/v1/chat/completions",
        "telegram_allowed_user_ids": "1, 2",
        "data_dir": "/elsewhere",
        "no_such_setting": "x",
        "max_steps": "none",
    }
    settings, left_out = with_file(loaded, filed)
    assert settings.vlm_api_key.get_secret_value() == "of-a-credential"
    assert settings.vlm_model == "of-the-environment"
    assert settings.vlm_base_url == "http://127.0.0.1:9/v1"
    assert getattr(settings, "telegram_allowed_user_ids") == ("1", "2")  # noqa: B009 - a field of the platform's part
    assert (settings.data_dir, settings.max_steps) == (loaded.data_dir, 60)
    assert set(left_out) == {"data_dir", "no_such_setting", "max_steps"}


@given(values=st.dictionaries(st.sampled_from(sorted(MODEL.model_fields)), st.text(), max_size=5))
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, values: dict[str, str]) -> None:
    file = SettingsFile(tmp_path_factory.getbasetemp())
    file.write(values)
    assert file.read() == values
    assert stat.S_IMODE(file.path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "text", [f'{{"VLM_API_KEY": "{CANARY}"', f'["{CANARY}"]', f'{{"VLM_API_KEY": ["{CANARY}"]}}', CANARY, "[" * 100_000]
)
def test_a_damaged_file_is_not_used_and_not_quoted(tmp_path: Path, text: str) -> None:
    """Seen failing with the text of the file in the sentence."""
    (tmp_path / SETTINGS_NAME).write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as caught:
        SettingsFile(tmp_path).read()
    assert CANARY not in f"{caught.value!r}{caught.value}{caught.value.__cause__}"


def test_the_names_are_those_of_the_environment(tmp_path: Path) -> None:
    SettingsFile(tmp_path).write({"vlm_model": "通义"})
    assert json.loads((tmp_path / SETTINGS_NAME).read_text(encoding="utf-8")) == {"VLM_MODEL": "通义"}
    assert SettingsFile(tmp_path / "nowhere").read() == {}
