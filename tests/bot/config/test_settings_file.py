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
from bot.platform import filed_by

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
        "telegram_allowed_user_ids": "1, 2",
        "data_dir": "/elsewhere",
        "no_such_setting": "x",
        "policy_file": "/elsewhere",
        "telegram_base_url": "http://127.0.0.1:9",
        "telegram_admin_user_ids": "@me",
    }
    settings, left_out = with_file(loaded, filed, filed_by(installed()))
    assert settings.vlm_api_key.get_secret_value() == "of-a-credential"
    assert settings.vlm_model == "of-the-environment"
    assert getattr(settings, "telegram_allowed_user_ids") == ("1", "2")  # noqa: B009 - a field of the platform's part
    assert (settings.data_dir, settings.policy_file) == (loaded.data_dir, None)
    unknown = {"data_dir", "no_such_setting", "policy_file", "telegram_base_url"}
    assert set(left_out) == {*unknown, "telegram_admin_user_ids"}


HERE, ELSEWHERE = "http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"


@pytest.mark.parametrize(
    ("environment", "filed", "address", "key"),
    [
        ({}, {"vlm_base_url": f"{HERE}/chat/completions", "vlm_api_key": "k"}, HERE, "k"),
        ({}, {"vlm_api_key": "k"}, "", "k"),
        ({"vlm_base_url": HERE}, {"vlm_base_url": HERE, "vlm_api_key": "k"}, HERE, "k"),
        ({"vlm_base_url": ELSEWHERE}, {"vlm_base_url": HERE, "vlm_api_key": "k"}, ELSEWHERE, ""),
        ({"vlm_base_url": ELSEWHERE}, {"vlm_api_key": "k"}, ELSEWHERE, ""),
        ({}, {"vlm_base_url": "nowhere", "vlm_api_key": "k"}, "", ""),
        ({"vlm_api_key": "e"}, {"vlm_base_url": HERE, "vlm_api_key": "k"}, "", "e"),
        ({"basic_api_key": "e"}, {"vlm_base_url": HERE, "vlm_api_key": "k"}, "", ""),
        ({"basic_api_key": "e", "basic_base_url": HERE}, {"vlm_base_url": HERE, "vlm_api_key": "k"}, HERE, "k"),
    ],
)
def test_a_key_is_used_with_the_address_that_it_was_written_with(
    environment: dict[str, str], filed: dict[str, str], address: str, key: str
) -> None:
    """Seen failing in the fourth to eighth case without the looks at the other half: each sent a key elsewhere."""
    settings, _ = with_file(MODEL.model_validate(environment), filed)
    assert (settings.vlm_base_url, settings.vlm_api_key.get_secret_value()) == (address, key)


@pytest.mark.parametrize(
    ("name", "value"), [("vlm_dialect", "klingon"), ("vlm_timeout", "soon"), ("pairing", "perhaps")]
)
def test_a_value_that_cannot_be_used_is_left_out_and_the_others_are_used(name: str, value: str) -> None:
    """Seen failing for the dialect, which was used, so that the service did not start."""
    settings, left_out = with_file(MODEL.model_validate({}), {name: value, "vlm_model": "a-model"})
    assert (settings.vlm_model, getattr(settings, name)) == ("a-model", MODEL.model_fields[name].default)
    assert name.upper() in str(left_out.pop(name))
    assert left_out == {}


@pytest.mark.slow
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
