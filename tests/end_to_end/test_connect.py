"""From a fresh service to a model and a chat that were connected in the page, in a real Chromium, and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, Response, expect

from tests.end_to_end.brain import FINISH, brain, call, tap
from tests.end_to_end.service import Place
from tests.end_to_end.test_page import LIMIT_MS, opened, type_command
from tests.fakes.model_server import ModelServer
from tests.fakes.telegram import TOKEN, Chat, FakeTelegram, Message

pytestmark = pytest.mark.page

KEY = "sk-canary-right-1f6e0d7c5b4a"
WRONG = "sk-canary-wrong-9a8b7c6d5e4f"


async def section(page: Page, name: str) -> None:
    await page.locator(".connect-list").get_by_role("link", name=name).click()


async def save(page: Page | Locator, button: str = "Save") -> None:
    await page.get_by_role("button", name=button, exact=True).click()


async def says(fake: FakeTelegram, chat: Chat, words: str) -> Message:
    """The bot's first message with these words."""
    await fake.wait_until(lambda: any(words in one.text for one in fake.from_bot(chat)), timeout=60)
    return next(one for one in fake.from_bot(chat) if words in one.text)


async def test_model_and_telegram_are_connected_used_and_taken_away(place: Place) -> None:
    # It is asked about a small picture by the test and once more before it is kept.
    acts = [FINISH, FINISH, call("open_app", name="Settings"), tap("Bluetooth"), FINISH]
    acts += [call("ask_user", question="Which tea do you like?"), FINISH]
    async with FakeTelegram() as fake, ModelServer(brain(*acts), key=KEY) as model:
        alice = fake.user("alice")
        place.settings |= {"TELEGRAM_BASE_URL": fake.base_url, "LOG_LEVEL": "DEBUG"}
        answers: list[Response] = []
        async with place.service() as service, opened(service.console) as page:
            page.on("response", lambda one: answers.append(one) if "/api/connect" in one.url else None)
            await page.get_by_role("link", name="Connect", exact=True).click()
            form = page.get_by_role("region", name="Model", exact=True)
            await form.get_by_label("Endpoint address").fill(model.base_url)
            await form.get_by_label("Model name").fill("a-model")
            await form.get_by_label("Key", exact=True).fill(WRONG)
            await save(form, "Test")
            await expect(form.locator(".connect-findings")).to_contain_text("rejected the API key")
            await form.get_by_label("Key", exact=True).fill(KEY)
            await save(form, "Test")
            await expect(form.locator(".connect-findings")).to_contain_text("accepts pictures")
            await save(form)
            await expect(form.locator(".connect-findings")).to_contain_text("It applies from now on")
            await expect(form.get_by_label("Key", exact=True)).to_have_value("")

            await page.get_by_role("link", name="Home", exact=True).click()
            await type_command(page, "do switch Bluetooth on")
            await expect(page.locator(".message", has_text="It is done.").last).to_contain_text("42", timeout=LIMIT_MS)
            assert place.phone.truth.toggles["bluetooth"]

            await page.get_by_role("link", name="Connect", exact=True).click()
            await section(page, "Telegram")
            await page.get_by_label("Bot token").fill(f"1234567:{WRONG}{'x' * 20}")
            await page.get_by_label("IDs of the people who may use it").fill(str(alice.id))
            await save(page, "Connect")
            await expect(page.locator(".connect-findings")).to_contain_text("Not connected, and nothing was changed")
            await page.get_by_label("Bot token").fill(TOKEN)
            await save(page, "Connect")
            await expect(page.locator(".connect-head .badge")).to_have_text("connected")
            chat = fake.private(alice)
            await fake.connected()
            await fake.say(alice, chat, "/do tea for two")
            asked = await says(fake, chat, "Which tea")
            # Another list makes another connection, while the task waits: it goes on in the same chat.
            await page.get_by_label("IDs of the people who may control everything").fill(str(alice.id))
            await save(page)
            await expect(page.locator(".connect-findings")).to_contain_text("It applies from now on")
            await fake.say(alice, chat, "the green one", reply_to=asked)
            await says(fake, chat, "It is done.")
            assert len([one for one in fake.from_bot(chat) if "It is done." in one.text]) == 1
            assert any("the green one" in request.text for request in model.requests)

            await save(page, "Disconnect")
            await expect(page.locator(".connect-head .badge")).to_have_text("not connected")
            assert not fake.polling.now
            came_back = await page.content() + "".join([await one.text() for one in answers])
        log = service.log
        async with place.service() as service, opened(service.console) as page:
            await page.goto(service.console.partition("/?")[0] + "/#connect-model")
            # Nothing was asked of it since the start.
            await expect(page.locator(".connect-head .badge")).to_have_text("not tested")
            log += service.log
        code, _, err = await place.opengui("backup", "one.zip")
        assert code == 0, err
        assert (place.data / "settings.json").stat().st_mode & 0o777 == 0o600
        files = [path for path in place.data.rglob("*") if path.name != "settings.json" and path.is_file()]
        kept = {path: path.read_bytes() for path in files}
        kept[Path("one.zip")] = (place.directory / "one.zip").read_bytes()
        for secret in (KEY, WRONG, TOKEN):
            assert secret not in log
            assert secret not in came_back
            assert [path for path, data in kept.items() if secret.encode() in data] == []
