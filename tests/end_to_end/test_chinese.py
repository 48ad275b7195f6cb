"""A Chinese person meets the running service in Telegram, on the console and at the terminal, and reads no English."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from devices.virtual_phone.phone import VirtualPhone
from tests.bot.texts.reading import english_in
from tests.end_to_end.service import Place, Service
from tests.fakes.telegram import TOKEN, Chat, FakeTelegram, Message, User
from tests.fixtures.adb import AdbServer

LIMIT = 60.0
TYPED = ("/help", "/devices", "/status", "/tasks", "/usage", "/why", "/whoami", "/set", "/people", "/audit", "/moon")
V1 = "/api/v1"
SHOWN = ("/api/check", "/api/state", f"{V1}/phones", f"{V1}/tasks", f"{V1}/tasks/1/steps", f"{V1}/statistics?by=day")
TERMINAL = (["devices"], ["tasks"], ["doctor"], ["do", "打开设置", "--device", "没有"])
NAMES = (
    "text-embedding",
    "Virtual Phone",
    "virtual-phone",  # an extra, by the name that pip knows
)


@pytest.fixture
async def place(adb_server: AdbServer, tmp_path: Path) -> AsyncIterator[Place]:
    """A machine with a Chinese phone."""
    async with VirtualPhone(locale="zh-CN") as phone:
        await adb_server.connect(phone.address)
        try:
            yield Place(phone, adb_server, tmp_path)
        finally:
            await adb_server.disconnect(phone.address)


async def test_no_english_anywhere(place: Place) -> None:
    async with FakeTelegram() as fake:
        li = fake.user("li")
        li.name, li.language = "李", "zh-hans"
        chat = fake.private(li)
        settings = {
            "TELEGRAM_BOT_TOKEN": TOKEN,
            "TELEGRAM_BASE_URL": fake.base_url,
            "TELEGRAM_ALLOWED_USER_IDS": str(li.id),
            "TELEGRAM_ADMIN_USER_IDS": str(li.id),
        }
        async with place.service(**settings) as service:
            await fake.connected()
            await fake.say(li, chat, "/do 打开设置")
            await fake.wait_until(lambda: again_in(fake.from_bot(chat)), timeout=LIMIT)
            for line in TYPED:
                await answered(fake, li, chat, line)
            told = [f"{message.text}\n{' / '.join(message.buttons.values())}" for message in fake.from_bot(chat)]
            shown = [words async for words in shown_by(service)]
            printed = ["".join((await place.opengui(*line, LC_ALL="zh_CN.UTF-8", **settings))[1:]) for line in TERMINAL]
    assert [run for words in (*told, *shown, *printed) for run in english_in(words, *NAMES)] == []


async def test_the_demonstration_at_the_terminal(place: Place) -> None:
    """Without a service, a token or a key; the message goes out once it is allowed."""
    line = ("do", "打开微信发消息给文件传输助手：测试成功", "--answer", "allow")
    code, out, err = await place.opengui(*line, LC_ALL="zh_CN.UTF-8")
    assert code == 0, err
    assert "信息已发送给文件传输助手" in out + err
    assert [(each.to, each.text) for each in place.phone.truth.chats] == [("文件传输助手", "测试成功")]


async def answered(fake: FakeTelegram, person: User, chat: Chat, line: str) -> None:
    """Type a line, and wait for what the bot says to it."""
    known = len(fake.from_bot(chat))
    await fake.say(person, chat, line)
    await fake.wait_until(lambda: len(fake.from_bot(chat)) > known, timeout=LIMIT)


def again_in(messages: Sequence[Message]) -> bool:
    """Whether the task has ended."""
    return any("再来一次" in label for message in messages for label in message.buttons.values())


async def shown_by(service: Service) -> AsyncIterator[str]:
    """The texts of what the console is told, for a browser that asks for Chinese."""
    origin, _, token = service.console.partition("/?token=")
    headers = {"Authorization": f"Bearer {token}", "Accept-Language": "zh-CN,zh;q=0.9"}
    async with aiohttp.ClientSession(headers=headers) as session:
        for path in SHOWN:
            async with session.get(f"{origin}{path}") as response:
                yield "\n".join(texts_in(await response.json()))


def texts_in(value: Any) -> list[str]:
    """What people read of it."""
    if isinstance(value, dict):
        return [text for one in value.values() for text in texts_in(one)]
    if isinstance(value, list):
        return [text for one in value for text in texts_in(one)]
    return [value] if isinstance(value, str) else []
