"""What doctor finds out about the way in which Telegram's updates come, at the fake Bot API."""

from __future__ import annotations

from typing import Any

import pytest

from bot.chats.installed import installed, model_of
from bot.checks.chats import findings
from tests.fakes.telegram import TOKEN, FakeTelegram

pytestmark = pytest.mark.slow

OURS = "https://bot.example.org/telegram"


@pytest.mark.parametrize(
    ("there", "wanted", "error", "verdict", "words"),
    [
        ("", "", "", "", ""),
        (OURS, "", "", "note", "a webhook is set"),
        ("", OURS, "", "note", "not set, or it points somewhere else"),
        (OURS, OURS, "", "good", "is set and works"),
        (OURS, OURS, "Wrong response: 502", "note", "Wrong response: 502"),
    ],
)
async def test_the_webhook_is_looked_at(there: str, wanted: str, error: str, verdict: str, words: str) -> None:
    async with FakeTelegram() as fake:
        fake.webhooks.url, fake.webhooks.error = there, error
        made: dict[str, Any] = {"telegram_bot_token": TOKEN, "telegram_allowed_user_ids": ("5",)}
        made |= {"telegram_base_url": fake.base_url, "telegram_webhook_url": wanted}
        found = await findings(model_of(installed()).model_validate(made), installed())
    telegram = [one for one in found if one.text.startswith("Telegram:")]
    assert [(one.verdict, words in one.text) for one in telegram] == ([(verdict, True)] if words else [])
    assert TOKEN not in repr(found)
