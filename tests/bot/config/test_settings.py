"""The settings: defaults, lists, mistakes, and that the example file is the truth."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent.models.pricing import Price
from bot.chats.discord.manifest import DISCORD, DiscordSettings
from bot.chats.installed import installed, model_of
from bot.chats.telegram.manifest import TELEGRAM, TelegramSettings
from bot.config.endpoints import model_settings
from bot.config.settings import Settings, SettingsError
from bot.config.settings import load_settings as load

MODEL = model_of(installed())
EXAMPLE = Path(__file__).parents[3] / ".env.example"
SECRETS = (
    "DISCORD_BOT_TOKEN",
    "TELEGRAM_BOT_TOKEN",
    "VLM_API_KEY",
    "VLM_FALLBACK_API_KEY",
    "BASIC_API_KEY",
    "REASONING_API_KEY",
    "TRANSCRIBE_API_KEY",
)


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower() in MODEL.model_fields or name == "ANDROID_ADB_SERVER_PORT":
            monkeypatch.delenv(name)


def test_no_pattern_of_a_setting_takes_megabytes() -> None:
    """Seen failing with patterns that cost every service 14 MB: pydantic's engine takes the letters of all languages
    for each repetition of a counted `\\w`.
    """
    patterns = re.findall(r'"pattern": "([^"]*)"', json.dumps(MODEL.model_json_schema()))
    assert patterns
    assert [one for one in patterns if re.search(r"\\w[^{]*\{\d", one)] == []


def load_settings(env_file: Path | None) -> Settings:
    return load(env_file, MODEL)


def from_text(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "settings.env"
    file.write_text(text, encoding="utf-8")
    return load_settings(file)


def test_nothing_set_is_a_service_that_lets_nobody_in() -> None:
    settings = load_settings(None)
    assert not DISCORD.lists.read(settings).any_set
    assert settings.adb_servers == (("127.0.0.1", 5037),)
    assert DISCORD.refusal(settings) == TELEGRAM.refusal(settings) == ""


def test_the_example_lists_exactly_the_settings_with_their_defaults() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    names = [line.partition("=")[0] for line in lines if line and not line.startswith("#")]
    assert sorted(names) == sorted(name.upper() for name in MODEL.model_fields)
    assert load_settings(EXAMPLE).model_dump() == load_settings(None).model_dump()
    for before, line in itertools.pairwise(lines):
        if line and not line.startswith("#"):
            assert before.startswith("# "), f"{line} has no comment"


def test_lists_are_separated_by_commas_and_telegram_ids_may_be_negative(tmp_path: Path) -> None:
    settings = from_text(
        tmp_path, "DISCORD_ALLOWED_GUILD_IDS= 1, 22 ,,3 \nTELEGRAM_ALLOWED_CHAT_IDS=-1001,5\nANDROID_SERIALS=a:1,b"
    )
    assert isinstance(settings, DiscordSettings)
    assert settings.discord_allowed_guild_ids == ("1", "22", "3")
    assert isinstance(settings, TelegramSettings)
    assert settings.telegram_allowed_chat_ids == ("-1001", "5")
    assert settings.android_serials == ("a:1", "b")


def test_blanks_count_as_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLM_MODEL", " \t")
    monkeypatch.setenv("MAX_STEPS", " ")
    settings = from_text(tmp_path, "DISCORD_ALLOWED_USER_IDS=  \nLOG_LEVEL=\n")
    assert settings.model_dump() == load_settings(None).model_dump()


def test_byte_order_mark_and_quotes_are_tolerated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VLM_MODEL", '"some-model"')
    settings = from_text(tmp_path, "\ufeffDISCORD_BOT_TOKEN='abc'\nLOG_LEVEL=\"debug\"\n")
    assert isinstance(settings, DiscordSettings)
    assert settings.discord_bot_token.get_secret_value() == "abc"
    assert settings.vlm_model == "some-model"
    assert settings.log_level == "DEBUG"


def test_the_environment_wins_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_STEPS", "7")
    assert from_text(tmp_path, "MAX_STEPS=9").max_steps == 7


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DISCORD_ALLOWED_GUILD_IDS", "1;2"),
        ("DISCORD_ALLOWED_GUILD_IDS", "my-server"),
        ("DISCORD_ALLOWED_USER_IDS", "-4"),
        ("DISCORD_ALLOWED_USER_IDS", "١٢"),
        ("DISCORD_CLIENT_ID", "app"),
        ("DISCORD_REGISTER_COMMANDS", "perhaps"),
        ("TELEGRAM_ALLOWED_CHAT_IDS", "@group"),
        ("TELEGRAM_ADMIN_USER_IDS", "1 2"),
        ("VLM_BASE_URL", "localhost:8000"),
        ("VLM_API", "telepathy"),
        ("VLM_IMAGE_WINDOW", "0"),
        ("VLM_TIMEOUT", "soon"),
        ("PRICES", "cheap"),
        ("PRICES", '["dear"]'),
        ("PRICES", '{"dear": {"input": -1, "output": 2}}'),
        ("PRICES", '{"dear": {"input": 1}}'),
        ("PRICES", '{"dear": {"input": 1, "output": NaN}}'),
        ("ADB_SERVERS", "localhost"),
        ("ADB_SERVERS", "localhost:99999"),
        ("ADB_SERVERS", ":5037"),
        ("VIRTUAL_PHONES", "many"),
        ("VIRTUAL_PHONES", "-1"),
        ("CONSOLE_PORT", "70000"),
        ("MAX_STEPS", "0"),
        ("MAX_MINUTES", "-3"),
        ("MAX_TOKENS", "plenty"),
        ("MAX_COST", "$5"),
        ("DEEP_THINKING", "deeply"),
        ("STREAM_STEPS", "some"),
        ("LOG_LEVEL", "LOUD"),
    ],
)
def test_a_setting_that_does_not_parse_is_named_and_not_echoed(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        from_text(tmp_path, f"{name}={value}")
    assert str(caught.value).startswith(f"{name}: expected ")
    assert "one line" not in str(caught.value), "every setting says what it expects"
    assert value not in str(caught.value).removeprefix(name)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="LOG_LEVEL") as caught:
        from_text(tmp_path, "LOG_LEVEL=LOUD\nMAX_STEPS=none")
    assert "MAX_STEPS" in str(caught.value)


def test_secrets_are_not_shown_by_repr_or_dump(tmp_path: Path) -> None:
    settings = from_text(tmp_path, "\n".join(f"{name}=very-secret" for name in SECRETS))
    assert "very-secret" not in repr(settings) + str(settings) + settings.model_dump_json()


def test_a_token_without_any_list_is_refused_with_a_reason(tmp_path: Path) -> None:
    settings = from_text(tmp_path, "DISCORD_BOT_TOKEN=x\nTELEGRAM_BOT_TOKEN=y\nDISCORD_ADMIN_USER_IDS=1")
    assert "DISCORD_ALLOWED_GUILD_IDS" in DISCORD.refusal(settings)
    assert "TELEGRAM_ALLOWED_CHAT_IDS" in TELEGRAM.refusal(settings)
    listed = from_text(
        tmp_path, "DISCORD_BOT_TOKEN=x\nDISCORD_ALLOWED_USER_IDS=1\nTELEGRAM_BOT_TOKEN=y\nTELEGRAM_ALLOWED_USER_IDS=1"
    )
    assert DISCORD.refusal(listed) == TELEGRAM.refusal(listed) == ""


def test_prices_are_an_object_of_models_and_reach_every_role(tmp_path: Path) -> None:
    text = 'VLM_TIMEOUT=30\nPRICES={"a": {"input": 2, "output": 8, "cached": 0.5}, "b": {"input": 1, "output": 4}}'
    settings = from_text(tmp_path, text)
    assert settings.prices == {"a": Price(input=2, output=8, cached=0.5), "b": Price(input=1, output=4)}
    roles = model_settings(settings)
    for endpoint in (roles.vision, roles.basic, roles.reasoning):
        assert endpoint is not None
        assert endpoint.prices == settings.prices
        assert endpoint.timeout == 30


@pytest.mark.parametrize("name", ["PRICES", "TIERS"])
@pytest.mark.parametrize("value", ["{", "[" * 9_000])
def test_an_object_that_cannot_be_read_is_told(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        from_text(tmp_path, f"{name}={value}")


def test_adb_servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert from_text(tmp_path, "ADB_SERVERS=shelf:5038,[::1]:5037").adb_servers == (("shelf", 5038), ("::1", 5037))
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "5555")
    assert load_settings(None).adb_servers == (("127.0.0.1", 5555),)
    monkeypatch.setenv("ANDROID_ADB_SERVER_PORT", "usb")
    with pytest.raises(SettingsError, match="ANDROID_ADB_SERVER_PORT"):
        load_settings(None)


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    file = tmp_path / "settings.env"
    file.write_bytes(b"LOG_LEVEL=\xff\xfe")
    with pytest.raises(SettingsError, match="UTF-8"):
        load_settings(file)


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        load_settings(None).max_steps = 3


@pytest.mark.slow
def test_a_bad_start_shows_no_secret_in_its_traceback(tmp_path: Path) -> None:
    program = (
        "from pathlib import Path; from bot.chats.installed import installed, model_of; "
        "from bot.config.settings import load_settings; load_settings(Path('settings.env'), model_of(installed()))"
    )
    (tmp_path / "settings.env").write_text("DISCORD_BOT_TOKEN=very-secret\nDISCORD_ALLOWED_USER_IDS=very-secret\n")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(EXAMPLE.parent)}
    finished = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert finished.returncode == 1
    assert "DISCORD_ALLOWED_USER_IDS: expected" in finished.stderr
    assert "very-secret" not in finished.stderr + finished.stdout


def test_a_credential_wins_over_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "VLM_API_KEY").write_text("from a file\n", encoding="utf-8")
    (tmp_path / "MAX_STEPS").write_text("7", encoding="utf-8")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("VLM_API_KEY", "from the environment")
    monkeypatch.setenv("BASIC_API_KEY", "another")
    settings = load_settings(None)
    assert settings.vlm_api_key.get_secret_value() == "from a file"
    assert settings.basic_api_key.get_secret_value() == "another"
    assert settings.max_steps == 60, "only secrets are read from there"


def test_a_credential_that_is_no_text_is_named_without_its_value(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "VLM_API_KEY").write_bytes(b"secret\xff")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    with pytest.raises(SettingsError, match="CREDENTIALS_DIRECTORY") as caught:
        load_settings(None)
    assert "secret" not in str(caught.value)


def test_names_of_phones_and_apps(tmp_path: Path) -> None:
    settings = from_text(tmp_path, "PHONE_NAMES=R58=The desk, 10.0.0.5:5555=Shelf\nAPP_ALIASES=mail=com.fsck.k9")
    assert settings.phone_names == {"R58": "The desk", "10.0.0.5:5555": "Shelf"}
    assert settings.app_aliases == {"mail": "com.fsck.k9"}


@pytest.mark.parametrize("wrong", ["R58", "R58=", "a=Desk,b=desk", "a=x,a=y", "a=-x"])
def test_names_of_phones_that_cannot_be(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(SettingsError, match="PHONE_NAMES: expected names of phones"):
        from_text(tmp_path, f"PHONE_NAMES={wrong}")


@pytest.mark.parametrize("locales", ["en_US:en", "zh_CN:zh", "de", "pt_BR.UTF-8"])
def test_the_language_of_a_desktop_is_no_setting(locales: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Seen failing: with Ubuntu's LANGUAGE=en_US:en the program did not start."""
    monkeypatch.setenv("LANGUAGE", locales)
    assert load_settings(None).language == "auto"
    assert from_text(tmp_path, "LANGUAGE=zh").language == "zh"


@pytest.mark.parametrize("value", ["klingon", "english please"])
def test_a_language_that_is_none_is_told(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LANGUAGE", value)
    with pytest.raises(SettingsError, match="LANGUAGE"):
        load_settings(None)


@pytest.mark.slow
def test_a_file_of_somebody_else_is_passed_over(tmp_path: Path) -> None:
    """A service whose program belongs to root. Seen failing before: it ended with a trace at each start."""
    file = tmp_path / ".env"
    file.write_text("VLM_MODEL=a-model")
    file.chmod(0)
    # Root may read everything, so the process becomes nobody once it has loaded all modules, those of load_settings
    # included: in a closed folder it could not load them afterwards.
    script = (
        "import os, sys; from pathlib import Path; from bot.config.settings import load_settings\n"
        "import encodings.ascii; load_settings(None)\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "print(repr(load_settings(Path(sys.argv[1])).vlm_model))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script, str(file)],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )
    assert ran.stdout == "''\n", ran.stderr
    assert "belongs to another user and is ignored" in ran.stderr
