"""The way of a newcomer through the questions, with endpoints that really answer."""

from __future__ import annotations

import stat
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import discord
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.chats.discord.manifest import INVITE, PERMISSIONS
from bot.chats.feishu.manifest import FeishuSettings
from bot.chats.installed import installed, model_of
from bot.chats.telegram.manifest import TelegramSettings
from bot.cli.setup import talk, with_values
from bot.config.installation import places
from bot.config.settings import Settings, load_settings
from devices.virtual_phone.phone import VirtualPhone
from tests.end_to_end.brain import brain
from tests.fakes.feishu import APP, SECRET, FakeFeishu
from tests.fakes.model_server import Answer, ModelServer
from tests.fakes.telegram import TOKEN, FakeTelegram
from tests.fixtures.adb import AdbServer
from tests.fixtures.checkout import as_checkout

MODEL, DISCORD, SLACK, TELEGRAM, FEISHU, PHONES = ("",), ("",), ("",), ("",), ("",), ("",)
"""Each part passed over with Enter."""


@dataclass
class Typist:
    """Types the next line whenever asked; nothing more to type is the end of the input."""

    lines: list[str]
    told: list[str] = field(default_factory=list)
    secrets: list[str] = field(default_factory=list)

    def ask(self, prompt: str, *, secret: bool = False) -> str:
        self.told.append(prompt)
        if not self.lines:
            raise EOFError
        line = self.lines.pop(0)
        if secret and line:
            self.secrets.append(line)
        return line

    def tell(self, text: str) -> None:
        self.told.append(text)

    @property
    def screen(self) -> str:
        return "\n".join(self.told)


@pytest.fixture
async def settings(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Settings]:
    async with VirtualPhone() as phone:
        await adb_server.connect(phone.address)
        yield model_of(installed()).model_validate(
            {
                "adb_servers": ((adb_server.host, adb_server.port),),
                "android_serials": (phone.address,),
                "data_dir": tmp_path / "data",
            }
        )
        await adb_server.disconnect(phone.address)


