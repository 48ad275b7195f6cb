"""The page's words."""

from __future__ import annotations

from dataclasses import replace

import aiohttp
import pytest

from bot.web.page_files import PageTexts
from devices.adb.links import health_of
from devices.phone import Health
from tests.bot.web.standins import PHONE
from tests.bot.web.world import World
from tests.bot.web.world import asked as request_of


@pytest.mark.parametrize(
    ("asked", "language", "standing"),
    [("zh-CN,zh;q=0.9", "zh", "进行中"), ("en-GB", "en", "working"), ("fr", "en", "working"), ("", "en", "working")],
)
async def test_the_words_of_the_page(client: aiohttp.ClientSession, asked: str, language: str, standing: str) -> None:
    async with client.get("/page/words.json", headers={"Accept-Language": asked}) as response:
        found = await response.json()
    assert (found["language"], found["words"]["page.standing.working"]) == (language, standing)
    assert not any(key.startswith("settings.") for key in found["words"])


def test_a_language_that_is_set_goes_before_the_browsers() -> None:
    request = request_of("/page/words.json", {"Accept-Language": "en"})
    assert (PageTexts("zh").language(request), PageTexts("auto").language(request)) == ("zh", "en")


async def test_a_phones_state_is_told_in_the_browsers_language(world: World, client: aiohttp.ClientSession) -> None:
    health, reason, fix = health_of("unauthorized", "R58M12ABCDE")
    world.tables.phones = [replace(PHONE, health=health, reason=reason, fix=fix)]
    for language, told in (("zh-CN,zh;q=0.9", "手机还不信任这台电脑。"), ("en", str(reason))):
        for path in ("/api/state", "/api/v1/phones"):
            async with client.get(path, headers={"Accept-Language": language}) as response:
                found = await response.json()
                assert [row["reason"] for row in found.get("devices") or found["data"]["items"]] == [told]


@pytest.mark.parametrize(
    ("path", "headers", "status", "words"),
    [
        ("/api/state", {"Authorization": "Bearer wrong"}, 401, "请打开服务启动时显示的地址：令牌就在其中。"),
        ("/api/state", {"Origin": "http://evil.example"}, 403, "其他网页不能使用控制台。"),
        ("/api/devices/nothing/glance", {}, 404, "没有这部手机。"),
    ],
)
async def test_refusals_are_in_the_language_of_the_browser(
    client: aiohttp.ClientSession, path: str, headers: dict[str, str], status: int, words: str
) -> None:
    """Also those of the gate, which looks at a request before anything else does."""
    async with client.get(path, headers={"Accept-Language": "zh-CN"} | headers) as response:
        assert (response.status, (await response.json())["message"]) == (status, words)


async def test_every_state_of_a_phone_has_a_word_in_the_page(client: aiohttp.ClientSession) -> None:
    """The page asks for a word by the state as programs are told it."""
    async with client.get("/page/words.json") as response:
        words = (await response.json())["words"]
    assert {f"page.health.{health.value.replace(' ', '_')}" for health in Health} <= set(words)
