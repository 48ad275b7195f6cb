"""What can be set of Feishu, what the doctor says of it, and what is loaded of it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError

from bot.chats.feishu.manifest import CALLBACK, EVENT, FEISHU, SCOPES, FeishuSettings
from bot.domain.finding import Finding
from bot.texts import LANGUAGES, speaking
from tests.bot.chats.feishu.conftest import Home
from tests.fakes.feishu import APP, SECRET, FakeFeishu


def settings(home: Home, tmp_path: Path, app: str = APP, secret: str = SECRET) -> FeishuSettings:
    return FeishuSettings(
        data_dir=tmp_path, feishu_app_id=app, feishu_app_secret=SecretStr(secret), feishu_domain=home.fake.base_url
    )


async def found(home: Home, tmp_path: Path, **given: str) -> list[Finding]:
    return await FEISHU.check(settings(home, tmp_path, **given))


async def test_all_is_well(home: Home, tmp_path: Path) -> None:
    assert [one.verdict for one in await found(home, tmp_path)] == ["good"]


def no_bot(fake: FakeFeishu) -> None:
    fake.has_bot = False


def no_resource(fake: FakeFeishu) -> None:
    fake.scopes.discard("im:resource")


def no_events(fake: FakeFeishu) -> None:
    fake.events.clear()


def no_buttons(fake: FakeFeishu) -> None:
    fake.callbacks.clear()


def unseen(fake: FakeFeishu) -> None:
    fake.scopes.discard("application:application:self_manage")


def too_many(fake: FakeFeishu) -> None:
    fake.flood(9, path="bot/v3/info")


def away(fake: FakeFeishu) -> None:
    fake.hang_up("bot/v3/info", times=9)


def too_many_tokens(fake: FakeFeishu) -> None:
    fake.flood(7, path="tenant_access_token")


def broken(fake: FakeFeishu) -> None:
    fake.refuse("bot/v3/info", 55, status=500, times=9)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("wrong", "named", "verdict"),
    [
        (no_bot, "", "bad"),
        (no_resource, "im:resource", "bad"),
        (no_events, EVENT, "bad"),
        (no_buttons, CALLBACK, "bad"),
        (unseen, "application:application:self_manage", "note"),
        (too_many, "429", "bad"),
        (too_many_tokens, "429", "bad"),
        (away, "", "bad"),
        (broken, "55", "bad"),
    ],
)
async def test_what_is_wrong_is_named(
    home: Home, tmp_path: Path, language: str, wrong: Callable[[FakeFeishu], None], named: str, verdict: str
) -> None:
    wrong(home.fake)
    with speaking(language):
        last = (await found(home, tmp_path))[-1]
    assert last.verdict == verdict
    assert named in last.text
    assert last.fix
    assert bool(re.search("[\u4e00-\u9fff]", last.text)) == (language == "zh")


@pytest.mark.parametrize("given", [{"app": ""}, {"app": "cli_other"}, {"secret": "wrong-secret"}])
async def test_a_wrong_app_is_named_and_no_secret_shown(home: Home, tmp_path: Path, given: dict[str, str]) -> None:
    (one,) = await found(home, tmp_path, **given)
    assert one.verdict == "bad"
    assert "FEISHU_APP_ID" in one.text
    assert "wrong-secret" not in repr(one)
    assert one.fix


@pytest.mark.parametrize(
    ("domain", "root"),
    [
        ("feishu.cn", "https://open.feishu.cn"),
        ("larksuite.com", "https://open.larksuite.com"),
        ("https://proxy.example.org/", "https://proxy.example.org"),
        ("http://127.0.0.1:81", "http://127.0.0.1:81"),
    ],
)
def test_where_it_is(tmp_path: Path, domain: str, root: str) -> None:
    assert FeishuSettings(data_dir=tmp_path, feishu_domain=domain).feishu_root == root


@pytest.mark.parametrize("domain", ["http://open.feishu.cn", "feishu.cn.evil.org", "https://x.org/path", "ftp://x.org"])
def test_the_secret_goes_nowhere_else(tmp_path: Path, domain: str) -> None:
    with pytest.raises(ValidationError):
        FeishuSettings(data_dir=tmp_path, feishu_domain=domain)


@pytest.mark.parametrize(
    "told", ["Bearer t-g1044ghWXYZ0123456789abcdefgh.ijk", "wss://x/ws?access_key=abc123&ticket=def-456"]
)
def test_its_secrets_have_a_form_that_no_log_shows(told: str) -> None:
    cleared = told
    for form in FEISHU.secrets:
        cleared = re.sub(form, "…", cleared)
    assert not re.search("g1044|abc123|def-456", cleared)


def test_people_are_named_by_their_open_ids() -> None:
    assert FEISHU.naming.person.fullmatch("ou_84aad35d084aa403a838cf73ee18467")
    assert FEISHU.naming.person.fullmatch("alice") is None
    assert FEISHU.naming.mention is not None
    assert FEISHU.naming.mention.fullmatch("<@ou_84aad35d>")


def test_the_documents_ask_for_what_is_needed() -> None:
    folder = Path(__file__).parents[4] / "docs"
    for file in (folder / "feishu.md", folder / "zh" / "feishu.md"):
        text = file.read_text(encoding="utf-8")
        for name in (*SCOPES, EVENT, CALLBACK):
            assert f"`{name}`" in text
        for name in SCOPES:
            assert f'"{name}"' in text


@pytest.mark.slow
def test_nothing_of_it_is_loaded_by_its_manifest() -> None:
    look = "import sys, bot.chats.installed as i; i.installed(); print(sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True).stdout
    for name in ("google.protobuf", "bot.chats.feishu.chat", "bot.chats.feishu.api", "aiohttp"):
        assert f"'{name}'" not in loaded