async def test_a_model_is_picked_from_the_endpoints_list(settings: Settings, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    async with ModelServer(lambda _: Answer(text="Red"), listed={"data": [{"id": "two"}, {"id": "one"}]}) as model:
        typist = Typist([model.base_url, "a-key", "2", *DISCORD, *SLACK, *TELEGRAM, *FEISHU, *PHONES])
        assert await talk(typist, settings, env, tmp_path / "none") == 0
    assert "  1  one\n  2  two" in typist.screen
    assert load_settings(env).vlm_model == "two"


async def test_answers_are_tried_and_written_for_this_user_alone(settings: Settings, tmp_path: Path) -> None:
    env, example = tmp_path / ".env", tmp_path / ".env.example"
    example.write_text("# Model\nVLM_BASE_URL=\nVLM_MODEL=\n# Service\nMAX_STEPS=60\n")
    async with FakeTelegram() as fake, ModelServer(lambda _: Answer(text="Red")) as model:
        settings = settings.model_copy(update={"telegram_base_url": fake.base_url})
        typist = Typist(
            [model.base_url, "a-key", "a-model", *DISCORD, *SLACK, TOKEN, "Alice", "1001", "", *FEISHU, *PHONES]
        )
        assert await talk(typist, settings, env, example) == 0
        assert "✓ a-model accepts pictures." in typist.screen
        assert f"the bot is @{fake.bot.username}" in typist.screen
    assert "numbers separated by commas" in typist.screen, "a name is no id"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    written = load_settings(env, TelegramSettings)
    assert isinstance(written, TelegramSettings)
    assert (written.vlm_base_url, written.vlm_model, written.max_steps) == (model.base_url, "a-model", 60)
    assert written.telegram_bot_token.get_secret_value() == TOKEN
    assert written.telegram_allowed_user_ids == ("1001",)
    assert "# Service" in env.read_text()
    assert typist.screen.endswith(f"Start with: opengui --env-file {env} run")
    assert [secret for secret in typist.secrets if secret in typist.screen] == []


async def test_a_refused_token_is_asked_again(settings: Settings, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    async with FakeTelegram() as fake:
        settings = settings.model_copy(update={"telegram_base_url": fake.base_url})
        lines = [*MODEL, *DISCORD, *SLACK, "1:wrong", "1001", "", "n", TOKEN, "1001", "", *FEISHU, *PHONES]
        typist = Typist(lines)
        assert await talk(typist, settings, env, tmp_path / "none") == 0
    assert "Telegram does not accept the token." in typist.screen
    written = load_settings(env, TelegramSettings)
    assert isinstance(written, TelegramSettings)
    assert written.telegram_bot_token.get_secret_value() == TOKEN


async def test_a_platform_with_an_id_beside_its_secret_is_asked_for_both(settings: Settings, tmp_path: Path) -> None:
    """Feishu: the id alone is no token, and both are tried together."""
    env = tmp_path / ".env"
    async with FakeFeishu() as fake:
        answers = [APP, SECRET, fake.base_url, "Alice", "ou_1", ""]
        typist = Typist([*MODEL, *DISCORD, *SLACK, *TELEGRAM, *answers, *PHONES])
        assert await talk(typist, settings, env, tmp_path / "none") == 0
    assert "the bot is OpenGUI" in typist.screen
    assert "names do not work" in typist.screen
    written = load_settings(env, FeishuSettings)
    assert isinstance(written, FeishuSettings)
    assert written.feishu_app_secret.get_secret_value() == SECRET
    assert (written.feishu_app_id, written.feishu_allowed_user_ids) == (APP, ("ou_1",))
    assert typist.secrets == [SECRET]
    assert SECRET not in typist.screen


async def test_nothing_is_written_when_it_is_broken_off(settings: Settings, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    async with ModelServer(brain()) as model:
        typist = Typist([model.base_url])
        assert await talk(typist, settings, env, tmp_path / "none") == 64
    assert "Nothing was written." in typist.screen
    assert not env.exists()


async def test_enter_all_the_way_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    env = tmp_path / ".env"
    assert (
        await talk(Typist([*MODEL, *DISCORD, *SLACK, *TELEGRAM, *FEISHU, *PHONES]), settings, env, tmp_path / "none")
        == 0
    )
    assert not env.exists()


def test_the_invitation_asks_for_what_the_bot_uses() -> None:
    asked = parse_qs(urlsplit(INVITE.format(client="1", permissions=PERMISSIONS)).query)
    wanted = discord.Permissions(
        view_channel=True,
        send_messages=True,
        send_messages_in_threads=True,
        create_public_threads=True,
        attach_files=True,
        embed_links=True,
        read_message_history=True,
        manage_messages=True,
    )
    assert int(asked["permissions"][0]) == wanted.value


NAMES = st.sampled_from(["VLM_MODEL", "MAX_STEPS", "LOG_LEVEL", "DATA_DIR"])
VALUES = st.text(st.characters(codec="ascii", categories=("L", "N")), max_size=20)


@given(
    st.lists(st.one_of(st.just("# a comment"), st.just(""), NAMES.map(lambda name: f"{name}=old"))),
    st.dictionaries(NAMES, VALUES),
)
def test_other_lines_stay_as_they_are(lines: list[str], values: dict[str, str]) -> None:
    changed = with_values("".join(f"{line}\n" for line in lines), values).splitlines()
    untouched = [line for line in lines if line.split("=")[0] not in values]
    assert [line for line in changed if line in untouched] == untouched
    for name, value in values.items():
        assert f"{name}={value}" in changed


async def test_the_command_that_starts_it_fits_where_it_was_set_up(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Seen failing: an installed program was to be started with make, which it does not have."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "checkout").mkdir()
    as_checkout(tmp_path / "checkout")
    async with ModelServer(lambda _: Answer(text="Red")) as model:
        for folder, command in (("checkout", "make run"), ("elsewhere", "opengui run")):
            monkeypatch.chdir(tmp_path / folder)
            typist = Typist([model.base_url, "a-key", "a-model", *DISCORD, *SLACK, *TELEGRAM, *FEISHU, *PHONES])
            assert await talk(typist, settings, places().settings, tmp_path / "none") == 0
            assert typist.told[-1].endswith(f"Start with: {command}")
