"""The page's words."""

from __future__ import annotations

import aiohttp
import pytest
from aiohttp.test_utils import make_mocked_request

from bot.chats.web.words import Words


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
    request = make_mocked_request("GET", "/page/words.json", headers={"Accept-Language": "en"})
    assert (Words("zh").language(request), Words("auto").language(request)) == ("zh", "en")
